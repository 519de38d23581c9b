// The shapes that the scripts of the pages share. Types are here, and not in comments of the scripts, wherever that
// saves bytes that every visitor would load.

/** The path of an operation without its query. */
type Bare<P extends string> = P extends `${infer Path}?${string}` ? Path : P;
type Answer<M extends string, P extends string> = AnswerOf<`${M} ${Bare<P>}`>;
type Sent<M extends string, P extends string> = BodyOf<`${M} ${Bare<P>}`>;

/** The method, unless this is no operation of the API: then nothing fits. */
type Known<M extends string, P extends string> = M & ([Answer<M, P>] extends [never] ? never : unknown);

type Call = <M extends string, P extends string>(
  method: Known<M, P>,
  path: P,
  options?: { body?: Sent<M, P>; token?: string; limit?: number; seen?: (headers: Headers) => unknown },
) => Promise<Answer<M, P>>;
type Ask = <M extends string, P extends string>(
  method: Known<M, P>,
  path: P,
  body?: Sent<M, P>,
  seen?: (headers: Headers) => unknown,
) => Promise<Answer<M, P>>;

/** Ids that the scripts make, beside those of the pages. */
interface PageElements {
  [line: `${string}-message`]: HTMLElement;
}
type At = <Id extends keyof PageElements>(id: Id) => PageElements[Id];
interface Document {
  getElementById<Id extends keyof PageElements>(id: Id): PageElements[Id];
}
interface ParentNode {
  // Everything that is looked for is HTML.
  querySelector<E extends HTMLElement = HTMLElement>(selectors: string): E | null;
  querySelectorAll<E extends HTMLElement = HTMLElement>(selectors: string): NodeListOf<E>;
}

/** What a failed call throws; see api.js. */
type Failure = import("../../gatehouse/api/pages/static/api.js").Failure;
type OnFailure = (failure: Failure) => unknown;

/** The tokens of a login; see tokens.js. */
interface Tokens {
  login: string;
  turn: number;
  remembered: boolean;
  access: string;
  refresh: string;
  life: number;
  until: number;
}

/** Values for the places of a sentence. */
type Given = Record<string, unknown>;

type Control = HTMLInputElement & HTMLSelectElement;
type Leaf = Node | string | number | false | null | undefined;
type Child = Leaf | Leaf[] | (Leaf | Leaf[] | (Leaf | Leaf[])[])[];
interface Attributes {
  [name: string]: any;
  /** The key of the words inside. */
  t?: string;
  click?: (event: MouseEvent) => unknown;
  change?: (event: Event & { target: Control }) => unknown;
  input?: (event: Event & { target: Control }) => unknown;
  submit?: (event: SubmitEvent) => unknown;
}
type Make = <K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes?: Attributes,
  ...children: Child[]
) => HTMLElementTagNameMap[K];

/** Whether the reader has a perm. */
type May = (perm: string) => boolean;
interface Context {
  may: May;
  username: string;
}
/** Called when something is done. */
type Then = () => unknown;

/** A choice of a form or a filter: its value and its label. */
type Option = [string | number, string];

/** One page of a long list; see admin-table.js. */
interface Column {
  words?: string;
  sort?: string;
  class?: string;
}
interface Table<Row> {
  columns: (Column & { cell: (row: Row) => Child })[];
  load: (page: { page: number; size: number; sort: string }) => Promise<{ rows: Row[]; total: number }>;
  key: (row: Row) => string;
  empty: { title: string; text: string };
  onPick?: ((picked: string[]) => unknown) | null;
}
interface Paged {
  element: HTMLElement;
  reload: (how?: { keepPage?: boolean }) => Promise<void>;
}

/** What the overview draws of a day. */
interface Day {
  date: string;
  logins: number;
  people: number;
  failed: number;
}

/** Of a user what a dialog about one needs. */
type Person = { id: string; username: string };

/** What the API page reads of the OpenAPI document. */
interface Schema {
  [keyword: string]: any;
  type?: string;
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
  required?: string[];
}
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
  examples?: Record<string, unknown>;
}
/** An operation as the API page shows it. */
interface Described {
  id: string;
  name: string;
  group: string;
  method: string;
  path: string;
  parameters: Parameter[];
  body?: { schema: Schema; examples?: Record<string, any> };
  variants: string[];
  secured: boolean;
  operation: any;
}
/** A row of a list of fields; see docs-schema.js. */
interface Field {
  path: string;
  need: string;
  type: string;
  text: string;
}

/** A labelled control; see admin-forms.js. */
interface ControlOptions {
  [attribute: string]: any;
  kind?: string | Option[];
  value?: string | number;
  hint?: string;
}
interface Labelled {
  input: HTMLInputElement;
  box: HTMLElement;
}
interface Choice {
  value: string;
  label: string;
  /** Shown, and not to be changed. */
  fixed?: boolean;
}
interface FormDialog {
  title: string;
  given?: Given;
  content: Child;
  act?: string;
  submit: () => Promise<unknown>;
  wide?: boolean;
}
/** What is asked before something is done; see dialog.js. */
interface Question {
  title: string;
  text: string;
  act: string;
  given?: Given;
  danger?: boolean;
}
/** How something that was done is taken back; see toast.js. */
interface Undo {
  words: string;
  act: Then;
}
/** A part of the administration; see admin.js. */
interface Part {
  id: string;
  perms: string[];
  show: (context: Context) => Leaf[] | Promise<Leaf[]>;
  icon: string;
}
/** A field in the configuration of a directory or provider; see admin-source-form.js. */
interface SourceField {
  [attribute: string]: any;
  name: string;
  /** A list of values to choose from, or "list", "number", "flag"; else a text. */
  kind?: string | string[];
  /** Kinds of sources that have it. */
  only?: string[];
}
interface SourceControl extends Labelled {
  name: string;
  only?: string[];
  read: () => any;
}
/** The role that is shown, and what is wanted of it; see admin-roles.js. */
interface RolesState {
  roles: RoleRow[];
  chosen?: RoleRow;
  perms: Set<string>;
  known: string[];
  wanted: Set<string>;
  search: string;
  turn: number;
}

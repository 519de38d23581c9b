// The form of one directory or provider: what most need first, everything else under "More".

import { configControl, flag } from "./admin-config-fields.js";
import { attempt, choices, control, formDialog } from "./admin-forms.js";
import { copyButton } from "./copy.js";
import { dialogForm, open } from "./dialog.js";
import { make } from "./dom.js";
import { succeed } from "./toast.js";
import { ask } from "./tokens.js";
import { say, word } from "./words.js";

const PROVIDERS = ["openid", "dingtalk", "feishu"];
const MAPPED = ["username", "nickname", "email", "mobile", "department"];

// Fields by their names in the configuration. Lists are typed with spaces between; filters and DNs have spaces inside.
/** @type {SourceField[]} */
const DIRECTORY = [
  { name: "vendor", kind: ["openldap", "ad"] },
  { name: "urls", kind: "list", required: true, placeholder: "ldaps://dc1.example.org" },
  { name: "base", required: true, placeholder: "dc=example,dc=org" },
  { name: "bindDn", placeholder: "cn=gatehouse,dc=example" },
];
/** @type {SourceField[]} */
const DIRECTORY_MORE = [
  { name: "userFilter", placeholder: "(objectClass=person)" },
  { name: "nameAttributes", kind: "list" },
  { name: "groupBase" },
  { name: "groupFilter", placeholder: "(member={dn})" },
  { name: "subjectAttribute" },
  { name: "caFile" },
  { name: "timeout", kind: "number" },
  { name: "connections", kind: "number" },
  { name: "recheckSeconds", kind: "number" },
  { name: "staleSeconds", kind: "number" },
  { name: "nestedGroups", kind: "flag" },
  { name: "allowPlain", kind: "flag" },
];
/** @type {SourceField[]} */
const PROVIDER = [
  { name: "issuer", required: true, only: ["openid"], placeholder: "https://sso.example.org" },
  { name: "tenant", only: ["dingtalk", "feishu"] },
  { name: "clientId", required: true },
];
/** @type {SourceField[]} */
const PROVIDER_MORE = [
  { name: "scopes", kind: "list" },
  { name: "clientAuth", kind: ["client_secret_basic", "client_secret_post", "none"], only: ["openid"] },
  { name: "icon" },
  { name: "prompt", only: ["openid"] },
  { name: "factorAcrs", kind: "list", only: ["openid"] },
  { name: "baseUrl", only: ["dingtalk", "feishu"] },
  { name: "caFile" },
  { name: "timeout", kind: "number" },
  { name: "userinfo", kind: "flag", only: ["openid"] },
  { name: "trustFactors", kind: "flag", only: ["openid"] },
  { name: "logout", kind: "flag", only: ["openid"] },
];
// What decides who gets to see the secret; another address takes it once more.
const ADDRESS = ["urls", "allowPlain", "caFile", "issuer", "baseUrl"];

/** Rows of a text and a choice: which group has which role.
 * @param {string} words @param {[string, string][]} entries @param {Option[]} options */
function pairs(words, entries, options) {
  const rows = make("div", { class: "stack" });
  /** @param {string} [text] @param {string} [chosen] */
  const add = (text = "", chosen = "") => {
    const unknown = chosen && !options.some(([value]) => String(value) === chosen);
    /** @type {Option[]} */
    const offered = unknown ? [...options, [chosen, chosen]] : options;
    const input = make("input", { class: "input", value: text, autocomplete: "off", spellcheck: "false", autocapitalize: "none", "data-t-label": `${words}.from`, "aria-label": word(`${words}.from`) });
    const select = make("select", { class: "input", "data-t-label": `${words}.to`, "aria-label": word(`${words}.to`) }, offered.map(([value, label]) => make("option", { value, selected: String(value) === chosen }, label)));
    const remove = make("button", { type: "button", class: "quiet square", "data-t-label": "sources.row.remove", "aria-label": word("sources.row.remove"), click: () => {
      row.remove();
      more.focus();
    } }, "×");
    const row = make("div", { class: "pair-row" }, input, select, remove);
    rows.append(row);
    return input;
  };
  const more = make("button", { type: "button", class: "quiet lined", t: `${words}.add`, click: () => add().focus() });
  for (const [text, chosen] of entries) add(text, chosen);
  return {
    element: make("fieldset", { class: "pairs" }, make("legend", { t: words }), make("p", { class: "message plain", t: `${words}.hint` }), rows, more),
    /** @returns {[string, string][]} */
    get value() {
      return [...rows.children].map((row) => /** @type {[string, string]} */ ([...row.querySelectorAll(".input")].map((each) => /** @type {HTMLInputElement} */ (each).value.trim()))).filter(([text]) => text);
    },
  };
}

/** The choices of a form: roles by their codes, departments by their ids. */
async function options() {
  const [{ list }, tree] = await Promise.all([ask("GET", "roles?pageNum=1&pageSize=1000"), ask("GET", "depts/options")]);
  return { roles: list.map(({ code, name }) => /** @type {Option} */ ([code, `${name} (${code})`])), departments: flat(tree) };
}

/** @param {OptionData[]} tree @returns {Option[]} */
function flat(tree, depth = 0) {
  return tree.flatMap(({ value, label, children }) => [[value, `${"  ".repeat(depth)}${label}`], ...flat(children ?? [], depth + 1)]);
}

/** The part about what people become here. The keys of its tables are names of groups and departments.
 * @param {any} mapping @param {Awaited<ReturnType<typeof options>>} offered @param {boolean} isProvider */
function mappingFields(mapping, offered, isProvider) {
  const listed = /** @type {[string, string[]][]} */ (Object.entries(mapping.roles ?? {})).flatMap(([group, codes]) => codes.map((code) => /** @type {[string, string]} */ ([group, code])));
  const roles = pairs("table.groups", listed, offered.roles);
  const departments = pairs("table.departments", Object.entries(mapping.departments ?? {}).map(([text, id]) => [text, String(id)]), offered.departments);
  const claim = configControl({ name: "groups" }, mapping.groups);
  const from = MAPPED.map((name) => configControl({ name, placeholder: word("sources.usual") }, mapping[name]));
  const everybody = choices("field.defaultRoles", offered.roles.map(([value, label]) => ({ value: String(value), label })), mapping.defaultRoles ?? []);
  const place = control("field.defaultDepartment", { kind: offered.departments, value: mapping.defaultDepartment ?? offered.departments[0]?.[0] });
  return {
    first: [isProvider && claim.box, roles.element],
    more: [make("div", { class: "pair" }, from.map(({ box }) => box), place.box), departments.element, everybody.element],
    get value() {
      /** @type {Record<string, string[]>} */
      const byGroup = {};
      for (const [group, code] of roles.value) (byGroup[group] ??= []).push(code);
      return {
        ...mapping,
        ...Object.fromEntries(from.map(({ name, read }) => [name, read()])),
        groups: claim.read(),
        roles: byGroup,
        departments: Object.fromEntries(departments.value.map(([text, id]) => [text, Number(id)])),
        defaultRoles: everybody.value,
        defaultDepartment: Number(place.input.value) || 1,
      };
    },
  };
}

/** What is registered at the provider, to copy. Only OpenID has logout tokens.
 * @param {string} base @param {string} kind */
function addresses(base, kind) {
  const paths = [["callback", "field.callback"], ["backchannel-logout", "field.backchannel"]];
  return paths.slice(0, kind === "openid" ? 2 : 1).map(([path, words]) => {
    const url = `${base}/${path}`;
    return make("div", { class: "copy-line" }, make("span", {}, make("span", { class: "sub", t: words }), make("code", {}, url)), copyButton(url));
  });
}

/** @param {Partial<SourceData> & { kind: string }} source @param {Awaited<ReturnType<typeof options>>} offered @param {string} loginUrl */
function fieldsOf(source, offered, loginUrl) {
  const isProvider = source.kind !== "directory";
  const isNew = !source.name;
  const config = source.config ?? {};
  const kind = control("field.kind", { kind: PROVIDERS.map((each) => [each, word(`kind.${each}`)]), value: source.kind });
  const name = control("field.name", { hint: "field.name.hint", required: true, maxlength: 32, pattern: "[a-z0-9][a-z0-9-]*", spellcheck: "false", autocapitalize: "none" });
  const title = control("field.title", { value: source.title ?? "", maxlength: 64 });
  const status = control("users.status", { kind: [["1", word("users.on")], ["0", word("users.off")]], value: source.enabled === false ? 0 : 1 });
  const sort = control("field.sort", { kind: "number", value: source.sort ?? 0, hint: "field.sort.hint" });
  const secret = control(isProvider ? "field.clientSecret" : "field.bindPassword", { kind: "password", autocomplete: "new-password", hint: "sources.keep" });
  const hint = /** @type {HTMLElement} */ (secret.box.querySelector(".message"));
  const first = (isProvider ? PROVIDER : DIRECTORY).map((field) => configControl(field, config[field.name]));
  const more = (isProvider ? PROVIDER_MORE : DIRECTORY_MORE).map((field) => configControl(field, config[field.name]));
  const createUsers = flag("field.createUsers", config.createUsers ?? true);
  const mapping = mappingFields(config.mapping ?? {}, offered, isProvider);
  const toCopy = make("div", { class: "stack" });
  const all = [...first, ...more];

  const shownKind = () => (isProvider ? (isNew ? kind.input.value : source.kind) : "directory");
  const showKind = () => {
    for (const each of all) {
      const hidden = Boolean(each.only && !each.only.includes(shownKind()));
      each.box.hidden = hidden;
      each.input.disabled = hidden;
    }
  };
  const showAddresses = () => toCopy.replaceChildren(...addresses(`${loginUrl}/${source.name ?? (name.input.value.trim() || "…")}`, shownKind()));
  const read = () => Object.fromEntries(all.filter(({ input }) => !input.disabled).map((each) => [each.name, each.read()]));
  const address = () => JSON.stringify(ADDRESS.map((each) => read()[each]));
  const askAgain = () => {
    const moved = Boolean(source.hasSecret) && address() !== before;
    secret.input.toggleAttribute("required", moved);
    hint.classList.toggle("hint", moved);
    hint.classList.toggle("plain", !moved);
    say(hint, moved ? "sources.again" : source.hasSecret ? "sources.keep" : "");
  };
  kind.input.addEventListener("change", () => {
    showKind();
    showAddresses();
  });
  name.input.addEventListener("input", showAddresses);
  for (const { input } of all) input.addEventListener("input", askAgain);
  showKind();
  const before = address();
  showAddresses();
  askAgain();

  const flags = more.filter(({ input }) => input.type === "checkbox");
  const rest = more.filter((each) => !flags.includes(each));
  const opened = first.map(({ box }) => box);
  return {
    content: [
      make("div", { class: "pair" }, isNew && isProvider && kind.box, isNew && name.box, title.box, !isNew && status.box, opened, secret.box),
      isProvider && make("section", { class: "stack" }, make("h3", { t: "field.register" }), toCopy),
      ...mapping.first,
      createUsers.box,
      make("details", { class: "more" }, make("summary", { t: "sources.more" }), make("div", { class: "stack" }, make("div", { class: "pair" }, rest.map(({ box }) => box), sort.box), flags.map(({ box }) => box), ...mapping.more)),
    ],
    get name() {
      return name.input.value.trim();
    },
    get kind() {
      return /** @type {SourceKind} */ (shownKind());
    },
    get value() {
      return {
        title: title.input.value.trim() || source.name || name.input.value.trim(),
        enabled: status.input.value === "1",
        sort: Number(sort.input.value) || 0,
        ...(secret.input.value ? { secret: secret.input.value } : {}),
        config: { ...config, ...read(), createUsers: createUsers.read(), mapping: mapping.value },
      };
    },
  };
}

/** @param {"directory" | "openid"} kind @param {(source: { name: string, title: string, kind: SourceKind }) => unknown} then */
export async function addSource(kind, then) {
  await attempt(async () => {
    const [offered, { loginUrl, defaults }] = await Promise.all([options(), ask("GET", "identity-sources")]);
    const form = fieldsOf({ kind, config: defaults[kind] }, offered, loginUrl);
    formDialog({
      title: kind === "directory" ? "sources.add.directory" : "sources.add.provider",
      wide: true,
      content: form.content,
      submit: async () => {
        const { name, value } = form;
        await ask("POST", "identity-sources", { name, kind: form.kind, ...value });
        succeed("sources.saved", { title: value.title });
        await then({ name, title: value.title, kind: form.kind });
      },
    });
  });
}

/** @param {SourceData} source @param {{ may: May, reload: Then, remove: () => Promise<boolean>, sync: Then }} how */
export async function editSource(source, { may, reload, remove, sync }) {
  await attempt(async () => {
    const [offered, { loginUrl }] = await Promise.all([options(), ask("GET", "identity-sources")]);
    const form = fieldsOf(source, offered, loginUrl);
    const given = { title: source.title };
    /** @type {HTMLDialogElement} */
    let dialog;
    const isDefined = source.origin === "environment";
    // One that the environment defines no more is disabled, and can go.
    const removal = may("sys:source:delete") && !(isDefined && source.enabled) && make("button", { type: "button", class: "quiet lined danger", t: "sources.remove", click: async () => (await remove()) && dialog.close() });
    const comparison = source.kind === "directory" && may("sys:source:update") && make("button", { type: "button", class: "quiet lined", t: "sources.sync", click: sync });
    const tools = make("div", { class: "tools" }, comparison, removal);
    if (isDefined || !may("sys:source:update")) {
      const why = isDefined && make("p", { class: "notice", t: "sources.readonly" });
      const close = make("button", { type: "button", class: "quiet lined", t: "dialog.close", autofocus: true, click: () => dialog.close() });
      dialog = open("sources.see", given, dialogForm([why, form.content, tools], null, close));
      for (const each of /** @type {NodeListOf<HTMLInputElement>} */ (dialog.querySelectorAll("input, select, .pairs button"))) each.disabled = true;
      dialog.classList.add("wide");
      return;
    }
    dialog = formDialog({
      title: "sources.edit",
      given,
      wide: true,
      content: [form.content, tools],
      submit: async () => {
        await ask("PUT", `identity-sources/${source.name}`, form.value);
        succeed("sources.saved", given);
        await reload();
      },
    });
  });
}

// The form of one application, its secrets, and what to paste into it.

import { configControl, flag } from "./admin-config-fields.js";
import { attempt, choices, control, formDialog } from "./admin-forms.js";
import { copyButton } from "./copy.js";
import { dialogForm, open } from "./dialog.js";
import { make } from "./dom.js";
import { date } from "./times.js";
import { succeed } from "./toast.js";
import { ask } from "./tokens.js";
import { say, word } from "./words.js";

const DAY = 86400;
const WORDS = "app.field";
const SCOPES = ["openid", "profile", "email", "phone", "address", "roles", "offline_access"];

// Fields by their names in the API; a program that is known by its recipe needs its address alone.
/** @type {SourceField} */
const REDIRECTS = { name: "redirectUris", kind: "list", placeholder: "https://app.example.com/callback" };
/** @type {SourceField[]} */
const MORE = [
  { name: "postLogoutRedirectUris", kind: "list" },
  { name: "backchannelLogoutUri" },
  { name: "scopes", kind: "list" },
  { name: "auth", kind: ["client_secret", "private_key_jwt", "none"] },
  { name: "jwks", placeholder: "{\"keys\": [...]}" },
  { name: "pkce", kind: ["nonce", "required", "optional"] },
  { name: "idTokenAlg", kind: ["RS256", "ES256"] },
  { name: "audience" },
];
const FLAGS = ["firstParty", "emailsTrusted", "claimsInIdToken", "allowHttp"];
const USUAL = { redirectUris: [], postLogoutRedirectUris: [], scopes: SCOPES, auth: "client_secret", pkce: "nonce", idTokenAlg: "RS256", firstParty: true, roles: [] };

/** @param {Partial<ApplicationData>} application @param {Option[]} recipes @param {RoleRow[]} roles */
function fieldsOf(application, recipes, roles) {
  const isNew = !application.clientId;
  /** @type {Record<string, any>} */
  const before = { ...USUAL, ...application };
  const recipe = control("apps.recipe", { kind: recipes, value: before.recipe });
  const clientId = control("app.field.clientId", { hint: "app.field.clientId.hint", required: true, maxlength: 64, spellcheck: "false", autocapitalize: "none" });
  const name = control("app.field.name", { value: before.name ?? "", maxlength: 64 });
  const status = control("users.status", { kind: [["1", word("users.on")], ["0", word("users.off")]], value: before.enabled === false ? 0 : 1 });
  const url = control("app.field.url", { kind: "url", value: before.url ?? "", placeholder: "https://app.example.com", hint: "app.field.url.hint" });
  const redirects = configControl(REDIRECTS, before.redirectUris, WORDS);
  const more = MORE.map((field) => configControl(field, before[field.name], WORDS));
  const flags = FLAGS.map((each) => ({ name: each, ...flag(`app.field.${each}`, before[each]) }));
  const codes = [...roles.map(({ code, name }) => ({ value: code, label: `${name} (${code})` })), ...before.roles.filter((/** @type {string} */ code) => !roles.some((role) => role.code === code)).map((/** @type {string} */ code) => ({ value: code, label: code }))];
  const admitted = choices("apps.roles", codes, before.roles);
  const keys = more.find((each) => each.name === "jwks");
  const proof = more.find((each) => each.name === "auth");
  let typed = false;

  const show = () => {
    const isKnown = isNew && recipe.input.value !== "other";
    redirects.box.hidden = isKnown;
    redirects.input.required = !isKnown;
    url.input.required = isKnown;
    if (keys && proof) keys.box.hidden = proof.input.value !== "private_key_jwt";
    if (isNew && !typed) clientId.input.value = isKnown ? recipe.input.value : "";
  };
  clientId.input.addEventListener("input", () => (typed = true));
  recipe.input.addEventListener("change", show);
  proof?.input.addEventListener("change", show);
  show();

  const read = () => ({
    url: url.input.value.trim(),
    ...Object.fromEntries([redirects, ...more, ...flags].map((each) => [each.name, each.read()])),
    roles: admitted.value,
  });
  const first = JSON.stringify(read());
  return {
    content: [
      make("div", { class: "pair" }, isNew && recipe.box, isNew && clientId.box, name.box, !isNew && status.box, url.box, redirects.box),
      make("div", {}, admitted.element, make("p", { class: "message plain", t: "apps.roles.hint" })),
      make("details", { class: "more" }, make("summary", { t: "apps.more" }), make("div", { class: "stack" }, make("div", { class: "pair" }, more.map(({ box }) => box)), flags.map(({ box }) => box))),
    ],
    get clientId() {
      return clientId.input.value.trim();
    },
    get name() {
      return name.input.value.trim();
    },
    /** What was changed: the rest stays, or is as the recipe says. */
    get value() {
      const same = JSON.parse(first);
      const changed = Object.entries(read()).filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(same[field]));
      return { ...(name.input.value.trim() ? { name: name.input.value.trim() } : {}), ...(isNew ? { recipe: recipe.input.value } : { enabled: status.input.value === "1" }), ...Object.fromEntries(changed) };
    },
  };
}

async function offered() {
  const [{ list }, { recipes }] = await Promise.all([ask("GET", "roles?pageNum=1&pageSize=1000"), ask("GET", "applications")]);
  return { roles: list, recipes: recipes.map(({ recipe, title }) => /** @type {Option} */ ([recipe, recipe === "other" ? word("apps.other") : title])) };
}

/** @param {Then} reload */
export async function addApplication(reload) {
  await attempt(async () => {
    const { roles, recipes } = await offered();
    const form = fieldsOf({}, recipes, roles);
    formDialog({ title: "apps.add", wide: true, content: form.content, submit: async () => {
      const { clientId, name, value } = form;
      const { secret, recipe } = await ask("POST", "applications", { clientId, ...value });
      await reload();
      setTimeout(() => showText(name || clientId, recipe, secret));
    } });
  });
}

/** @param {ApplicationData} application @param {{ may: May, reload: Then, remove: () => Promise<boolean> }} how */
export async function editApplication(application, { may, reload, remove }) {
  const { clientId, name } = application;
  await attempt(async () => {
    const { roles, recipes } = await offered();
    const form = fieldsOf(application, recipes, roles);
    /** @type {HTMLDialogElement} */
    let dialog;
    const mayChange = may("sys:app:update");
    const rotate = mayChange && application.auth === "client_secret" && make("button", { type: "button", class: "quiet lined", t: "apps.secret.new", click: () => newSecret(application, async () => {
      dialog.close();
      await reload();
    }) });
    const removal = may("sys:app:delete") && make("button", { type: "button", class: "quiet lined danger", t: "apps.remove", click: async () => (await remove()) && dialog.close() });
    const paste = make("button", { type: "button", class: "quiet lined", t: "apps.paste", click: () => showRecipe(application) });
    const content = [form.content, secretsOf(application), make("div", { class: "tools" }, paste, rotate, removal)];
    if (!mayChange) {
      const close = make("button", { type: "button", class: "quiet lined", t: "dialog.close", autofocus: true, click: () => dialog.close() });
      dialog = open("apps.see", { name }, dialogForm(content, null, close));
      for (const each of /** @type {NodeListOf<HTMLInputElement>} */ (dialog.querySelectorAll("input, select"))) each.disabled = true;
      dialog.classList.add("wide");
      return;
    }
    dialog = formDialog({ title: "apps.edit", given: { name }, wide: true, content, submit: async () => {
      const { users } = await ask("PUT", `applications/${clientId}`, form.value);
      succeed(users ? "apps.saved.ended" : "apps.saved", { name, users });
      await reload();
    } });
  });
}

/** @param {ApplicationData} application */
function secretsOf({ secrets }) {
  return secrets.length > 0 && make("section", { class: "stack" }, make("h3", { t: "apps.secrets" }), make("ul", { class: "small-rows" }, secrets.map(({ hint, created, expires }) => {
    const about = make("span", { class: "sub" });
    say(about, expires ? "apps.secret.until" : "apps.secret.since", { time: date(expires ?? created) });
    return make("li", {}, make("span", {}, make("code", {}, `…${hint}`), about));
  })));
}

/** The one before it stays valid for as long as the reader says.
 * @param {ApplicationData} application @param {Then} then */
function newSecret({ clientId, name }, then) {
  const keep = control("apps.secret.keep", { kind: [0, 1, 7, 30].map((days) => [days * DAY, word(days ? "apps.secret.days" : "apps.secret.now", { days })]), value: 7 * DAY });
  formDialog({ title: "apps.secret.new", act: "apps.secret.make", content: [make("p", { class: "muted", t: "apps.secret.text" }), keep.box], submit: async () => {
    const { secret, recipe } = await ask("POST", `applications/${clientId}/secret`, { keepSeconds: Number(keep.input.value) });
    await then();
    setTimeout(() => showText(name, recipe, secret));
  } });
}

/** @param {ApplicationData} application */
export async function showRecipe({ clientId, name }) {
  await attempt(async () => showText(name, await ask("GET", `applications/${clientId}/recipe`)));
}

/** What to paste, and where; the secret is shown only now.
 * @param {string} name @param {RecipeData} recipe @param {string | null} [secret] */
function showText(name, { title, where, text }, secret) {
  const close = make("button", { type: "button", class: "quiet lined", t: "dialog.close", click: () => dialog.close() });
  const once = secret && [make("p", { class: "notice", t: "apps.secret.once" }), make("div", { class: "copy-line" }, make("span", {}, make("code", {}, secret)), copyButton(secret))];
  const content = make("div", { class: "stack" }, once, make("h3", {}, title), make("p", { class: "muted" }, where), make("pre", { class: "paste", tabindex: "0" }, text));
  const dialog = open("apps.paste.of", { name }, make("div", { class: "fields" }, content), make("div", { class: "acts" }, close, copyButton(text, { words: "apps.copy", kind: "button" })));
  dialog.classList.add("wide");
}

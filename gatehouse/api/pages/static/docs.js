// The API page, made from openapi.json: what each operation takes and returns, each way it fails, and a try.

import { onKept } from "./docs-next-request.js";
import { answerFields, parameterRow, requestFields, resolve, useComponents } from "./docs-schema.js";
import { showAs, tryIt } from "./docs-try.js";
import { make, prose } from "./dom.js";
import { ROOT } from "./urls.js";
import { ask, held } from "./tokens.js";
import { say } from "./words.js";
import "./preferences.js";

/** @type {At} */
const at = (id) => document.getElementById(id);

async function start() {
  const answer = await fetch(new URL("openapi.json", ROOT));
  const description = await answer.json();
  useComponents(description.components.schemas);
  at("version").textContent = description.info.version;
  at("about").textContent = description.info.description;
  const groups = Map.groupBy(operationsOf(description), ({ group }) => group);
  at("contents").replaceChildren(...[...groups].map(([group, operations]) => contentsOf(group, operations)));
  at("operations").replaceChildren(...[...groups].map(([group, operations]) => section(group, operations)));
  // The browser looked for the fragment before there was anything to find.
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

/** @param {{ paths: Record<string, Record<string, any>> }} description @returns {Described[]} */
function operationsOf({ paths }) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const content = operation.requestBody?.content["application/json"];
      /** @type {Parameter[]} */
      const parameters = operation.parameters ?? [];
      const examples = [content?.examples, ...parameters.map((parameter) => parameter.examples)];
      return {
        id: operation.operationId,
        name: operation.operationId.replace(/_[a-z]+$/, ""),
        group: operation.tags[0],
        method: method.toUpperCase(),
        path,
        parameters,
        body: content,
        variants: [...new Set(examples.flatMap((named) => Object.keys(named ?? {})))].sort(),
        secured: Boolean(operation.security?.length),
        operation,
      };
    }),
  );
}

/** @param {string} group @param {Described[]} operations */
function contentsOf(group, operations) {
  const links = operations.map(({ id, method, path, operation }) =>
    make("li", {}, make("a", { href: `#${id}` }, badge(method), make("span", {}, shortName(path)), make("span", { class: "unseen", lang: "en" }, operation.summary))),
  );
  return make("div", {}, make("p", { class: "group" }, group), make("ul", {}, links));
}

/** Without the prefix that all of them share.
 * @param {string} path */
function shortName(path) {
  return path.split("/").slice(4).join("/") || path;
}

/** @param {string} group @param {Described[]} operations */
function section(group, operations) {
  return make("section", { "aria-labelledby": `group-${group}` }, make("h2", { class: "group-title", id: `group-${group}` }, group), operations.map(article));
}

/** @param {Described} described */
function article(described) {
  const { id, method, path, secured, operation } = described;
  return make(
    "article",
    { class: "operation", id, "aria-labelledby": `${id}-title` },
    make(
      "div",
      { class: "said" },
      make("h3", { id: `${id}-title`, lang: "en" }, operation.summary),
      make("p", { class: "address" }, badge(method), make("code", {}, path)),
      secured && make("p", { class: "muted", t: "docs.secured" }),
      operation.description && make("p", { lang: "en" }, prose(operation.description)),
      requestOf(described),
      responsesOf(operation),
    ),
    make("div", { class: "doing" }, make("h4", { t: "docs.try" }), tryIt(described)),
  );
}

/** @param {string} method */
function badge(method) {
  return make("span", { class: `method ${method.toLowerCase()}` }, method);
}

/** @param {Described} described */
function requestOf({ parameters, body }) {
  if (!parameters.length && !body) return null;
  const about = body && resolve(body.schema).description;
  return make(
    "div",
    { class: "part" },
    make("h4", { t: "docs.request" }),
    about && make("p", { class: "muted", lang: "en" }, prose(about)),
    parameters.length > 0 && make("ul", { class: "fields" }, parameters.map(parameterRow)),
    body && requestFields(body.schema),
  );
}

/** @param {any} operation */
function responsesOf(operation) {
  const { 200: success, ...failures } = operation.responses;
  const data = success.content["application/json"]?.schema.properties.data;
  return make(
    "div",
    { class: "part" },
    make("h4", { t: "docs.answer" }),
    data ? answerFields(data) : make("p", { class: "muted", t: "docs.nodata" }),
    make("h4", { t: "docs.failures" }),
    make("ul", { class: "codes" }, Object.entries(failures).flatMap(([status, { description }]) => codesOf(status, description))),
  );
}

/** "`A0410` one; `A0421` another" is a row each.
 * @param {string} status @param {string} description */
function codesOf(status, description) {
  return description.split(/; (?=`)/).map((part) => {
    const [, code, text] = part.match(/^`(\w+)` (.*)$/s) ?? [null, "", part];
    return make("li", {}, make("span", { class: "number" }, status), make("code", {}, code), make("span", { lang: "en" }, prose(text)));
  });
}

/** @type {string | null | undefined} */
let shownLogin = null; // nothing is shown yet; without a login it becomes undefined

/** Who is logged in, at the top and beside every Send button. The login is the one made at the login page. */
async function showLogin() {
  const login = held()?.login;
  if (login === shownLogin) return;
  shownLogin = login;
  const user = login ? await ask("GET", "users/me").catch(() => null) : null;
  const name = user?.username;
  say(at("kept-text"), name ? "docs.token.kept" : "docs.token.none", { name });
  at("kept-login").hidden = Boolean(name);
  at("to-account").hidden = !name;
  showAs(name);
}

const wide = matchMedia("(min-width: 76rem)");
const fold = () => (at("contents-box").open = wide.matches);
wide.addEventListener("change", fold);
fold();

onKept(showLogin);
start().then(showLogin, () => (at("trouble").hidden = false));

// Settings: what is set and from where, and what `gatehouse doctor` says. Read only.

import { searchBox } from "./admin-forms.js";
import { emptyState } from "./admin-table.js";
import { make, prose } from "./dom.js";
import { ask } from "./tokens.js";
import { say, word } from "./words.js";

/** @type {Record<string, number>} */
const ORDER = { fail: 0, warn: 1, ok: 2 };
/** @type {Record<string, string>} */
export const KINDS = { ok: "state", warn: "state warn", fail: "state bad" };

/** Findings, worst first.
 * @param {CheckData[]} checks */
export function findings(checks) {
  const sorted = [...checks].sort((one, other) => ORDER[one.level] - ORDER[other.level]);
  return make("ul", { class: "findings" }, sorted.map(({ level, check, found, advice }) =>
    make("li", {}, make("span", { class: KINDS[level], t: `settings.${level}` }), make("span", {}, make("strong", { t: `check.${check}` }), ` ${found}`, advice && make("span", { class: "sub" }, prose(advice))))));
}

export async function settings() {
  const [{ version, settings: all }, { checks }] = await Promise.all([ask("GET", "settings"), ask("GET", "settings/checks")]);
  const state = { words: "", changed: false };
  const body = make("tbody");
  const none = make("div", { hidden: true }, emptyState({ title: "settings.none", text: "settings.none.text" }));
  const table = make("table", { class: "settings" }, make("thead", {}, make("tr", {}, ["settings.name", "settings.value", "settings.source"].map((words) => make("th", { scope: "col", t: words })))), body);

  function show() {
    const found = all.filter(({ name, meaning, source }) => (!state.changed || source) && `${name} ${meaning}`.toLowerCase().includes(state.words.toLowerCase()));
    body.replaceChildren(...found.map(row));
    table.hidden = !found.length;
    none.hidden = found.length > 0;
  }

  const search = searchBox("settings.search", (words) => {
    state.words = words;
    show();
  });
  const changed = make("input", { type: "checkbox", change: ({ target }) => {
    state.changed = target.checked;
    show();
  } });
  show();
  const release = make("span", { class: "muted" });
  say(release, "settings.release", { version });
  return [
    make("div", { class: "title" }, make("h1", { t: "part.settings" }), release),
    make("section", { class: "panel spaced" }, make("h2", { t: "settings.checks" }), findings(checks)),
    make("div", { class: "tools" }, search.element, make("label", { class: "check" }, changed, make("span", { t: "settings.changed" }))),
    make("div", { class: "panel" }, table, none),
  ];
}

/** Of a secret only whether it is set.
 * @param {SettingData} setting */
function row({ name, value, source, meaning, secret }) {
  const shown = secret ? make("span", { class: "muted", t: source ? "settings.secret" : "settings.notset" }) : value ? make("code", {}, value) : "–";
  const from = source ? make("code", {}, source) : make("span", { class: "muted", t: "settings.default" });
  /** @param {string} words @param {Child} content */
  const cell = (words, content) => make("td", { "data-name": word(words) }, content);
  return make("tr", {}, make("td", { class: "head" }, make("code", {}, name), make("span", { class: "sub" }, meaning)), cell("settings.value", shown), cell("settings.source", from));
}

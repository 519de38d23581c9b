// Audit: what happened, filtered by words, kind and days, each opened for all of it, followed live, exported as a file.

import { attempt, filterChoice, query, searchBox } from "./admin-forms.js";
import { pagedTable } from "./admin-table.js";
import { open } from "./dialog.js";
import { make } from "./dom.js";
import { date, device, moment, utc } from "./times.js";
import { succeed } from "./toast.js";
import { ask } from "./tokens.js";
import { known, onLanguage, word } from "./words.js";

const FOLLOW_EVERY = 3_000;
const EXPORT_PAGE = 1000;
const EXPORT_MOST = 20_000;
// Kinds of events whose text ends with a reason.
const REASONED = new Set(["session", "refresh", "key"]);
/** @type {(keyof LogRow)[]} */
const COLUMNS = ["createTime", "module", "actionType", "title", "operatorName", "content", "errorMsg", "ip", "browser", "os", "requestId"];

export function audit() {
  const filter = { keywords: "", event: "", from: "", to: "" };
  /** @param {number} page @param {number} size @returns {`logs?${string}`} */
  const path = (page, size) => `logs?${query({ pageNum: page, pageSize: size, keywords: filter.keywords, event: filter.event })}${days(filter)}`;
  const table = pagedTable({
    key: ({ id }) => id,
    empty: { title: "audit.none", text: "audit.none.text" },
    columns: [
      { words: "audit.what", class: "head", cell: what },
      { words: "audit.who", class: "num", cell: ({ operatorName, ip }) => (operatorName === ip ? "" : operatorName) || "–" },
      { words: "audit.detail", cell: detail },
      { words: "audit.from", cell: ({ ip, browser, os }) => [ip, make("span", { class: "sub" }, [browser, os].filter(Boolean).join(", "))] },
      { words: "audit.when", class: "num", cell: ({ createTime }) => make("time", { datetime: utc(createTime).toISOString() }, date(utc(createTime))) },
    ],
    load: async ({ page, size }) => {
      const { list, total } = await ask("GET", path(page, size));
      return { rows: list, total };
    },
  });
  const search = searchBox("audit.search", (keywords) => {
    filter.keywords = keywords;
    table.reload();
  });
  /** @param {"from" | "to"} name @param {string} words */
  const day = (name, words) => make("label", { class: "labelled" }, make("span", { t: words }), make("input", { class: "input", type: "date", change: ({ target }) => {
    filter[name] = target.value;
    table.reload();
  } }));
  const events = filterChoice("audit.what", [], (event) => {
    filter.event = event;
    table.reload();
  });
  fillEvents(events);
  onLanguage(() => events.isConnected && fillEvents(events));
  const follow = make("input", { type: "checkbox" });
  const timer = setInterval(() => {
    if (!table.element.isConnected) clearInterval(timer);
    else if (follow.checked && !document.hidden) table.reload();
  }, FOLLOW_EVERY);
  const save = make("button", { type: "button", class: "quiet lined", t: "audit.export", click: () => attempt(() => exported(path)) });
  return [
    make("div", { class: "title" }, make("h1", { t: "part.audit" }), save),
    make("div", { class: "tools" }, search.element, events, make("div", { class: "days" }, day("from", "audit.first"), day("to", "audit.last")), make("label", { class: "check" }, follow, make("span", { t: "audit.follow" }))),
    table.element,
  ];
}

/** Every kind of event as a choice, in the words of the service; what was chosen stays chosen.
 * @param {HTMLSelectElement} select */
async function fillEvents(select) {
  const chosen = select.value;
  const kinds = await ask("GET", "logs/events").catch(() => []);
  select.replaceChildren(make("option", { value: "", t: "audit.all" }), ...kinds.map(({ value, label }) => make("option", { value }, label)));
  select.value = chosen;
}

/** All that is kept of one event.
 * @param {LogRow} event */
function showEvent(event) {
  const { title, operatorName, ip, browser, os, createTime, requestId, id } = event;
  /** @type {[string, Child][]} */
  const facts = [
    ["audit.kind", make("code", {}, tagOf(event))],
    ["audit.when", moment(utc(createTime))],
    ["audit.who", operatorName === ip ? "" : operatorName],
    ["audit.detail", detail(event)],
    ["audit.from", ip],
    ["sessions.device", [browser, os].filter(Boolean).join(", ")],
    ["audit.request", requestId && make("code", {}, requestId)],
    ["audit.number", id],
  ];
  const lines = facts.filter(([, value]) => value).map(([words, value]) => make("div", {}, make("dt", { t: words }), make("dd", {}, value)));
  const close = make("button", { type: "button", class: "quiet lined", t: "dialog.close", click: () => dialog.close() });
  const dialog = open("audit.one", { title }, make("dl", { class: "details" }, lines), make("div", { class: "acts" }, close));
}

/** What an event says about itself, without its title: JSON at the end, `{"changed":["name"]}`, reads "changed: name".
 * @param {LogRow} event */
export function detail({ content, title, module, errorMsg }) {
  const [, before, json] = content.slice(content.startsWith(title) ? title.length : 0).trim().match(/^(.*?)\s*(\{.*\})?$/s) ?? [];
  const about = REASONED.has(module) ? before.split(" ").map(reason).join(" · ") : before;
  /** @type {(string | undefined)[]} */
  let parts;
  try {
    parts = Object.entries(JSON.parse(json ?? "{}")).filter(([, value]) => String(value)).map(([name, value]) => `${named(name)}: ${shown(name, value)}`);
  } catch {
    parts = [json];
  }
  return [about, ...parts, errorMsg && reason(errorMsg)].filter(Boolean).join(" · ");
}

/** @param {string} tag */
const reason = (tag) => (known(`reason.${tag}`) ? word(`reason.${tag}`) : tag);
/** @param {string} name */
const named = (name) => (known(`detail.${name}`) ? word(`detail.${name}`) : name);
/** @param {string} name @param {any} value */
const shown = (name, value) => (name === "browser" ? device(value) : Array.isArray(value) ? value.join(", ") : String(value));

/** @param {LogRow} event */
function what(event) {
  const { title, status } = event;
  const button = make("button", { type: "button", class: "open", click: () => showEvent(event) }, make("span", {}, title, make("span", { class: "sub mono" }, tagOf(event))));
  return make("span", { class: status ? "state" : "state bad" }, button);
}

/** @param {LogRow} event */
const tagOf = ({ module, actionType }) => (module === actionType ? module : `${module}.${actionType}`);

/** From and to, both included; one alone is that day to today, or up to that day.
 * @param {{ from: string, to: string }} chosen */
function days({ from, to }) {
  if (!from && !to) return "";
  const today = new Date().toISOString().slice(0, 10);
  return `&createTime=${from || "2000-01-01"}&createTime=${to || today}`;
}

/** @param {(page: number, size: number) => `logs?${string}`} path */
async function exported(path) {
  /** @type {LogRow[]} */
  const rows = [];
  for (let page = 1, total = 1; rows.length < Math.min(total, EXPORT_MOST); page += 1) {
    const answer = await ask("GET", path(page, EXPORT_PAGE));
    rows.push(...answer.list);
    total = answer.list.length ? answer.total : 0;
  }
  const lines = [COLUMNS, ...rows.map((row) => COLUMNS.map((name) => row[name]))].map((line) => line.map(quoted).join(","));
  const url = URL.createObjectURL(new Blob([`\ufeff${lines.join("\r\n")}\r\n`], { type: "text/csv" }));
  make("a", { href: url, download: "audit.csv" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  succeed("audit.exported", { count: rows.length });
}

/** A cell of a CSV file. One that a spreadsheet would take for a formula, also in full-width characters, is made text.
 * @param {unknown} value */
function quoted(value) {
  const text = String(value ?? "");
  return `"${(/^'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}

// A table that shows one page of a long list: loading, failed, empty and full, with sorting and picking.

import { make } from "./dom.js";
import { known, locale, onLanguage, say, word } from "./words.js";

const SIZE = 20;
const CONTROLS = "a, button, input, select";

/** columns: [{ words, sort?, class?, cell(row) }]; load({ page, size, sort }) gives { rows, total }.
 *
 * `onPick` makes rows pickable and is told which are; `key` names a row. Returns { element, reload }.
 * @template Row @param {Table<Row>} table @returns {Paged}
 */
export function pagedTable({ columns, load, key, empty, onPick }) {
  const state = { page: 1, sort: "", rows: /** @type {Row[]} */ ([]), total: 0, turn: 0, loaded: false };
  /** @type {Set<string>} */
  const picked = new Set();
  const body = make("tbody");
  const all = onPick && checkbox("admin.pick.all", ({ target }) => pickAll(target.checked));
  const heads = columns.map((column) => head(column, state, () => reload()));
  const table = make("table", {}, make("thead", {}, make("tr", {}, onPick && make("th", { class: "pick" }, make("label", {}, all)), heads)), body);
  const range = make("span", { class: "num", role: "status" });
  const back = make("button", { type: "button", class: "quiet lined", t: "admin.back", click: () => turn(-1) });
  const on = make("button", { type: "button", class: "quiet lined", t: "admin.on", click: () => turn(1) });
  const feet = make("div", { class: "feet", hidden: true }, range, make("div", { class: "turn" }, back, on));
  const message = make("div", { hidden: true });
  const element = make("div", { class: "panel" }, table, message, feet);

  /** @param {number} by */
  function turn(by) {
    state.page += by;
    fetchPage();
  }

  /** @param {boolean} checked */
  function pickAll(checked) {
    for (const row of state.rows) checked ? picked.add(key(row)) : picked.delete(key(row));
    for (const box of /** @type {NodeListOf<HTMLInputElement>} */ (body.querySelectorAll(".pick input"))) box.checked = checked;
    showPicked();
  }

  /** Leaves the rows as they are, so the focus stays on the box. */
  function showPicked() {
    if (all) all.checked = state.rows.length > 0 && state.rows.every((row) => picked.has(key(row)));
    onPick?.([...picked]);
  }

  function show() {
    table.hidden = state.rows.length === 0;
    const restoreFocus = rememberFocus(body);
    body.replaceChildren(...state.rows.map(line));
    restoreFocus();
    for (const [at, column] of columns.entries()) sorted(heads[at], column, state.sort);
    const first = (state.page - 1) * SIZE;
    feet.hidden = state.total <= SIZE && state.page === 1;
    say(range, "admin.place", { first: state.rows.length ? first + 1 : 0, last: first + state.rows.length, total: state.total.toLocaleString(locale()) });
    back.disabled = state.page === 1;
    on.disabled = first + state.rows.length >= state.total;
    message.hidden = state.rows.length > 0;
    if (!state.rows.length) message.replaceChildren(emptyState(empty));
    if (onPick) showPicked();
  }

  /** @param {Row} row */
  function line(row) {
    const pick = onPick && checkbox("admin.pick", ({ target }) => {
      target.checked ? picked.add(key(row)) : picked.delete(key(row));
      showPicked();
    });
    if (pick) pick.checked = picked.has(key(row));
    const cells = columns.map(({ words, cell, class: kind }) => {
      const made = make("td", { class: kind }, cell(row));
      if (words && kind !== "head") made.dataset.name = word(words);
      return made;
    });
    return make("tr", { "data-key": key?.(row) }, pick && make("td", { class: "pick" }, make("label", {}, pick)), cells);
  }

  async function fetchPage() {
    const turn = (state.turn += 1);
    if (!state.loaded) body.replaceChildren(...Array.from({ length: 6 }, () => make("tr", { class: "blank" }, [...(onPick ? [0] : []), ...columns].map(() => make("td")))));
    element.setAttribute("aria-busy", "true");
    try {
      const { rows, total } = await load({ page: state.page, size: SIZE, sort: state.sort });
      if (turn !== state.turn) return; // a later question is under way
      if (!rows.length && total && state.page > 1) {
        state.page = Math.ceil(total / SIZE); // the last rows of the last page are gone
        return void fetchPage();
      }
      Object.assign(state, { rows, total, loaded: true });
      show();
    } catch (failure) {
      if (turn !== state.turn) return;
      table.hidden = feet.hidden = true;
      message.hidden = false;
      message.replaceChildren(failedState(failure, fetchPage));
    } finally {
      element.removeAttribute("aria-busy");
    }
  }

  /** From the first page on; what was picked is forgotten. */
  function reload({ keepPage = false } = {}) {
    if (!keepPage) state.page = 1;
    picked.clear();
    return fetchPage();
  }

  // Anew: some rows have words of the service.
  onLanguage(() => element.isConnected && fetchPage());
  reload();
  return { element, reload };
}

/** For rows that are made anew while somebody works in one: gives the focus back to the same control of the same row.
 * @param {HTMLTableSectionElement} body */
function rememberFocus(body) {
  const focused = /** @type {HTMLElement} */ (document.activeElement);
  const line = body.contains(focused) ? focused.closest("tr") : null;
  if (!line?.dataset.key) return () => {};
  const at = [...line.querySelectorAll(CONTROLS)].indexOf(focused);
  return () => {
    const same = [...body.rows].find(({ dataset }) => dataset.key === line.dataset.key);
    same?.querySelectorAll(CONTROLS)[at]?.focus();
  };
}

/** @param {Column} column @param {{ sort: string }} state @param {Then} reload */
function head({ words, sort, class: kind }, state, reload) {
  const label = make(sort ? "button" : "span", sort ? { type: "button", t: words } : words ? { t: words } : {});
  if (sort) {
    label.addEventListener("click", () => {
      state.sort = state.sort === sort ? `-${sort}` : sort;
      reload();
    });
  }
  return make("th", { class: kind === "do" ? "do" : null, scope: "col" }, label);
}

/** @param {Element} head @param {Column} column @param {string} chosen */
function sorted(head, { sort }, chosen) {
  if (sort && chosen === sort) head.setAttribute("aria-sort", "ascending");
  else if (sort && chosen === `-${sort}`) head.setAttribute("aria-sort", "descending");
  else head.removeAttribute("aria-sort");
}

/** @param {string} words @param {Attributes["change"]} change */
function checkbox(words, change) {
  const box = make("input", { type: "checkbox", change, "data-t-label": words });
  box.setAttribute("aria-label", word(words));
  return box;
}

/** @param {{ title: string, text: string }} words */
export function emptyState({ title, text }) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  for (const d of ["M10.5 17.5a7 7 0 1 1 0-14 7 7 0 0 1 0 14z", "M20.5 20.5 15.5 15.5"]) {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", d);
    svg.append(path);
  }
  return make("div", { class: "empty" }, svg, make("strong", { t: title }), make("span", { t: text }));
}

/** @param {Failure} failure @param {Then} again */
export function failedState(failure, again) {
  const text = make("strong");
  if (known(failure.code)) say(text, failure.code);
  else text.textContent = failure.message || word("unforeseen");
  return make("div", { class: "empty" }, text, make("button", { type: "button", class: "quiet lined", t: "account.retry", click: again }));
}

export function waitingState() {
  return make("p", { class: "waiting" }, make("span", { class: "spinner", "aria-hidden": "true" }), make("span", { t: "account.loading" }));
}

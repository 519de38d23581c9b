// Departments: a tree to walk with the arrow keys; add, rename, move (by its form or with the pointer), delete.

import { draggable } from "./admin-departments-drag.js";
import { attempt, control, formDialog } from "./admin-forms.js";
import { emptyState } from "./admin-table.js";
import { confirmed } from "./dialog.js";
import { make } from "./dom.js";
import { succeed } from "./toast.js";
import { ask } from "./tokens.js";
import { word } from "./words.js";

const DEEPEST = 5;

/** @param {Context} context */
export async function departments({ may }) {
  const tree = make("ul", { class: "tree", "data-t-label": "part.departments", "aria-label": word("part.departments") });
  /** @type {DepartmentRow[]} */
  let all = [];

  /** @param {string} [focused] */
  async function load(focused) {
    all = await ask("GET", "depts");
    tree.replaceChildren(...(all.length ? all.map((one) => node(one, 0)) : [emptyState({ title: "departments.none", text: "departments.none.text" })]));
    const rows = [...tree.querySelectorAll("li")];
    const wanted = rows.find((row) => row.dataset.id === focused) ?? rows[0];
    if (wanted) wanted.tabIndex = 0;
    if (focused) wanted?.focus();
  }

  /** @param {DepartmentRow} one @param {number} depth @returns {HTMLElement} */
  function node(one, depth) {
    const item = make("li", { tabindex: -1, "data-id": one.id, "aria-label": one.name, class: `d${Math.min(depth, DEEPEST)}` });
    const grip = may("sys:dept:update") && make("span", { class: "grip", "aria-hidden": "true" });
    item.append(make("div", {}, grip, make("span", { class: "name" }, one.name), !one.status && make("span", { class: "state off", t: "users.off" }), ...acts(one)));
    if (one.children.length) item.append(make("ul", {}, one.children.map((below) => node(below, depth + 1))));
    return item;
  }

  /** @param {DepartmentRow} one */
  function acts(one) {
    /** @param {string} perm @param {string} words @param {Then} click */
    const act = (perm, words, click, kind = "quiet") => may(perm) && make("button", { type: "button", class: kind, tabindex: -1, t: words, "aria-label": `${word(words)}: ${one.name}`, click });
    return [
      act("sys:dept:create", "departments.below", () => form({ parentId: one.id })),
      act("sys:dept:update", "departments.edit", () => form(one)),
      act("sys:dept:delete", "departments.delete", () => remove(one), "quiet danger"),
    ].filter((button) => button !== false);
  }

  /** Every department as a choice, without the one that moves and those below it.
   * @param {string} [moving] @returns {Option[]} */
  function parents(moving, list = all, depth = 0) {
    return list.filter(({ id }) => id !== moving).flatMap((one) => [[one.id, `${"  ".repeat(depth)}${one.name}`], ...parents(moving, one.children, depth + 1)]);
  }

  /** @param {Partial<DepartmentRow>} one */
  function form(one) {
    const name = control("departments.name", { value: one.name ?? "", maxlength: 64, required: true });
    const code = control("departments.code", { value: one.code ?? "", maxlength: 64 });
    const parent = control("departments.parent", { kind: [["0", word("departments.top")], ...parents(one.id)], value: one.parentId ?? "0" });
    const status = control("users.status", { kind: [["1", word("users.on")], ["0", word("users.off")]], value: one.status ?? 1 });
    formDialog({
      title: one.id ? "departments.edit.title" : "departments.add",
      given: { name: one.name },
      content: [name.box, make("div", { class: "pair" }, parent.box, status.box), code.box],
      submit: async () => {
        const values = { name: name.input.value.trim(), code: code.input.value.trim(), parentId: parent.input.value, sort: one.sort ?? 0, status: Number(status.input.value) };
        await ask(one.id ? "PUT" : "POST", one.id ? `depts/${one.id}` : "depts", values);
        succeed("departments.saved");
        await load(one.id);
      },
    });
  }

  /** @type {(id: string, list?: DepartmentRow[]) => DepartmentRow | undefined} */
  const find = (id, list = all) => list.reduce((found, one) => found ?? (one.id === id ? one : find(id, one.children)), /** @type {DepartmentRow | undefined} */ (undefined));

  /** Done at once, because it can be undone as easily.
   * @param {string} id @param {string} parentId */
  async function move(id, parentId) {
    const one = find(id);
    if (!one || one.parentId === parentId) return;
    const before = one.parentId;
    /** @param {string} where */
    const put = (where) => ask("PUT", `depts/${id}`, { name: one.name, code: one.code ?? "", parentId: where, sort: one.sort ?? 0, status: one.status });
    await attempt(async () => {
      await put(parentId);
      await load(id);
      const given = { name: one.name, parent: find(parentId)?.name ?? word("departments.top") };
      succeed("departments.moved", given, { words: "toast.undo", act: () => attempt(() => put(before).then(() => load(id))) });
    });
  }

  /** @param {DepartmentRow} one */
  async function remove(one) {
    const given = { name: one.name };
    if (!(await confirmed({ title: "departments.delete.ask", text: "departments.delete.text", act: "departments.delete", given }))) return;
    await attempt(async () => {
      await ask("DELETE", `depts/${one.id}`);
      succeed("departments.deleted");
      await load(one.parentId);
    });
  }

  /** Up and down through what is visible, right and left into and out of a branch, as trees do everywhere. */
  tree.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const item = target.closest("li");
    if (!item || target.tagName === "BUTTON") return;
    const rows = [...tree.querySelectorAll("li")].filter((row) => row.checkVisibility());
    const at = rows.indexOf(item);
    const group = item.querySelector(":scope > ul");
    /** @type {Record<string, () => HTMLElement | null | undefined>} */
    const moves = {
      ArrowDown: () => rows[at + 1],
      ArrowUp: () => rows[at - 1],
      Home: () => rows[0],
      End: () => rows.at(-1),
      ArrowRight: () => (group?.hidden ? fold(item, group, false) : group?.querySelector("li")),
      ArrowLeft: () => (group && !group.hidden ? fold(item, group, true) : item.parentElement?.closest("li")),
      Enter: () => void item.querySelector("button")?.focus(),
    };
    if (!(event.key in moves)) return;
    event.preventDefault();
    event.stopPropagation();
    const next = moves[event.key]();
    if (!next) return;
    for (const row of rows) row.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });

  /** @param {HTMLElement} item @param {HTMLElement} group @param {boolean} hidden */
  function fold(item, group, hidden) {
    group.hidden = hidden;
    return item;
  }

  const top = make("div", { class: "drop-top", hidden: true, t: "departments.top" });
  draggable(tree, top, move);
  await load();
  const add = may("sys:dept:create") && make("button", { type: "button", class: "button", t: "departments.add", click: () => form({}) });
  return [make("div", { class: "title" }, make("h1", { t: "part.departments" }), add), make("div", { class: "panel" }, tree, top)];
}

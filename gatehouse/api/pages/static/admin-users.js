// Users: search, filter, sort, page; add and edit; several at once.

import { attempt, filterChoice, person, query, searchBox } from "./admin-forms.js";
import { pagedTable } from "./admin-table.js";
import { addUser, deleteUsers, editUser } from "./admin-user.js";
import { exportUsers, importUsers } from "./admin-sheets.js";
import { confirmed } from "./dialog.js";
import { make } from "./dom.js";
import { ago, utc } from "./times.js";
import { succeed } from "./toast.js";
import { ask } from "./tokens.js";
import { say, word } from "./words.js";

/** @param {Context} context */
export function users(context) {
  const { may } = context;
  const filter = { keywords: "", status: "", hasPassword: "", deptId: "", roleId: "" };
  const many = make("div", { class: "picked", hidden: true, role: "status" });
  /** @param {Record<string, string | number>} extra @returns {`users?${string}`} */
  const path = (extra) => `users?${query({ ...filter, ...extra })}`;
  /** @type {Paged} */
  const table = pagedTable({
    key: ({ id }) => id,
    empty: { title: "users.none", text: "users.none.text" },
    onPick: may("sys:user:delete") || may("sys:user:update") ? (picked) => showPicked(many, picked, may, () => table.reload({ keepPage: true })) : null,
    columns: [
      { words: "users.name", sort: "username", class: "head", cell: (user) => person(user.nickname, user.username, () => editUser(user.id, context, () => table.reload({ keepPage: true }))) },
      { words: "users.roles", cell: ({ roleNames }) => (roleNames ? roleNames.split(",").map((role) => make("span", { class: "tag" }, role)) : "–") },
      { words: "account.department", cell: ({ deptName }) => deptName || "–" },
      { words: "users.status", sort: "status", cell: statusOf },
      { words: "users.last", class: "num", cell: ({ lastLoginTime }) => (lastLoginTime ? (ago(utc(lastLoginTime)) ?? word("audit.now")) : make("span", { class: "muted", t: "users.never" })) },
      { words: "users.created", sort: "createTime", class: "num", cell: ({ createTime }) => createTime.slice(0, 10) },
    ],
    load: async ({ page, size, sort }) => {
      const { list, total } = await ask("GET", path({ pageNum: page, pageSize: size, sort }));
      return { rows: list, total };
    },
  });
  const search = searchBox("users.search", (keywords) => {
    filter.keywords = keywords;
    table.reload();
  });
  /** @param {Partial<typeof filter>} values */
  const narrow = (values) => {
    Object.assign(filter, values);
    table.reload();
  };
  const states = [["", "users.all"], ["1", "users.on"], ["0", "users.off"], ["new", "users.nopassword"]];
  const status = filterChoice("users.status", states.map(([value, words]) => make("option", { value, t: words })), (value) => narrow(value === "new" ? { status: "", hasPassword: "0" } : { status: value, hasPassword: "" }));
  const department = filterChoice("account.department", [make("option", { value: "", t: "users.everywhere" })], (deptId) => narrow({ deptId }));
  const role = filterChoice("users.role", [make("option", { value: "", t: "users.anyrole" })], (roleId) => narrow({ roleId }));
  fillChoices(department, departmentChoices());
  fillChoices(role, roleChoices(may));
  const add = may("sys:user:create") && make("button", { type: "button", class: "button", t: "users.add", click: () => addUser(context, () => table.reload()) });
  const sheet = may("sys:user:export") && make("button", { type: "button", class: "quiet lined", t: "users.export", click: () => attempt(() => exportUsers(query(filter))) });
  const load = may("sys:user:import") && make("button", { type: "button", class: "quiet lined", t: "users.import", click: () => importUsers(() => table.reload()) });
  return [
    make("div", { class: "title" }, make("h1", { t: "part.users" }), make("div", { class: "acts" }, load, sheet, add)),
    make("div", { class: "tools" }, search.element, department, role, status),
    table.element,
    many,
  ];
}

/** A user who was never given a password is marked: nobody can log in there yet.
 * @param {UserRow} user */
function statusOf({ status, hasPassword }) {
  const state = make("span", { class: status ? "state" : "state off", t: status ? "users.on" : "users.off" });
  return hasPassword ? state : [state, " ", make("span", { class: "tag warn", t: "users.nopassword" })];
}

/** Whoever may not list these does without.
 * @param {HTMLSelectElement} select @param {Promise<Option[]>} asked */
async function fillChoices(select, asked) {
  select.hidden = true;
  const options = await asked.catch(() => []);
  select.append(...options.map(([value, label]) => make("option", { value }, label)));
  select.hidden = options.length < 2;
}

async function departmentChoices() {
  /** @type {(tree: OptionData[], depth?: number) => Option[]} */
  const flat = (tree, depth = 0) => tree.flatMap(({ value, label, children = [] }) => [[value, `${"  ".repeat(depth)}${label}`], ...flat(children, depth + 1)]);
  return flat(await ask("GET", "depts/options"));
}

/** All of them, or for somebody who may not list roles those that can be granted.
 * @param {May} may @returns {Promise<Option[]>} */
async function roleChoices(may) {
  if (!may("sys:role:list")) return (await ask("GET", "roles/options")).map(({ value, label }) => [value, label]);
  const { list } = await ask("GET", "roles?pageNum=1&pageSize=1000");
  return list.map(({ id, name }) => [id, name]);
}

/** @param {HTMLElement} bar @param {string[]} picked @param {May} may @param {Then} then */
function showPicked(bar, picked, may, then) {
  bar.hidden = picked.length === 0;
  if (!picked.length) return;
  const text = make("span");
  say(text, "users.picked", { count: picked.length });
  /** @param {string} perm @param {string} words @param {Then} click */
  const act = (perm, words, click) => may(perm) && make("button", { type: "button", class: "quiet lined", t: words, click });
  bar.replaceChildren(text, ...[
    act("sys:user:update", "users.enable", () => setStatus(picked, 1, then)),
    act("sys:user:update", "users.disable", () => setStatus(picked, 0, then)),
    act("sys:user:delete", "users.delete", () => deleteUsers(picked, then)),
  ].filter((button) => button !== false));
}

/** @param {string[]} ids @param {number} status @param {Then} then */
async function setStatus(ids, status, then) {
  const given = { count: ids.length };
  if (!status && !(await confirmed({ title: "users.disable.ask", text: "users.disable.text", act: "users.disable", given }))) return;
  await attempt(async () => {
    for (const id of ids) await ask("PUT", `users/${id}`, { ...(await ask("GET", `users/${id}/form`)), status });
    succeed(status ? "users.enabled" : "users.disabled", given);
  });
  await then();
}


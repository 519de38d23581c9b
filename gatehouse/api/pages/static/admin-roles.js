// Roles: their perms by what they are about; what changes is shown before it is saved.

import { attempt, choices, control, formDialog } from "./admin-forms.js";
import { editMenus } from "./admin-role-menus.js";
import { emptyState, failedState, waitingState } from "./admin-table.js";
import { confirmed } from "./dialog.js";
import { make } from "./dom.js";
import { succeed } from "./toast.js";
import { ask } from "./tokens.js";
import { mayLeave } from "./unsaved.js";
import { say, word } from "./words.js";

// Which rows of a business backend a role shows, by the numbers of the API.
const SCOPES = [1, 2, 3, 4, 5];
const OWN = 4;
const CHOSEN = 5;

/** @param {Context} context */
export async function roles({ may }) {
  /** @type {RolesState} */
  const state = { roles: [], perms: new Set(), known: [], wanted: new Set(), search: "", turn: 0 };
  const list = make("ul", { class: "list" });
  const side = make("section", { class: "panel pad" });

  /** @param {string} [code] */
  async function load(code) {
    const { list: found } = await ask("GET", "roles?pageNum=1&pageSize=1000");
    state.roles = found;
    await choose(found.find((role) => role.code === code) ?? state.chosen ?? found[0]);
  }

  /** @param {RoleRow | undefined} role */
  async function choose(role) {
    if (!role) return showList();
    const turn = (state.turn += 1);
    if (role.id !== state.chosen?.id) side.replaceChildren(waitingState()); // the buttons there are another role's
    const answer = await ask("GET", `roles/${role.id}/perms`).catch((failure) => {
      if (turn === state.turn) side.replaceChildren(failedState(failure, () => choose(role)));
    });
    if (!answer || turn !== state.turn) return; // failed, or another role was chosen since
    const { perms, known } = answer;
    Object.assign(state, { chosen: role, perms: new Set(perms), wanted: new Set(perms), known });
    showList();
    showPerms(role);
  }

  function showList() {
    list.replaceChildren(...state.roles.map((role) =>
      make("li", {}, make("button", { type: "button", "aria-current": String(role.id === state.chosen?.id), click: () => leave(() => choose(role)) },
        make("span", {}, role.name, make("span", { class: "sub" }, role.code)), role.status ? null : make("span", { class: "state off", t: "users.off" })))));
    if (!state.roles.length) side.replaceChildren(emptyState({ title: "roles.none", text: "roles.none.text" }));
  }

  /** @param {Then} go */
  async function leave(go) {
    if (await mayLeave()) await attempt(go);
  }

  function changes() {
    return {
      plus: [...state.wanted].filter((perm) => !state.perms.has(perm)).sort(),
      minus: [...state.perms].filter((perm) => !state.wanted.has(perm)).sort(),
    };
  }

  /** @param {RoleRow} chosen */
  function showPerms(chosen) {
    const everything = chosen.code === "ROOT";
    const groups = make("div", { class: "perm-groups" });
    const count = make("span", { class: "muted", role: "status" });
    const save = make("button", { type: "button", class: "button", t: "roles.review", click: () => review(chosen) });
    const show = () => {
      const text = state.search.toLowerCase();
      const shown = state.known.filter((perm) => perm.includes(text));
      groups.replaceChildren(...grouped(shown).map(([about, perms]) => group(about, perms, state, may("sys:role:assign"), show)));
      if (!shown.length) groups.replaceChildren(emptyState({ title: "roles.noperm", text: "roles.noperm.text" }));
      const { plus, minus } = changes();
      say(count, "roles.changes", { plus: plus.length, minus: minus.length, total: state.wanted.size });
      save.disabled = !groups.toggleAttribute("data-unsaved", plus.length + minus.length > 0);
    };
    const search = make("input", { class: "input", type: "search", placeholder: word("roles.search"), "aria-label": word("roles.search"), "data-t-placeholder": "roles.search", "data-t-label": "roles.search", input: ({ target }) => {
      state.search = target.value.trim();
      show();
    } });
    search.value = state.search;
    const extra = may("sys:role:assign") && make("button", { type: "button", class: "quiet lined", t: "roles.newperm", click: () => newPerm(show) });
    const edit = may("sys:role:update") && make("button", { type: "button", class: "quiet lined", t: "roles.edit", click: () => attempt(() => editRole(chosen)) });
    const menus = may("sys:role:assign") && make("button", { type: "button", class: "quiet lined", t: "menus.title", click: () => leave(() => editMenus(chosen, true, () => choose(chosen))) });
    const remove = may("sys:role:delete") && make("button", { type: "button", class: "quiet lined danger", t: "roles.delete", click: () => deleteRole(chosen) });
    const scope = make("p", { class: "muted scope" }, make("span", { t: "roles.scope" }), ": ", make("span", { t: `scope.${chosen.dataScope}` }));
    side.replaceChildren(
      make("div", { class: "title" }, make("div", {}, make("h2", {}, chosen.name), scope), make("div", { class: "acts" }, edit, menus, remove)),
      ...(everything ? [make("p", { class: "notice", t: "roles.root" })] : [make("div", { class: "tools" }, make("div", { class: "search" }, search), extra), groups, make("div", { class: "save-line" }, count, may("sys:role:assign") && save)]),
    );
    if (!everything) show();
  }

  /** @param {RoleRow} chosen */
  function review(chosen) {
    const { plus, minus } = changes();
    formDialog({
      title: "roles.review.title",
      given: { name: chosen.name },
      content: [
        make("p", { class: "muted", t: "roles.review.text" }),
        make("ul", { class: "diff", tabindex: 0 }, plus.map((perm) => make("li", { class: "plus" }, `+ ${perm}`)), minus.map((perm) => make("li", { class: "minus" }, `− ${perm}`))),
      ],
      submit: async () => {
        await ask("PUT", `roles/${chosen.id}/perms`, { perms: [...state.wanted] });
        succeed("roles.saved");
        await choose(chosen);
      },
    });
  }

  /** @param {Then} show */
  function newPerm(show) {
    const perm = control("roles.newperm.name", { maxlength: 128, required: true, spellcheck: "false", autocapitalize: "none" });
    formDialog({
      title: "roles.newperm",
      act: "roles.newperm.act",
      content: [make("p", { class: "muted", t: "roles.newperm.text" }), perm.box],
      submit: async () => {
        const name = perm.input.value.trim();
        if (!/^[^\s:]+(:[^\s:]+){2,}$/.test(name)) throw new Error(word("roles.newperm.bad"));
        state.known = [...new Set([...state.known, name])].sort();
        state.wanted.add(name);
        show();
      },
    });
  }

  /** @param {Partial<RoleRow>} role @param {(values: RoleBody & { code: string }) => Promise<unknown>} submit */
  async function roleForm(role, submit) {
    const [{ deptIds }, departments] = await Promise.all([role.id ? ask("GET", `roles/${role.id}/form`) : { deptIds: [] }, ask("GET", "depts/options")]);
    const name = control("roles.name", { value: role.name ?? "", maxlength: 64, required: true });
    const code = control("roles.code", { value: role.code ?? "", maxlength: 64, required: true, spellcheck: "false", autocapitalize: "characters", hint: "roles.code.hint" });
    const status = control("users.status", { kind: [["1", word("users.on")], ["0", word("users.off")]], value: role.status ?? 1 });
    const scope = control("roles.scope", { kind: SCOPES.map((each) => /** @type {Option} */ ([each, word(`scope.${each}`)])), value: role.dataScope ?? OWN, hint: "roles.scope.hint" });
    const chosen = choices("roles.departments", flat(departments), deptIds);
    const showChosen = () => (chosen.element.hidden = Number(scope.input.value) !== CHOSEN);
    scope.input.addEventListener("change", showChosen);
    showChosen();
    formDialog({
      title: role.id ? "roles.edit" : "roles.add",
      content: [name.box, code.box, scope.box, chosen.element, status.box],
      submit: () => submit({ name: name.input.value.trim(), code: code.input.value.trim(), status: Number(status.input.value), dataScope: Number(scope.input.value), deptIds: chosen.value }),
    });
  }

  /** @param {RoleRow} role */
  function editRole(role) {
    return roleForm(role, async (values) => {
      await ask("PUT", `roles/${role.id}`, values);
      succeed("roles.saved");
      await load(values.code);
    });
  }

  function addRole() {
    return roleForm({}, async (values) => {
      await ask("POST", "roles", values);
      succeed("roles.added");
      await load(values.code);
    });
  }

  /** @param {RoleRow} role */
  async function deleteRole(role) {
    const given = { name: role.name };
    if (!(await confirmed({ title: "roles.delete.ask", text: "roles.delete.text", act: "roles.delete", given }))) return;
    await attempt(async () => {
      await ask("DELETE", `roles/${role.id}`);
      succeed("roles.deleted");
      state.chosen = undefined;
      await load();
    });
  }

  await load();
  const add = may("sys:role:create") && make("button", { type: "button", class: "button", t: "roles.add", click: () => attempt(addRole) });
  return [make("div", { class: "title" }, make("h1", { t: "part.roles" }), add), make("div", { class: "two" }, make("div", { class: "panel" }, list), side)];
}

/** A tree of departments as choices, in its order.
 * @param {OptionData[]} tree @returns {OptionData[]} */
function flat(tree) {
  return tree.flatMap(({ value, label, children = [] }) => [{ value, label }, ...flat(children)]);
}

/** By the first two segments: `sys:user:list` is `list` under `sys:user`.
 * @param {string[]} perms */
function grouped(perms) {
  return [...Map.groupBy(perms, (perm) => perm.split(":").slice(0, 2).join(":"))];
}

/** @param {string} about @param {string[]} perms @param {RolesState} state @param {boolean} mayAssign @param {Then} show */
function group(about, perms, { perms: held, wanted }, mayAssign, show) {
  const all = perms.every((perm) => wanted.has(perm));
  const toggle = mayAssign && make("button", { type: "button", class: "quiet", t: all ? "roles.noneof" : "roles.allof", click: () => {
    for (const perm of perms) all ? wanted.delete(perm) : wanted.add(perm);
    show();
  } });
  const boxes = perms.map((perm) => {
    const kind = wanted.has(perm) === held.has(perm) ? null : wanted.has(perm) ? "plus" : "minus";
    const box = make("input", { type: "checkbox", checked: wanted.has(perm), disabled: !mayAssign, id: `perm-${perm}`, change: () => {
      wanted.has(perm) ? wanted.delete(perm) : wanted.add(perm);
      show();
      document.getElementById(`perm-${perm}`)?.focus();
    } });
    return make("label", { class: kind }, box, make("span", {}, perm.split(":").slice(2).join(":")));
  });
  return make("fieldset", { class: "perm-group" }, make("legend", {}, about, toggle), boxes);
}

// One user: the form to add or change it.

import { accessButtons, firstLink } from "./admin-user-access.js";
import { attempt, choices, control, formDialog } from "./admin-forms.js";
import { confirmed, open } from "./dialog.js";
import { make } from "./dom.js";
import { succeed } from "./toast.js";
import { ask } from "./tokens.js";
import { word } from "./words.js";

/** The choices of a form. A reader who may not list departments or roles cannot change them. */
async function options() {
  /** @param {Failure} failure @returns {never[]} */
  const none = (failure) => {
    if (failure.status === 403) return [];
    throw failure;
  };
  const [roles, departments, every] = await Promise.all([
    ask("GET", "roles/options").catch(none),
    ask("GET", "depts/options").catch(none),
    ask("GET", "roles?pageNum=1&pageSize=1000").then(({ list }) => list, none),
  ]);
  return { roles, departments: flat(departments), names: new Map(every.map(({ id, name }) => [id, name])) };
}

/** @param {OptionData[]} tree @returns {Option[]} */
function flat(tree, depth = 0) {
  return tree.flatMap(({ value, label, children }) => [[value, `${"  ".repeat(depth)}${label}`], ...flat(children ?? [], depth + 1)]);
}

/** @param {Partial<UserForm>} user @param {Awaited<ReturnType<typeof options>>} chosen @param {DecidedRoleData[]} [decided] */
function fieldsOf(user, { roles, departments, names }, decided = []) {
  const username = control("username", { value: user.username ?? "", maxlength: 64, required: true, spellcheck: "false", autocapitalize: "none" });
  const nickname = control("profile.nickname", { value: user.nickname ?? "", maxlength: 64 });
  const department = control("account.department", { kind: departments, value: user.deptId ?? departments[0]?.[0] });
  const email = control("users.email", { kind: "email", value: user.email ?? "", maxlength: 254 });
  const mobile = control("users.mobile", { value: user.mobile ?? "", maxlength: 32, inputmode: "tel" });
  const status = control("users.status", { kind: [["1", word("users.on")], ["0", word("users.off")]], value: user.status ?? 1 });
  const held = choices("users.roles", known(roles, user.roleIds ?? [], names).map((role) => decidedBy(role, decided)), user.roleIds ?? []);
  return {
    content: [
      make("div", { class: "pair" }, username.box, nickname.box, departments.length > 0 && department.box, status.box, email.box, mobile.box),
      held.element,
    ],
    get value() {
      return {
        username: username.input.value.trim(),
        nickname: nickname.input.value.trim() || username.input.value.trim(),
        ...(departments.length ? { deptId: department.input.value } : {}),
        email: email.input.value.trim(),
        mobile: mobile.input.value.trim(),
        status: Number(status.input.value),
        roleIds: held.value,
      };
    },
  };
}

/** Roles that the user holds and the reader may not grant are shown, and kept as they are.
 * @param {OptionData[]} roles @param {string[]} held @param {Map<string, string>} names */
function known(roles, held, names) {
  const there = new Set(roles.map(({ value }) => value));
  return [...roles, ...held.filter((id) => !there.has(id)).map((id) => ({ value: id, label: names.get(id) ?? `#${id}`, fixed: true }))];
}

/** A directory or provider gives and takes some roles by itself: they are marked, and left to it.
 * @param {Choice} role @param {DecidedRoleData[]} decided @returns {Choice} */
function decidedBy(role, decided) {
  const by = decided.find(({ roleId }) => roleId === role.value);
  return by ? { ...role, label: word("users.role.by", { role: role.label, source: by.title }), fixed: true } : role;
}

/** @param {Context} context @param {Then} then */
export async function addUser(context, then) {
  await attempt(async () => {
    const form = fieldsOf({}, await options());
    const mayReset = context.may("sys:user:reset-password");
    const password = mayReset ? control("users.password.first", { kind: "password", autocomplete: "new-password" }) : null;
    formDialog({
      title: "users.add",
      wide: true,
      content: [form.content, password?.box],
      submit: async () => {
        const value = form.value;
        // With its password or not at all.
        const given = password?.input.value;
        await ask("POST", "users", given ? { ...value, firstPassword: given } : value);
        succeed("users.added", { name: value.username });
        if (mayReset && !given) await attempt(() => firstLink(value.username));
        await then();
      },
    });
  });
}

/** @param {string} id @param {Context} context @param {Then} then */
export async function editUser(id, context, then) {
  const { may } = context;
  /** @type {HTMLDialogElement} */
  let dialog;
  await attempt(async () => {
    const [user, chosen, { decidedRoles }] = await Promise.all([ask("GET", `users/${id}/form`), options(), ask("GET", `users/${id}/identities`)]);
    const form = fieldsOf(user, chosen, decidedRoles);
    const gone = () => {
      dialog.close();
      return then();
    };
    const remove = may("sys:user:delete") && user.username !== context.username && make("button", { type: "button", class: "quiet lined danger", t: "users.delete", click: () => deleteUsers([id], gone, user.username) });
    const access = make("div", { class: "tools" }, accessButtons(user, context), remove);
    if (!may("sys:user:update")) {
      dialog = open("users.see", { name: user.username }, form.content, access);
      return;
    }
    dialog = formDialog({
      title: "users.edit",
      given: { name: user.username },
      wide: true,
      content: [form.content, access],
      submit: async () => {
        await ask("PUT", `users/${id}`, { ...user, ...form.value });
        succeed("users.saved");
        await then();
      },
    });
  });
}

/** Ask first; a single one by its name.
 * @param {string[]} ids @param {Then} then @param {string} [name] */
export async function deleteUsers(ids, then, name) {
  const given = { count: ids.length, name };
  if (!(await confirmed({ title: name ? "users.delete.one" : "users.delete.ask", text: "users.delete.text", act: "users.delete.act", given }))) return;
  if (await attempt(() => ask("DELETE", `users/${ids.join(",")}`))) {
    succeed("users.deleted", given);
    await then();
  }
}

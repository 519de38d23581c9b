// The profile: who this is, and what they may do.

import { ROOT } from "./urls.js";
import { editProfile } from "./account-profile-edit.js";
import { ask } from "./tokens.js";
import { say } from "./words.js";

// Any of these opens a part of the administration.
const ADMIN_PERMS = /^sys:(user|role|dept|session|log|config):list$/;

// As `auth/perms.py` has them.
/** @type {Record<string, string>} */
const CURRENT_ACTIONS = { query: "list", add: "create", edit: "update", reset: "reset-password", reset_pwd: "reset-password" };

/** @type {At} */
const at = (id) => document.getElementById(id);

/** @type {ProfileData | null} */
let profile = null;

/** @param {OnFailure} report */
export function prepareProfile(report) {
  at("edit-profile").addEventListener("click", () => profile && editProfile(profile, loadProfile, report));
}

export async function loadProfile() {
  const [user, own] = await Promise.all([ask("GET", "users/me"), ownProfile()]);
  profile = own;
  at("nickname").textContent = user.nickname;
  at("name").textContent = user.username;
  /** @type {HTMLInputElement} */ (at("whose")).value = user.username;
  at("userid").textContent = String(user.userId);
  at("department").textContent = own?.deptName || String(user.deptId);
  at("edit-profile").hidden = !own;
  at("to-admin").hidden = !at("to-admin").hasAttribute("href") || !user.perms.some((perm) => ADMIN_PERMS.test(perm));
  showAvatar(user);
  at("roles").replaceChildren(...chips(user.roles));
  const perms = [...new Set(user.perms.map(current))].sort();
  at("perms").replaceChildren(...groups(perms));
  at("perms-count").textContent = String(perms.length);
  at("nickname").closest("section")?.removeAttribute("aria-busy");
}

/** With names in place of numbers; a service that answers no console has none. */
async function ownProfile() {
  try {
    return await ask("GET", "users/profile");
  } catch (failure) {
    if (failure.code === "C0113") return null;
    throw failure;
  }
}

/** A picture from elsewhere would tell that host who looks: only our own are shown, else the first letter.
 * @param {UserData} user */
function showAvatar({ avatar, nickname, username }) {
  at("initial").textContent = [...(nickname || username)][0].toLocaleUpperCase();
  const url = new URL(avatar, ROOT);
  // The neutral picture says less than a letter.
  const own = url.origin === ROOT.origin && url.pathname !== new URL("avatar.svg", ROOT).pathname;
  const shown = own || url.protocol === "data:";
  if (shown) at("avatar").src = url.href;
  at("avatar").hidden = !shown;
}

/** @param {string[]} texts */
function chips(texts) {
  if (texts.length) return texts.map((text) => element("li", text));
  const none = element("li");
  say(none, "account.none");
  return [none];
}

/** A perm of Gatehouse may have older names, for older consoles; it is one perm all the same.
 * @param {string} perm */
function current(perm) {
  const [, about, action] = perm.match(/^(sys:.*:)(\w+)$/) ?? [];
  return action in CURRENT_ACTIONS ? about + CURRENT_ACTIONS[action] : perm;
}

/** Perms by what they are about: `sys:user:create` is `create` under `sys:user`.
 * @param {string[]} perms */
function groups(perms) {
  const grouped = new Map();
  for (const perm of perms) {
    const [area, thing, ...action] = perm.split(":");
    const about = `${area}:${thing}`;
    grouped.set(about, [...(grouped.get(about) ?? []), action.join(":")]);
  }
  return [...grouped].map(([about, actions]) => {
    const list = element("ul");
    list.className = "chips";
    list.replaceChildren(...chips(actions));
    const group = element("div");
    const listed = element("dd");
    listed.append(list);
    group.append(element("dt", about), listed);
    return group;
  });
}

/** @param {string} name */
function element(name, text = "") {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

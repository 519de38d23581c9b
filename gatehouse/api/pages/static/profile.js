// The profile: who this is, and what they may do.

import { ROOT } from "./place.js";
import { ask } from "./tokens.js";
import { say } from "./words.js";

const at = (id) => document.getElementById(id);

export async function loadProfile() {
  const user = await ask("GET", "users/me");
  at("nickname").textContent = user.nickname;
  at("name").textContent = user.username;
  at("whose").value = user.username;
  at("userid").textContent = user.userId;
  at("department").textContent = user.deptId;
  showAvatar(user);
  at("roles").replaceChildren(...chips(user.roles));
  at("perms").replaceChildren(...groups(user.perms));
  at("perms-count").textContent = user.perms.length;
  at("nickname").closest("section").removeAttribute("aria-busy");
}

/** A picture from elsewhere would tell that host who looks: only our own are shown, else the first letter. */
function showAvatar({ avatar, nickname, username }) {
  at("initial").textContent = [...(nickname || username)][0].toLocaleUpperCase();
  const url = new URL(avatar, ROOT);
  // The neutral picture says less than a letter.
  const own = url.origin === ROOT.origin && url.pathname !== new URL("avatar.svg", ROOT).pathname;
  if (!own && url.protocol !== "data:") return;
  at("avatar").src = url;
  at("avatar").hidden = false;
}

function chips(texts) {
  if (texts.length) return texts.map((text) => element("li", text));
  const none = element("li");
  say(none, "account.none");
  return [none];
}

/** Perms by what they are about: `sys:user:add` is `add` under `sys:user`. */
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
    group.append(element("dt", about), element("dd"));
    group.lastChild.append(list);
    return group;
  });
}

function element(name, text = "") {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

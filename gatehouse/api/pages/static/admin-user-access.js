// How one user gets in: the password, a link to set it, the second factor, the live sessions.

import { attempt, control, formDialog } from "./admin-forms.js";
import { endOne } from "./admin-sessions.js";
import { copyButton } from "./copy.js";
import { confirmed, open } from "./dialog.js";
import { make } from "./dom.js";
import { ago, date, device } from "./times.js";
import { succeed } from "./toast.js";
import { ask } from "./tokens.js";
import { say, word } from "./words.js";

/** The buttons in the form of a user that open all this, as far as the reader may.
 * @param {UserForm} user @param {Context} context */
export function accessButtons(user, context) {
  const { may, username } = context;
  /** @param {boolean} allowed @param {string} words @param {Then} click */
  const button = (allowed, words, click) => allowed && make("button", { type: "button", class: "quiet lined", t: words, click });
  const own = user.username === username;
  const mayReset = may("sys:user:reset-password") && !own;
  return [
    own && make("a", { class: "quiet lined", href: "account", t: "docs.account" }), // what changes there takes the current password
    button(mayReset, "users.reset", () => resetPassword(user)),
    button(mayReset, "users.link", () => showLink(user)),
    button(true, "factor.title", () => showFactor(user, mayReset)),
    button(may("sys:session:list") || may("sys:user:list"), "users.sessions", () => showSessions(user, may)),
    button(may("sys:source:list") || may("sys:user:update"), "users.identities", async () => (await import("./admin-user-identities.js")).showIdentities(user, context)),
  ].filter(Boolean);
}

/** A new user without a password gets a link to set one, which is shown to be handed over.
 * @param {string} username */
export async function firstLink(username) {
  const { list } = await ask("GET", `users?pageNum=1&pageSize=50&keywords=${encodeURIComponent(username)}`);
  const user = list.find((each) => each.username === username);
  if (user) setTimeout(() => showLink(user));
}

/** @param {Person} user */
function resetPassword(user) {
  const password = control("change.new", { kind: "password", autocomplete: "new-password", required: true });
  formDialog({
    title: "users.reset.title",
    given: { name: user.username },
    act: "users.reset",
    content: [make("p", { class: "muted", t: "users.reset.text" }), password.box],
    submit: async () => {
      await ask("PUT", `users/${user.id}/password`, { password: password.input.value });
      succeed("users.reset.done", { name: user.username });
    },
  });
}

/** @param {Person} user */
async function showLink(user) {
  await attempt(async () => {
    const { url, expiresAt } = await ask("POST", `users/${user.id}/password-link`);
    const given = { name: user.username, time: date(expiresAt) };
    const about = make("p", { class: "muted" });
    say(about, "users.link.text", given);
    const link = control("users.link.url", { value: url, readonly: true });
    link.input.addEventListener("focus", () => link.input.select());
    const close = make("button", { type: "button", class: "quiet lined", t: "dialog.close", click: () => dialog.close() });
    const dialog = open("users.link.title", given, about, link.box, make("div", { class: "acts" }, close, copyButton(url, { kind: "button" })));
    link.input.focus();
  });
}

/** @param {Person} user @param {boolean} mayReset */
async function showFactor(user, mayReset) {
  await attempt(async () => {
    const { totp, passkeys, recoveryCodesLeft, passwordLogin } = await ask("GET", `users/${user.id}/second-factor`);
    const given = { name: user.username };
    const app = make("li");
    say(app, totp ? "users.factor.app" : "users.factor.noapp", { count: recoveryCodesLeft });
    const lines = [app, ...passkeys.map(passkeyLine), passkeys.length === 0 && make("li", { t: "users.factor.nopasskey" }), !passwordLogin && make("li", { t: "users.factor.nopassword" })];
    const close = make("button", { type: "button", class: "quiet lined", t: "dialog.close", click: () => dialog.close() });
    const remove = mayReset && (totp || passkeys.length > 0) && make("button", { type: "button", class: "quiet lined danger", t: "users.factor.reset", click: async () => {
      if (!(await confirmed({ title: "users.factor.ask", text: "users.factor.ask.text", act: "users.factor.reset", given }))) return;
      const done = await attempt(() => ask("DELETE", `users/${user.id}/second-factor`));
      if (done) succeed("users.factor.done", given);
      dialog.close();
    } });
    const dialog = open("users.factor.of", given, make("ul", { class: "small-rows" }, lines), make("div", { class: "acts" }, remove, close));
  });
}

/** @param {PasskeyData} passkey */
function passkeyLine({ name, lastUsed }) {
  const used = lastUsed ? word("factor.passkey.used", { time: ago(lastUsed) ?? word("audit.now") }) : word("factor.passkey.unused");
  return make("li", {}, `${word("users.factor.passkey", { name })} · ${used}`);
}

/** @param {Person} user @param {May} may */
async function showSessions(user, may) {
  const list = make("ul", { class: "small-rows" });
  const mayEnd = may("sys:session:delete") || may("sys:user:update");
  const all = mayEnd && make("button", { type: "button", class: "quiet lined danger", t: "sessions.endall", click: () => endAll() });
  const load = async () => {
    const { sessions } = await ask("GET", `sessions?userId=${user.id}`);
    if (all) all.disabled = sessions.length === 0;
    list.replaceChildren(...(sessions.length ? sessions.map(line) : [make("li", { t: "sessions.none" })]));
  };
  /** @param {LiveSessionData} session */
  const line = (session) =>
    make(
      "li",
      {},
      make("span", {}, `${device(session.browser)} · ${session.address} · ${ago(session.refreshedAt) ?? word("audit.now")}`),
      mayEnd && !session.current && make("button", { type: "button", class: "quiet danger", t: "sessions.end", click: () => endOne(session, load) }),
    );
  const endAll = async () => {
    const given = { name: user.username };
    if (!(await confirmed({ title: "sessions.endall.ask", text: "sessions.endall.text", act: "sessions.endall", given }))) return;
    await attempt(async () => {
      const { ended } = await ask("DELETE", `users/${user.id}/sessions`);
      succeed("sessions.ended", { count: ended });
    });
    await load();
  };
  await attempt(async () => {
    await load();
    const close = make("button", { type: "button", class: "quiet lined", t: "dialog.close", click: () => dialog.close() });
    const dialog = open("users.sessions.of", { name: user.username }, list, make("div", { class: "acts" }, all, close));
  });
}

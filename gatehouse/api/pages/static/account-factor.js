// The second factor on the account page: authenticator app, recovery codes, passkeys. Each change asks for a fresh proof.

import { confirmed, dialogForm, open } from "./dialog.js";
import { make } from "./dom.js";
import { busy } from "./fields.js";
import { able, byName, dismissed, prove, register } from "./passkey.js";
import { ago } from "./times.js";
import { succeed } from "./toast.js";
import { ask } from "./tokens.js";
import { enrol, showCodes } from "./totp.js";
import { onLanguage, say, word } from "./words.js";

const card = document.getElementById("factor");
const body = document.getElementById("factor-body");

/** @type {SecondFactorData} */
let status;

export async function loadFactor() {
  status = await ask("GET", "users/me/second-factor");
  show();
}

/** Where the password is kept: `here`, in a `directory`, or nowhere: `none`. */
export const passwordPlace = () => status?.password;

export function prepareFactor() {
  onLanguage(() => status && show());
}

function show() {
  /** @param {string} words @param {Then} click */
  const act = (words, click, kind = "quiet lined") => make("button", { type: "button", class: kind, t: words, click });
  const left = make("span", { class: "muted" });
  say(left, status.totp ? "factor.app.on" : "factor.app.off", { count: status.recoveryCodesLeft });
  say(document.getElementById("factor-about"), status.totp || !status.passwordLogin ? "factor.about.on" : "factor.about.off");
  body.replaceChildren(
    make("div", { class: "line" }, make("div", {}, make("strong", { t: "factor.app" }), left),
      make("div", { class: "acts" }, ...(status.totp ? [act("factor.codes", newCodes), act("factor.app.remove", removeApp, "quiet lined danger")] : [act("factor.app.add", addApp)]))),
    make("div", { class: "line" }, make("div", {}, make("strong", { t: "factor.passkeys" }), passkeyHint()),
      make("div", { class: "acts" }, able && act("factor.passkeys.add", addPasskey))),
    make("ul", { class: "rows" }, status.passkeys.map(passkeyRow)),
    ...(status.passkeys.length || !status.passwordLogin ? [passwordLine(act)] : []),
  );
  card.removeAttribute("aria-busy");
}

/** What passkeys are for; where this address has none, why, and where there are some. */
function passkeyHint() {
  if (able || !byName) return make("span", { class: "muted", t: able ? "factor.passkeys.about" : "factor.passkeys.unable" });
  return make("span", { class: "muted" }, make("span", { t: "factor.passkeys.address" }), " ", make("a", { href: byName.href }, byName.host));
}

/** With a passkey the login by password can be switched off.
 * @param {(words: string, click: Then, kind: string) => HTMLElement} act */
function passwordLine(act) {
  const on = status.passwordLogin;
  return make("div", { class: "line" }, make("div", {}, make("strong", { t: "factor.password" }), make("span", { class: "muted", t: on ? "factor.password.on" : "factor.password.off" })),
    act(on ? "factor.password.end" : "factor.password.begin", () => setPasswordLogin(!on), on ? "quiet lined danger" : "quiet lined"));
}

/** @param {boolean} enabled */
async function setPasswordLogin(enabled) {
  if (!enabled && !(await confirmed({ title: "factor.password.ask", text: "factor.password.ask.text", act: "factor.password.end" }))) return;
  withProof({ title: enabled ? "factor.password.begin" : "factor.password.end" }, async (proof) => {
    await ask("PUT", "users/me/password-login", { enabled, ...proof });
    succeed(enabled ? "factor.password.begun" : "factor.password.ended");
    await loadFactor();
  });
}

/** @param {PasskeyData} passkey */
function passkeyRow(passkey) {
  const used = passkey.lastUsed ? word("factor.passkey.used", { time: ago(passkey.lastUsed) ?? word("audit.now") }) : word("factor.passkey.unused");
  const remove = make("button", { type: "button", class: "quiet lined danger", t: "factor.passkey.remove", "aria-label": `${word("factor.passkey.remove")}: ${passkey.name}`, click: () => removePasskey(passkey) });
  return make("li", { class: "line" }, make("div", {}, make("strong", {}, passkey.name), make("span", { class: "muted" }, used)), remove);
}

/** Ask for the password, with a code where an app is on, or for a passkey where that is the only factor; who has no password
 * has logged in minutes ago. `work` is done with it.
 * @param {{ title: string, withPasskey?: boolean, named?: boolean }} how @param {(proof: any, name: string) => Promise<unknown>} work */
export function withProof({ title, withPasskey = true, named = false }, work) {
  const without = status.password === "none"; // known by a company account alone
  const passkeyOnly = !status.totp && status.passkeys.length > 0;
  const password = passkeyOnly || without ? null : field("change.current", { type: "password", autocomplete: "current-password", id: "proof-password" });
  const code = status.totp ? field("totp.code", { inputmode: "numeric", autocomplete: "one-time-code", id: "proof-code", maxlength: 32 }) : null;
  const name = named ? field("factor.passkey.name", { id: "proof-name", maxlength: 64, value: word("factor.passkey.default") }) : null;
  const message = make("p", { class: "message", role: "alert" });
  const submit = make("button", { class: "button", t: passkeyOnly ? "proof.passkey" : "proof.go" });
  const byPasskey = () => go(async () => ({ credential: await prove() }));
  const instead = withPasskey && able && !passkeyOnly && status.passkeys.length > 0 && make("button", { type: "button", class: "quiet lined", t: "proof.passkey", click: byPasskey });
  const cancel = make("button", { type: "button", class: "quiet lined", t: "dialog.cancel", click: () => dialog.close() });
  const form = dialogForm([make("p", { class: "muted", t: without && !passkeyOnly ? "proof.recent" : "proof.why" }), name?.box, password?.box, code?.box], message, cancel, instead, (able || !passkeyOnly) && submit);
  const dialog = open(title, {}, form);
  ((name ?? password ?? code)?.input ?? submit).focus();
  if (passkeyOnly && !able) say(message, "factor.passkeys.unable");
  /** @param {() => Promise<any>} proof */
  const go = async (proof) => {
    if (submit.getAttribute("aria-disabled") === "true") return;
    busy(submit, true);
    say(message, "");
    /** @type {{ currentPassword?: string }} */
    let given = {};
    try {
      given = await proof();
      await work(given, name ? name.input.value.trim() : "");
      dialog.close();
    } catch (problem) {
      busy(submit, false);
      if (dismissed(problem)) return;
      message.textContent = problem.code === "A0210" && given.currentPassword ? word("change.wrong") : problem.message || word("unforeseen");
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (passkeyOnly) return void byPasskey();
    if (password && !password.input.value) {
      say(message, "needed.current");
      password.input.focus();
      return;
    }
    go(async () => ({ ...(password ? { currentPassword: password.input.value } : {}), ...(code ? { code: code.input.value.replace(/\s/g, "") } : {}) }));
  });
}

/** @param {string} words @param {Attributes} attributes */
function field(words, attributes) {
  const input = make("input", { class: "input", autocomplete: "off", ...attributes });
  return { input, box: make("div", { class: "field" }, make("label", { for: attributes.id, t: words }), input) };
}

function addApp() {
  withProof({ title: "factor.app.add" }, async (proof) => {
    const fresh = await ask("POST", "users/me/totp", proof);
    // After the dialog of the proof has gone.
    setTimeout(() => enrol(fresh, (code) => ask("PUT", "users/me/totp", { code }), () => {
      succeed("factor.app.added");
      return loadFactor();
    }));
  });
}

function removeApp() {
  withProof({ title: "factor.app.remove", withPasskey: false }, async (proof) => {
    await ask("DELETE", "users/me/totp", proof);
    succeed("factor.app.removed");
    await loadFactor();
  });
}

function newCodes() {
  withProof({ title: "factor.codes", withPasskey: false }, async (proof) => {
    const { recoveryCodes } = await ask("POST", "users/me/recovery-codes", proof);
    setTimeout(() => showCodes(recoveryCodes, loadFactor));
  });
}

function addPasskey() {
  withProof({ title: "factor.passkeys.add", named: true }, async (proof, name) => {
    const { publicKey } = await ask("POST", "users/me/passkeys/options", proof);
    const credential = await register(publicKey);
    await ask("POST", "users/me/passkeys", { credential, name });
    succeed("factor.passkey.added");
    await loadFactor();
  });
}

/** @param {PasskeyData} passkey */
async function removePasskey(passkey) {
  const given = { name: passkey.name };
  if (!(await confirmed({ title: "factor.passkey.ask", text: "factor.passkey.ask.text", act: "factor.passkey.remove", given }))) return;
  withProof({ title: "factor.passkey.remove" }, async (proof) => {
    await ask("DELETE", `users/me/passkeys/${passkey.id}`, proof);
    succeed("factor.passkey.removed");
    await loadFactor();
  });
}

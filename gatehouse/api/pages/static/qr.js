// On the phone: which browser asks to be logged in, and yes or no. The ticket is in the fragment or the query.

import { call } from "./api.js";
import { make } from "./dom.js";
import { able, dismissed, prove } from "./passkey.js";
import { ROOT } from "./urls.js";
import { date, device } from "./times.js";
import { ask, enter, held } from "./tokens.js";
import { known, say } from "./words.js";
import "./preferences.js";

const main = document.getElementById("ask");
const ticket = new URLSearchParams(location.search).get("ticket") ?? decodeURIComponent(location.hash.slice(1));

/** @param {string} title @param {string | null} text @param {Child[]} more */
function show(title, text, ...more) {
  main.replaceChildren(make("h1", { t: title }), ...[text && make("p", { class: "muted", t: text }), ...more].filter((part) => part instanceof Node));
}

/** Without a session here: a passkey, or the login page and then the code once more. */
function whoAreYou() {
  const passkey = able && make("button", { type: "button", class: "button", t: "login.passkey", click: byPasskey });
  const login = make("a", { class: "quiet lined", href: ROOT.href, t: "qr.login" });
  show("qr.who", "qr.who.text", passkey, login);
}

async function byPasskey() {
  try {
    const credential = await prove();
    enter(await call("POST", "auth/passkey", { body: { credential } }), false);
    await question();
  } catch (problem) {
    if (!dismissed(problem)) failed(problem);
  }
}

async function question() {
  try {
    const { browser, address, askedAt } = await ask("POST", "auth/qr-code/scan", { ticket });
    /** @param {string} words @param {string} value */
    const fact = (words, value) => make("div", {}, make("dt", { t: words }), make("dd", {}, value));
    const facts = make("dl", { class: "facts" }, fact("qr.browser", device(browser)), fact("qr.address", address), fact("qr.since", date(askedAt)));
    show("qr.title", "qr.text", facts,
      make("button", { type: "button", class: "button", t: "qr.confirm", click: () => answer("confirm", "qr.done", "qr.done.text") }),
      make("button", { type: "button", class: "quiet lined danger", t: "qr.refuse", click: () => answer("refuse", "qr.refused", "qr.refused.text") }));
  } catch (failure) {
    failed(failure);
  }
}

/** @param {"confirm" | "refuse"} which @param {string} title @param {string} text */
async function answer(which, title, text) {
  try {
    await ask("POST", `auth/qr-code/${which}`, { ticket });
    show(title, text, account());
  } catch (failure) {
    failed(failure);
  }
}

const account = () => make("a", { class: "quiet lined", href: new URL("account", ROOT).href, t: "docs.account" });

/** @param {Failure} failure */
function failed(failure) {
  if (failure.code === "A0230") return whoAreYou();
  if (failure.code === "A0242") return show("qr.gone", "qr.gone.text");
  const text = make("p", { class: "notice bad", role: "alert" });
  if (failure.wait) text.textContent = failure.message; // the service says for how long
  else say(text, known(failure.code) ? failure.code : "unforeseen");
  return show("qr.title", null, text);
}

// Another code, opened in this tab, can differ in nothing but the fragment.
addEventListener("hashchange", () => location.reload());
if (!ticket) show("qr.gone", "qr.gone.text");
else if (held()) question();
else whoAreYou();

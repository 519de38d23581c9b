// The page behind a link to set a password. The ticket is in the fragment, which browsers do not send to servers.

import { call } from "./api.js";
import { busy, clear, complainInWords, complete, countDown, prepare } from "./fields.js";
import { ROOT } from "./urls.js";
import { known, say } from "./words.js";
import "./preferences.js";

const form = document.getElementById("form");
const { username, fresh } = form.elements;
const submit = document.getElementById("submit");
const label = document.getElementById("submit-text");
const note = document.getElementById("form-message");
const about = document.getElementById("whose");

const ticket = location.hash.slice(1);
// Neither the address line nor the browser's history keeps it.
history.replaceState(null, "", location.pathname);

/** The last word of this page: done, or the link is void.
 * @param {string} title @param {string} text */
function end(title, text, { login = false } = {}) {
  say(/** @type {HTMLElement} */ (document.querySelector("h1")), title);
  say(about, text);
  form.hidden = true;
  const link = document.getElementById("to-login");
  link.href = ROOT.href;
  link.hidden = !login;
  if (login) link.focus();
}

async function begin() {
  if (!ticket) return end("setpass.gone", "setpass.gone.text");
  try {
    const owner = await call("POST", "auth/password-link", { body: { ticket } });
    username.value = owner.username;
    say(about, "setpass.text", { name: owner.username });
    form.hidden = false;
    fresh.focus();
  } catch (failure) {
    explain(failure);
  }
}

/** @param {SubmitEvent} event */
async function set(event) {
  event.preventDefault();
  if (submit.getAttribute("aria-disabled") === "true") return;
  clear(fresh);
  say(note, "");
  if (!complete([fresh, "needed.new"])) return;
  busy(submit, true);
  try {
    await call("PUT", "auth/password-link", { body: { ticket, newPassword: fresh.value } });
    form.reset();
    end("setpass.done", "setpass.done.text", { login: true });
  } catch (failure) {
    busy(submit, false);
    explain(failure);
  }
}

/** @param {Failure} failure */
function explain(failure) {
  if (failure.code === "A0242") return end("setpass.gone", "setpass.gone.text");
  if (failure.code === "A0421") {
    complainInWords(fresh, failure.message);
    return fresh.select();
  }
  say(form.hidden ? about : note, known(failure.code) ? failure.code : "unforeseen");
  if (failure.wait) countDown(submit, label, failure.wait, "login.wait", () => say(note, ""));
}

// Another link, opened in this tab, changes nothing but the fragment.
addEventListener("hashchange", () => location.hash && location.reload());
prepare(form);
form.addEventListener("submit", set);
begin();

// Changing one's own password.

import { busy, clear, complain, complainInWords, complete, countDown, prepare } from "./fields.js";
import { loadSessions } from "./account-sessions.js";
import { succeed } from "./toast.js";
import { ask } from "./tokens.js";
import { known, say } from "./words.js";

const form = document.getElementById("change");
const { current, fresh } = form.elements;
const submit = document.getElementById("change-submit");
const label = document.getElementById("change-text");

/** @type {OnFailure} */
let report;

/** @param {OnFailure} onFailure */
export function prepareChange(onFailure) {
  report = onFailure;
  prepare(form);
  form.addEventListener("submit", change);
}

/** A password that is not kept here is not changed here: that is said instead.
 * @param {string} place */
export function showPasswordPlace(place) {
  /** @type {Record<string, string>} */
  const elsewhere = { directory: "change.directory", none: "change.none" };
  form.hidden = place in elsewhere;
  say(document.getElementById("change-about"), elsewhere[place] ?? "change.about");
}

/** @param {SubmitEvent} event */
async function change(event) {
  event.preventDefault();
  if (submit.getAttribute("aria-disabled") === "true") return;
  clear(current, fresh);
  if (!complete([current, "needed.current"], [fresh, "needed.new"])) return;
  busy(submit, true);
  try {
    await ask("PUT", "users/me/password", { currentPassword: current.value, newPassword: fresh.value });
    form.reset();
    busy(submit, false);
    succeed("change.done");
    await loadSessions();
  } catch (failure) {
    busy(submit, false);
    explain(failure);
  }
}

/** @param {Failure} failure */
function explain(failure) {
  if (failure.code === "A0210") {
    complain(current, "change.wrong");
    current.select();
  } else if (failure.code === "A0421") {
    complainInWords(fresh, failure.message);
    fresh.select();
  } else if (failure.wait) {
    complain(current, known(failure.code) ? failure.code : "unforeseen");
    countDown(submit, label, failure.wait, "login.wait", () => clear(current));
  } else {
    report(failure);
  }
}

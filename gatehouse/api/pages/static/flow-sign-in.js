// The plain sign-in page where scripts run: another picture without a new page, the eye of the password, and passkeys.

import "./captcha.js";
import { prepare } from "./fields.js";
import { able, dismissed, prove } from "./passkey.js";
import { known, say } from "./words.js";
import "./flow.js";

const form = document.getElementById("form");
const passkeyForm = document.getElementById("passkey-form");
const note = document.getElementById("form-message");
const { username, password, captchaCode } = form.elements;

/** @type {AbortController | null} */
let pending = null; // what the browser was asked for: a passkey, by the quiet offer or by the button

/** @param {{ silent: boolean }} how */
async function withPasskey({ silent }) {
  pending?.abort();
  const mine = (pending = new AbortController());
  try {
    passkeyForm.elements.credential.value = JSON.stringify(await prove({ silent, signal: mine.signal }));
    passkeyForm.submit();
  } catch (problem) {
    if (pending !== mine) return; // another has taken its place
    pending = null;
    if (!silent && !dismissed(problem)) say(note, known(problem.code) ? problem.code : "unforeseen");
    if (!silent) offerPasskeys();
  }
}

async function offerPasskeys() {
  const available = await PublicKeyCredential.isConditionalMediationAvailable?.();
  if (available && !pending) withPasskey({ silent: true });
}

prepare(form);
const wrong = form.querySelector("[aria-invalid]");
(wrong ?? [username, password, captchaCode].find((field) => !field.value))?.focus();
if (able) {
  document.getElementById("passkey-part").hidden = false;
  document.getElementById("passkey").addEventListener("click", () => withPasskey({ silent: false }));
  offerPasskeys();
}

// The login page.

import { call } from "./api.js";
import { captcha } from "./captcha.js";
import { busy, clear, complain, complete, countDown, prepare } from "./fields.js";
import { ROOT } from "./urls.js";
import { able, dismissed, prove } from "./passkey.js";
import { enter, held, onTokens, reason } from "./tokens.js";
import { enrol } from "./totp.js";
import { known, say } from "./words.js";
import "./preferences.js";

const form = document.getElementById("form");
const { username, password, code, remember } = form.elements;
const submit = document.getElementById("submit");
const label = document.getElementById("submit-text");
const note = document.getElementById("form-message");
const notice = document.getElementById("notice");

const codeField = document.getElementById("code-field");
const captchaField = document.getElementById("captcha-field");
const passkey = document.getElementById("passkey");
const company = document.getElementById("company");
// Kept while a company login is under way elsewhere.
const REMEMBER = "gatehouse.remember";

/** @type {(() => void) | null} */
let stopWaiting = null;
/** @type {AbortController | null} */
let pending = null; // what the browser was asked for: a passkey, by the quiet offer or by the button

/** Where each failure is shown. Any other goes above the button.
 * @type {Record<string, { field: HTMLInputElement, key: string }>} */
const BESIDE = {
  A0210: { field: password, key: "A0210" },
  A0211: { field: username, key: "A0211" },
  A0410: { field: captcha.input, key: "needed.captcha" },
};

/** Where an application's login goes on that has led here; never an address that is not ours. */
function next() {
  const asked = new URLSearchParams(location.search).get("next");
  const to = asked && new URL(asked.replace(/^\//, ""), ROOT).href;
  return to && to.startsWith(`${ROOT.href}oauth2/`) ? to : null;
}

const goOn = () => location.replace(next() ?? new URL("account", ROOT).href);

/** Logged in: this tab by its tokens, and this browser for applications.
 * @param {TokenData} set */
async function arrive(set) {
  enter(set, remember.checked);
  await call("POST", "auth/browser-session", { token: set.accessToken }).catch(() => {}); // the login is good without it
  goOn();
}

/** @param {SubmitEvent} event */
async function logIn(event) {
  event.preventDefault();
  if (submit.getAttribute("aria-disabled") === "true") return;
  notice.hidden = true;
  clear(username, password, captcha.input, code);
  say(note, "");
  const asked = !codeField.hidden;
  /** @type {[HTMLInputElement, string][]} */
  const needed = [[username, "needed.username"], [password, "needed.password"]];
  if (asked) needed.push([code, "needed.code"]);
  if (!complete(...needed)) return;
  busy(submit, true);
  try {
    await captcha.loading; // somebody was faster than the picture: a code is pasted, or the form filled in, at once
    const body = { username: username.value, password: password.value };
    // Sent even if empty: some people need no captcha, and the service knows who.
    // The code of a second factor goes where the picture's answer goes.
    const answer = asked ? code.value.replace(/\s/g, "") : captcha.input.value;
    if (captcha.id) Object.assign(body, { captchaId: captcha.id, captchaCode: answer });
    await arrive(await call("POST", "auth/login", { body }));
  } catch (failure) {
    busy(submit, false);
    await explain(failure);
  }
}

/** @param {Failure} failure */
async function explain(failure) {
  if (failure.code === "A0220") return failure.ticket ? mustEnrol(failure.ticket) : askForCode();
  if (failure.code === "A0210" && !codeField.hidden) {
    complain(code, "login.code.wrong");
    code.select();
    return captcha.reload();
  }
  if (failure.code === "A0240" || failure.code === "A0242") return captcha.retry(failure.code);
  const beside = BESIDE[failure.code];
  if (beside) complain(beside.field, beside.key);
  else say(note, known(failure.code) ? failure.code : "unforeseen");
  if (failure.wait) wait(failure);
  if (failure.code === "A0210") password.select();
  // A picture that was not answered is still good; any other is used up, or may be.
  if (failure.code === "A0410" && captcha.id) captcha.input.focus();
  else await captcha.reload();
}

/** Password and picture were right: the code comes next, in place of the picture. */
async function askForCode() {
  codeField.hidden = false;
  captchaField.hidden = true;
  code.value = "";
  await captcha.reload();
  code.focus();
}

/** A user who must have a second factor enrols it here, with a ticket that is good for nothing else.
 * @param {string} ticket @param {Then} [next] */
async function mustEnrol(ticket, next = askForCode) {
  try {
    const fresh = await call("POST", "auth/enrolment", { body: { ticket } });
    enrol(fresh, (given) => call("PUT", "auth/enrolment", { body: { ticket, code: given } }), () => {
      say(notice, "login.enrolled");
      notice.hidden = false;
      next();
    }, "totp.required");
  } catch (failure) {
    say(note, known(failure.code) ? failure.code : "unforeseen");
    await captcha.reload();
  }
}

/** @param {{ silent: boolean }} how */
async function withPasskey({ silent }) {
  pending?.abort();
  const mine = (pending = new AbortController());
  try {
    const credential = await prove({ silent, signal: mine.signal });
    await arrive(await call("POST", "auth/passkey", { body: { credential } }));
  } catch (problem) {
    if (pending !== mine) return; // another has taken its place
    pending = null;
    // Of the quiet offer only a passkey that was chosen and refused is worth a word.
    if ((!silent || problem.code === "A0210") && !dismissed(problem)) say(note, problem.code === "A0210" ? "login.passkey.refused" : known(problem.code) ? problem.code : "unforeseen");
    if (!silent && problem.wait) wait(problem);
    // Once used or closed, the quiet offer is made anew, but never in a circle after a failure of its own.
    if (!silent) offerPasskeys();
  }
}

async function offerPasskeys() {
  const available = await PublicKeyCredential.isConditionalMediationAvailable?.();
  if (available && !pending) withPasskey({ silent: true });
}

/** @param {Failure} failure */
function wait({ code, wait: seconds }) {
  const stop = countDown(submit, label, seconds, "login.wait", () => {
    stopWaiting = null;
    say(note, "");
    clear(username);
  });
  // This wait belongs to the name: another name need not wait.
  if (code === "A0211") stopWaiting = stop;
}

username.addEventListener("input", () => stopWaiting?.());

async function begin() {
  if (/[?&](ticket|pending|problem)=/.test(location.search)) {
    remember.checked = Boolean(sessionStorage.getItem(REMEMBER));
    const { comeBack } = await import("./login-company.js");
    if (await comeBack({ arrive, mustEnrol, wait })) return;
  }
  // Whoever is sent here by an application is to log in, whatever this tab holds.
  if (held() && !next()) return goOn();
  prepare(form);
  form.addEventListener("submit", logIn);
  const why = reason();
  if (why) {
    say(notice, `login.${why}`);
    notice.hidden = false;
  }
  onTokens(() => held() && goOn());
  captcha.reload();
  if (able) {
    document.getElementById("passkey-part").hidden = false;
    passkey.addEventListener("click", () => withPasskey({ silent: false }));
    offerPasskeys();
  }
  company.addEventListener("click", () => sessionStorage.setItem(REMEMBER, remember.checked ? "yes" : ""));
}

begin();

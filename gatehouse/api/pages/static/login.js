// The login page.

import { call } from "./api.js";
import { captcha } from "./captcha.js";
import { busy, clear, complain, complete, countDown, prepare } from "./fields.js";
import { ROOT } from "./place.js";
import { enter, held, onTokens, reason } from "./tokens.js";
import { known, say } from "./words.js";
import "./look.js";

const form = document.getElementById("form");
const { username, password, remember } = form.elements;
const submit = document.getElementById("submit");
const label = document.getElementById("submit-text");
const note = document.getElementById("form-message");
const notice = document.getElementById("notice");

let stopWaiting = null;

/** Where each failure is shown. Whatever is not here goes above the button. */
const BESIDE = {
  A0210: { field: password, key: "A0210" },
  A0211: { field: username, key: "A0211" },
  A0410: { field: captcha.input, key: "needed.captcha" },
};

const toAccount = () => location.replace(new URL("account", ROOT));

async function logIn(event) {
  event.preventDefault();
  if (submit.getAttribute("aria-disabled") === "true") return;
  notice.hidden = true;
  clear(username, password, captcha.input);
  say(note, "");
  if (!complete([username, "needed.username"], [password, "needed.password"])) return;
  busy(submit, true);
  try {
    const body = { username: username.value, password: password.value };
    // Sent even if empty: some people need no captcha, and the service knows who.
    if (captcha.id) Object.assign(body, { captchaId: captcha.id, captchaCode: captcha.input.value });
    enter(await call("POST", "auth/login", { body }), remember.checked);
    toAccount();
  } catch (failure) {
    busy(submit, false);
    await explain(failure);
  }
}

async function explain(failure) {
  if (failure.code === "A0240" || failure.code === "A0242") return captcha.retry(failure.code);
  const place = BESIDE[failure.code];
  if (place) complain(place.field, place.key);
  else say(note, known(failure.code) ? failure.code : "unforeseen");
  if (failure.wait) wait(failure);
  if (failure.code === "A0210") password.select();
  // A picture that was not answered is still good; any other is used up, or may be.
  if (failure.code === "A0410" && captcha.id) captcha.input.focus();
  else await captcha.reload();
}

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

if (held()) toAccount();
else {
  prepare(form);
  form.addEventListener("submit", logIn);
  const why = reason();
  if (why) {
    say(notice, `login.${why}`);
    notice.hidden = false;
  }
  onTokens(() => held() && toAccount());
  captcha.reload();
}

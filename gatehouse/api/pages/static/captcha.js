// The captcha: a picture that is a button, and the id that goes with it.

import { call } from "./api.js";
import { clear, complain, complainInWords } from "./fields.js";
import { known } from "./words.js";

// A picture that was left standing is about to expire: a reader who comes back gets another before typing.
const STALE = 100_000;

const button = document.getElementById("captcha-reload");
const image = document.getElementById("captcha-image");
const input = document.getElementById("captcha") ?? document.getElementById("captchaCode");
// A plain form brings a picture, and sends its id along.
const field = document.getElementById("captchaId");

let id = field?.value ?? "";
let since = id ? Date.now() : 0;
/** @type {Promise<boolean> | null} */
let loading = null;

export const captcha = { input, get id() { return id; }, get loading() { return loading; }, reload, retry };

/** A new picture; what was typed for the old one goes. */
function reload() {
  loading ??= load().finally(() => (loading = null));
  return loading;
}

async function load() {
  button.setAttribute("aria-busy", "true");
  input.value = "";
  id = "";
  try {
    const data = await call("GET", "auth/captcha");
    id = data.captchaId;
    if (field) field.value = id;
    image.src = data.captchaBase64;
    since = Date.now();
    return true;
  } catch (failure) {
    image.removeAttribute("src");
    if (failure.wait) complainInWords(input, failure.message); // the service says for how long
    else complain(input, known(failure.code) ? failure.code : "unforeseen");
    return false;
  } finally {
    button.removeAttribute("aria-busy");
  }
}

/** A new picture because of what was wrong with the old one, which is said beside it.
 * @param {string} key */
async function retry(key) {
  if (await reload()) complain(input, key);
  input.focus();
}

/** @param {Event} event */
async function byHand(event) {
  event.preventDefault();
  clear(input);
  if (await reload()) input.focus();
}

function unlessStale() {
  if (!document.hidden && !input.value && since && Date.now() - since > STALE) reload();
}

button.addEventListener("click", byHand);
input.addEventListener("focus", unlessStale);
document.addEventListener("visibilitychange", unlessStale);

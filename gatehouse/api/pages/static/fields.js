// What the forms share: messages beside fields, the eye that reveals a password, the hint about Caps Lock.

import { say } from "./words.js";

/** @param {HTMLElement} input */
const messageOf = (input) => document.getElementById(`${input.id}-message`);

/** The line under a field; with nothing to say it rests at what the page put there.
 * @param {HTMLElement} input @param {string} kind @param {string} key @param {Given} [given] */
function put(input, kind, key, given) {
  const message = messageOf(input);
  message.className = `message ${kind}`;
  say(message, key, given);
}

/** Say beside a field what is wrong with it.
 * @param {HTMLElement} input @param {string} key @param {Given} [given] */
export function complain(input, key, given) {
  put(input, "", key, given);
  input.setAttribute("aria-invalid", "true");
}

/** The same with a sentence of the service's own.
 * @param {HTMLElement} input @param {string} text */
export function complainInWords(input, text) {
  complain(input, "");
  messageOf(input).textContent = text;
}

/** @param {HTMLElement[]} inputs */
export function clear(...inputs) {
  for (const input of inputs) {
    put(input, "plain", messageOf(input).dataset.rest ?? "");
    input.removeAttribute("aria-invalid");
  }
}

/** The first of [input, key] that is empty is complained about and focused.
 * @param {[HTMLInputElement, string][]} needed */
export function complete(...needed) {
  const empty = needed.filter(([input]) => !input.value);
  for (const [input, key] of empty) complain(input, key);
  empty[0]?.[0].focus();
  return empty.length === 0;
}

/** @param {HTMLFormElement} form */
export function prepare(form) {
  for (const input of form.querySelectorAll("input[aria-describedby]")) {
    input.addEventListener("input", () => clear(input));
  }
  for (const button of form.querySelectorAll(".reveal")) prepareReveal(button);
}

/** @param {HTMLElement} button */
function prepareReveal(button) {
  const input = /** @type {HTMLInputElement} */ (document.getElementById(button.getAttribute("aria-controls") ?? ""));
  /** @param {boolean} shown */
  const show = (shown) => {
    button.setAttribute("aria-pressed", String(shown));
    input.type = shown ? "text" : "password";
  };
  button.addEventListener("click", () => {
    const { selectionStart, selectionEnd } = input;
    show(input.type === "password");
    input.focus();
    input.setSelectionRange(selectionStart, selectionEnd);
  });
  // A revealed password must not stay in the browser's memory of what was typed into text fields.
  input.form?.addEventListener("submit", () => show(false));

  const hinted = () => messageOf(input).classList.contains("hint");
  /** @param {MouseEvent | KeyboardEvent} event */
  const hint = (event) => {
    const on = event.getModifierState?.("CapsLock") ?? false;
    if (on && !input.hasAttribute("aria-invalid")) put(input, "hint", "password.capslock");
    else if (hinted()) clear(input);
  };
  input.addEventListener("keydown", hint);
  input.addEventListener("keyup", hint);
  input.addEventListener("mousedown", hint);
  input.addEventListener("blur", () => hinted() && clear(input));
}

/** A button that is at work, or has to wait; it stays where the keyboard is.
 * @param {Element} button @param {boolean} on */
export function busy(button, on) {
  button.setAttribute("aria-busy", String(on));
  button.setAttribute("aria-disabled", String(on));
}

/** Minutes and seconds.
 * @param {number} seconds */
export function clockTime(seconds) {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** Count down on a button; `done` once at the end. Returns a function that ends it early.
 * @param {Element} button @param {HTMLElement} label @param {number} seconds @param {string} key @param {Then} done */
export function countDown(button, label, seconds, key, done) {
  const until = Date.now() + seconds * 1000;
  const rest = label.dataset.t;
  const stop = () => {
    clearInterval(timer);
    button.setAttribute("aria-disabled", "false");
    say(label, rest);
    done();
  };
  const tick = () => {
    const left = Math.ceil((until - Date.now()) / 1000);
    if (left > 0) say(label, key, { time: clockTime(left) });
    else stop();
  };
  const timer = setInterval(tick, 500);
  button.setAttribute("aria-disabled", "true");
  tick();
  return stop;
}

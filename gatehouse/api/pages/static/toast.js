// A short message that something is done. It floats above the page, so nothing moves, and goes away by itself.

import { make } from "./dom.js";
import { say } from "./words.js";

const SHOWN_FOR = 6_000;

// In the page from the start: a screen reader speaks only what changes inside a region that it already knows.
const region = make("div", { class: "toasts", role: "status", popover: "manual" });
document.body.append(region);

/** Show that it worked, in words of the page; `undo` is { words, act } for what can be taken back.
 * @param {string} key @param {Given} [given] @param {Undo} [undo] */
export function succeed(key, given, undo) {
  show("good", (text) => say(text, key, given), undo);
}

/** Show a sentence of the service's own about what did not work.
 * @param {string} sentence */
export function fail(sentence) {
  show("bad", (text) => (text.textContent = sentence));
}

/** @param {string} kind @param {(text: HTMLElement) => unknown} fill @param {Undo} [undo] */
function show(kind, fill, undo) {
  const text = make("span");
  fill(text);
  const back = undo && make("button", { type: "button", class: "quiet", t: undo.words, click: () => {
    toast.remove();
    undo.act();
  } });
  /** @type {HTMLElement} */
  const toast = make("p", { class: `toast ${kind}` }, text, back);
  region.append(toast);
  // Above everything, an open dialog included: what was shown last is on top.
  if (region.matches(":popover-open")) region.hidePopover();
  region.showPopover();
  let timer = setTimeout(() => toast.remove(), SHOWN_FOR);
  // The pointer is on it: the reader is still reading.
  toast.addEventListener("pointerenter", () => clearTimeout(timer));
  toast.addEventListener("pointerleave", () => (timer = setTimeout(() => toast.remove(), SHOWN_FOR)));
}

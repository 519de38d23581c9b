// A button that copies a text.

import { make } from "./dom.js";
import { say } from "./words.js";

/** @param {string} text */
export function copyButton(text, { words = "codes.copy", kind = "quiet lined" } = {}) {
  const button = make("button", { type: "button", class: kind, t: words, click: async () => {
    await copy(text, button);
    say(button, "codes.copied");
  } });
  return button;
}

/** @param {string} text @param {HTMLElement} button */
async function copy(text, button) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Without https the browser has only this older way; a field outside of an open dialog could not be selected.
  const field = make("textarea", { class: "unseen", "aria-hidden": "true" });
  field.value = text;
  button.after(field);
  field.select();
  document.execCommand("copy");
  field.remove();
  button.focus();
}

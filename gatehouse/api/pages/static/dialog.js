// Dialogs: one that asks before something is ended, and the frame for those with a form.

import { make } from "./dom.js";
import { say } from "./words.js";

let serial = 0;

/** An open dialog with this title. Escape and `close()` take it away; the focus goes back to where it was.
 * @param {string} title @param {Given} [given] @param {Child[]} content */
export function open(title, given, ...content) {
  const id = `dialog-${(serial += 1)}`;
  const heading = make("h2", { id });
  say(heading, title, given);
  const dialog = make("dialog", { class: "dialog", "aria-labelledby": id }, heading, ...content);
  const before = /** @type {HTMLElement | null} */ (document.activeElement);
  dialog.addEventListener("close", () => {
    dialog.remove();
    // What opened it may be gone by now, with its row or with a dialog below this one.
    (before?.isConnected ? before : document.querySelector("main[tabindex]"))?.focus({ preventScroll: true });
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** A form for a dialog: the content scrolls if it must, the message and the buttons stay in sight.
 * @param {Child} content @param {Child} message @param {Leaf[]} acts */
export function dialogForm(content, message, ...acts) {
  return make("form", { method: "post", novalidate: true }, make("div", { class: "fields" }, content), message, make("div", { class: "acts" }, acts));
}

/** Whether the reader says yes. `act` names the button that does it.
 * @param {Question} question @returns {Promise<boolean>} */
export function confirmed({ title, text, act, given, danger = true }) {
  return new Promise((resolve) => {
    let answer = false;
    const about = make("p", { class: "muted" });
    say(about, text, given);
    const yes = make("button", { type: "button", class: danger ? "button harm" : "button", click: () => {
      answer = true;
      dialog.close();
    } });
    say(yes, act, given);
    const no = make("button", { type: "button", class: "quiet lined", t: "dialog.cancel", autofocus: true, click: () => dialog.close() });
    const dialog = open(title, given, about, make("div", { class: "acts" }, no, yes));
    dialog.addEventListener("close", () => resolve(answer));
  });
}

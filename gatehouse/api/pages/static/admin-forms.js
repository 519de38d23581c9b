// Dialogs with a form, made from a list of fields, and the pieces that the parts of the administration share.

import { dialogForm, open } from "./dialog.js";
import { make } from "./dom.js";
import { busy } from "./fields.js";
import { fail } from "./toast.js";
import { known, say, word } from "./words.js";

let serial = 0;

/** A labelled control. `kind` is that of an input, or a list of [value, label] to choose from; `hint` is said below.
 * @param {string} words @param {ControlOptions} [how] @returns {Labelled} */
export function control(words, { kind = "text", value = "", hint, ...attributes } = {}) {
  const id = `control-${(serial += 1)}`;
  const input = Array.isArray(kind) ? choice(id, kind, value) : make("input", { class: "input", id, type: kind, value, autocomplete: "off", ...attributes });
  const about = hint ? make("p", { class: "message plain", id: `${id}-hint`, t: hint }) : null;
  if (about) input.setAttribute("aria-describedby", about.id);
  return { input, box: make("div", { class: "field" }, make("label", { for: id, t: words }), input, about) };
}

/** A choice that filters a list, named for screen readers by its words.
 * @param {string} words @param {HTMLElement[]} options @param {(value: string) => unknown} changed */
export function filterChoice(words, options, changed) {
  return make("select", { class: "input", "data-t-label": words, "aria-label": word(words), change: ({ target }) => changed(target.value) }, options);
}

/** @param {string} id @param {Option[]} options @param {string | number} value @returns {any} */
function choice(id, options, value) {
  return make("select", { class: "input", id }, options.map(([each, label]) => make("option", { value: each, selected: String(each) === String(value) }, label)));
}

/** Several of a list of { value, label }.
 * @param {string} words @param {Choice[]} options @param {string[]} chosen */
export function choices(words, options, chosen) {
  const boxes = options.map(({ value, label, fixed }) => ({ value, label, box: make("input", { type: "checkbox", value, checked: chosen.includes(value), disabled: fixed }) }));
  const element = make("fieldset", { class: "choices" }, make("legend", { t: words }), boxes.map(({ label, box }) => make("label", {}, box, label)));
  return { element, get value() { return boxes.filter(({ box }) => box.checked).map(({ value }) => value); } };
}

/** A dialog with these contents and a button that does `act`; a refusal is shown above the buttons.
 * @param {FormDialog} form */
export function formDialog({ title, given, content, act = "dialog.save", submit, wide = false }) {
  const trouble = make("p", { class: "message", role: "alert", id: `trouble-${(serial += 1)}` });
  const save = make("button", { class: "button", t: act });
  const cancel = make("button", { type: "button", class: "quiet lined", t: "dialog.cancel", click: () => dialog.close() });
  const form = dialogForm(content, trouble, cancel, save);
  const dialog = open(title, given, form);
  dialog.classList.toggle("wide", wide);
  form.querySelector("input, select")?.focus();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (save.getAttribute("aria-disabled") === "true") return;
    trouble.textContent = "";
    if (!filled(form, trouble)) return;
    busy(save, true);
    try {
      await submit();
      dialog.close();
    } catch (failure) {
      busy(save, false);
      say(trouble, "");
      trouble.textContent = sentence(failure);
    }
  });
  return dialog;
}

/** Whether every required field has something in it; the first that has not is named and focused.
 * @param {HTMLFormElement} form @param {HTMLElement} trouble */
function filled(form, trouble) {
  const required = /** @type {HTMLInputElement[]} */ ([...form.querySelectorAll("[required]")]);
  for (const input of required) {
    input.removeAttribute("aria-invalid");
    described(input, input.parentElement?.querySelector(".plain")?.id);
  }
  const empty = required.find(({ value }) => !value.trim());
  if (!empty) return true;
  empty.setAttribute("aria-invalid", "true");
  described(empty, trouble.id);
  say(trouble, "needed.field", { field: empty.labels?.[0].textContent });
  empty.focus();
  return false;
}

/** @param {HTMLElement} input @param {string} [id] */
function described(input, id) {
  if (id) input.setAttribute("aria-describedby", id);
  else input.removeAttribute("aria-describedby");
}

/** What a failure says to a reader: the service's own words, or ours where it said none.
 * @param {Failure} failure */
export function sentence(failure) {
  return failure.message || (known(failure.code) ? word(failure.code) : word("unforeseen"));
}

/** Do something that may be refused, and say so if it is.
 * @param {Then} work */
export async function attempt(work) {
  try {
    await work();
    return true;
  } catch (failure) {
    fail(sentence(failure));
    return false;
  }
}

/** A search box that waits until the reader pauses.
 * @param {string} words @param {(text: string) => unknown} found */
export function searchBox(words, found) {
  /** @type {number | undefined} */
  let timer;
  let asked = "";
  const input = make("input", { class: "input", type: "search", "data-t-placeholder": words, "data-t-label": words, placeholder: word(words), "aria-label": word(words), autocomplete: "off", spellcheck: "false" });
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const text = input.value.trim();
      if (text === asked) return; // what was picked in the list stays picked
      asked = text;
      found(text);
    }, 250);
  });
  return { input, element: make("div", { class: "search" }, input) };
}

/** @param {string} name @param {string} sub @param {Then} [click] */
export function person(name, sub, click) {
  const letter = make("span", { class: "dot", "aria-hidden": "true" }, ([...name][0] ?? "?").toLocaleUpperCase());
  const text = make("span", {}, name, sub && make("span", { class: "sub" }, sub));
  return make(click ? "button" : "span", click ? { type: "button", class: "open", click } : { class: "open" }, letter, text);
}

/** @param {Record<string, string | number | undefined>} values */
export function query(values) {
  const given = Object.entries(values).filter(([, value]) => value !== "" && value != null);
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
}

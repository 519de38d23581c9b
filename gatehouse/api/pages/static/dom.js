// Makes elements. Text is always text: nothing here, or on any page, turns a string into markup.

import { say } from "./words.js";

/** make("p", { class: "muted" }, "text", otherElement); `t` names words of the page.
 * @type {Make} */
export function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (attribute === "t") say(made, value);
    else if (typeof value === "function") made.addEventListener(attribute, value);
    else if (value === true) made.setAttribute(attribute, "");
    else if (value !== false && value != null) made.setAttribute(attribute, value);
  }
  made.append(.../** @type {any[]} */ (children).flat(Infinity).filter((child) => child || child === 0));
  return made;
}

/** Prose in which backticks mark code.
 * @param {string} text */
export function prose(text) {
  return text.split("`").map((part, at) => (at % 2 ? make("code", {}, part) : part));
}

// What the plain pages of a login have in addition where scripts run: the two switches, and a form that is sent once.

import "./preferences.js";

for (const part of document.querySelectorAll("[data-scripted]")) part.hidden = false;

const form = document.querySelector("form");

/** @param {boolean} sent */
function mark(sent) {
  form?.toggleAttribute("data-sent", sent);
  form?.querySelector(".submit")?.setAttribute("aria-busy", String(sent));
}

form?.addEventListener("submit", (event) => {
  if (event.defaultPrevented) return;
  if (form.hasAttribute("data-sent")) event.preventDefault();
  mark(true);
});

// Brought back by the browser as it was left.
addEventListener("pageshow", () => mark(false));

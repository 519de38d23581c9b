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

// Nobody allows anything by the second half of a double click that began on another page and has closed it.
const allow = /** @type {HTMLButtonElement | null} */ (document.getElementById("allow"));
const DOUBLE_CLICK_MS = 500;
let held = 0;

function hold() {
  if (!allow) return;
  allow.disabled = true;
  clearTimeout(held);
  held = setTimeout(() => (allow.disabled = false), DOUBLE_CLICK_MS);
}

hold();
for (const shown of ["focus", "pageshow"]) addEventListener(shown, hold);

// Applications on the account page: which one is logged in to with this account, and a way out of each.

import { confirmed } from "./dialog.js";
import { make } from "./dom.js";
import { date } from "./times.js";
import { succeed } from "./toast.js";
import { ask } from "./tokens.js";
import { onLanguage, word } from "./words.js";

const card = document.getElementById("applications");
const list = document.getElementById("applications-list");

/** @type {OwnApplicationData[]} */
let applications = [];
/** @type {OnFailure} */
let report;

/** @param {OnFailure} onFailure */
export function prepareApplications(onFailure) {
  report = onFailure;
  onLanguage(show);
}

export async function loadApplications() {
  applications = await ask("GET", "users/me/applications");
  show();
}

function show() {
  card.hidden = !applications.length;
  list.replaceChildren(...applications.map(row));
}

/** @param {OwnApplicationData} application */
function row(application) {
  const { name, url, since } = application;
  const title = url ? make("a", { href: url, rel: "noreferrer" }, name) : name;
  const about = make("span", { class: "muted" }, word("opened.since", { time: date(since) }));
  const label = `${word("opened.leave")}: ${name}`;
  const leaving = make("button", { type: "button", class: "quiet lined danger", t: "opened.leave", "aria-label": label, click: () => leave(application) });
  return make("li", { class: "line" }, make("div", {}, make("strong", {}, title), about), leaving);
}

/** @param {OwnApplicationData} application */
async function leave({ clientId, name }) {
  if (!(await confirmed({ title: "opened.ask", text: "opened.ask.text", act: "opened.leave", given: { name } }))) return;
  try {
    await ask("DELETE", `users/me/applications/${encodeURIComponent(clientId)}`);
    succeed("opened.left", { name });
    await loadApplications();
  } catch (failure) {
    report(failure);
  }
}

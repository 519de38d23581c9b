// Users as a sheet: exported as the search shows them, imported after a look at what would be done with each row.

import { formDialog, sentence } from "./admin-forms.js";
import { Failure } from "./api.js";
import { open } from "./dialog.js";
import { make } from "./dom.js";
import { API } from "./urls.js";
import { succeed } from "./toast.js";
import { freshToken } from "./tokens.js";
import { say, tag } from "./words.js";

/** @param {string} method @param {string} path @param {FormData} [body] */
async function request(method, path, body) {
  const headers = { "Accept-Language": tag(), Authorization: `Bearer ${await freshToken()}` };
  const answer = await fetch(new URL(path, API), { method, headers, body });
  if (answer.ok) return answer;
  const envelope = await answer.json().catch(() => ({}));
  throw new Failure(answer.status, envelope.code ?? "unforeseen", envelope.msg ?? "");
}

/** @param {string} path @param {string} name */
async function download(path, name) {
  const url = URL.createObjectURL(await (await request("GET", path)).blob());
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** @param {File} file @param {string} path @returns {Promise<ImportReport>} */
async function send(file, path) {
  const form = new FormData();
  form.append("file", file);
  return (await (await request("POST", path, form)).json()).data;
}

/** @param {string} query */
export async function exportUsers(query) {
  await download(`users/export?${query}`, "users.xlsx");
}

/** @param {Then} then */
export function importUsers(then) {
  const file = make("input", { type: "file", class: "input", accept: ".xlsx,.csv", id: "import-file" });
  const preview = make("div", { class: "preview", role: "status" });
  /** @type {File | null} */
  let looked = null; // at which file

  const look = async () => {
    const [chosen] = file.files ?? [];
    looked = null;
    preview.replaceChildren();
    if (!chosen) return;
    try {
      preview.replaceChildren(...plan(await send(chosen, "users/import?preview=true")));
      looked = chosen;
    } catch (failure) {
      preview.replaceChildren(make("p", { class: "message" }, sentence(failure)));
    }
  };
  file.addEventListener("change", look);
  formDialog({
    title: "users.import",
    act: "users.import.act",
    wide: true,
    content: [
      make("p", { class: "muted", t: "users.import.text" }),
      make("button", { type: "button", class: "quiet lined", t: "users.template", click: () => download("users/template", "template.xlsx") }),
      make("div", { class: "field" }, make("label", { for: "import-file", t: "users.import.file" }), file),
      preview,
    ],
    submit: async () => {
      if (!looked || looked !== file.files?.[0]) throw new Failure(0, "needed.file", "");
      const data = await send(looked, "users/import");
      await then();
      report(data);
    },
  });
}

/** What an import would do: how many rows, the first users, and each row that is not taken with the reason.
 * @param {ImportReport} report */
function plan({ validCount, invalidCount, messageList, users }) {
  const text = make("p");
  say(text, "users.import.plan", { good: validCount, bad: invalidCount });
  /** @param {ImportedUser} user */
  const line = ({ username, nickname, department, roles }) => make("tr", {}, make("td", { class: "head" }, make("strong", {}, username)), make("td", {}, nickname), make("td", {}, department), make("td", {}, roles.join(", ")));
  const heads = ["username", "profile.nickname", "account.department", "users.roles"];
  const table = make("table", {}, make("thead", {}, make("tr", {}, heads.map((words) => make("th", { scope: "col", t: words })))), make("tbody", {}, users.map(line)));
  const rest = make("p", { class: "muted" });
  if (validCount > users.length) say(rest, "users.import.rest", { count: validCount - users.length });
  return [text, ...(users.length ? [make("div", { class: "scroll", tabindex: 0 }, table), rest] : []), ...(messageList.length ? [problems(messageList)] : [])];
}

/** @param {string[]} lines */
function problems(lines) {
  return make("ul", { class: "small-rows scroll", tabindex: 0 }, lines.map((line) => make("li", { class: "minus" }, line)));
}

/** @param {ImportReport} done */
function report({ validCount, invalidCount, messageList }) {
  if (!invalidCount) return succeed("users.imported", { count: validCount });
  const text = make("p");
  say(text, "users.imported.some", { good: validCount, bad: invalidCount });
  const close = make("button", { type: "button", class: "button", t: "dialog.close", click: () => dialog.close() });
  const dialog = open("users.import", {}, text, problems(messageList), make("div", { class: "acts" }, close));
  return dialog;
}

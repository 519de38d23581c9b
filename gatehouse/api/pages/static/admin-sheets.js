// Users as a sheet: exported as the search shows them, imported after a look at what is in the file.

import { formDialog } from "./admin-forms.js";
import { Failure } from "./api.js";
import { open } from "./dialog.js";
import { make } from "./dom.js";
import { API } from "./place.js";
import { succeed } from "./toast.js";
import { freshToken } from "./tokens.js";
import { say, tag } from "./words.js";

async function request(method, path, body) {
  const headers = { "Accept-Language": tag(), Authorization: `Bearer ${await freshToken()}` };
  const answer = await fetch(new URL(path, API), { method, headers, body });
  if (answer.ok) return answer;
  const envelope = await answer.json().catch(() => ({}));
  throw new Failure(answer.status, envelope.code ?? "unforeseen", envelope.msg ?? "");
}

async function download(path, name) {
  const url = URL.createObjectURL(await (await request("GET", path)).blob());
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export async function exportUsers(query) {
  await download(`users/export?${query}`, "users.xlsx");
}

export function importUsers(then) {
  const file = make("input", { type: "file", class: "input", accept: ".xlsx,.csv", id: "import-file" });
  const about = make("p", { class: "muted" });
  file.addEventListener("change", () => {
    const chosen = file.files[0];
    if (chosen) say(about, "users.import.chosen", { name: chosen.name, size: Math.ceil(chosen.size / 1024) });
  });
  formDialog({
    title: "users.import",
    act: "users.import.act",
    content: [
      make("p", { class: "muted", t: "users.import.text" }),
      make("button", { type: "button", class: "quiet lined", t: "users.template", click: () => download("users/template", "template.xlsx") }),
      make("div", { class: "field" }, make("label", { for: "import-file", t: "users.import.file" }), file),
      about,
    ],
    submit: async () => {
      if (!file.files[0]) throw new Failure(0, "needed.file", "");
      const form = new FormData();
      form.append("file", file.files[0]);
      const { data } = await (await request("POST", "users/import", form)).json();
      await then();
      report(data);
    },
  });
}

function report({ validCount, invalidCount, messageList }) {
  if (!invalidCount) return succeed("users.imported", { count: validCount });
  const text = make("p");
  say(text, "users.imported.some", { good: validCount, bad: invalidCount });
  const dialog = open("users.import", {}, text, make("ul", { class: "small-rows" }, messageList.map((line) => make("li", {}, line))), make("div", { class: "acts" }, make("button", { type: "button", class: "button", t: "dialog.close", click: () => dialog.close() })));
  return dialog;
}

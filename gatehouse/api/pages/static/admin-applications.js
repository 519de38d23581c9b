// Applications: what people log in to with their account here; add, change, disable and remove one, and its secrets.

import { addApplication, editApplication, showRecipe } from "./admin-application-form.js";
import { attempt, person } from "./admin-forms.js";
import { pagedTable } from "./admin-table.js";
import { confirmed } from "./dialog.js";
import { make } from "./dom.js";
import { succeed } from "./toast.js";
import { ask } from "./tokens.js";
import { addWords, word } from "./words.js";

/** @param {Context} context */
export async function applications({ may }) {
  await addWords("applications");
  /** @type {Record<string, string>} */
  let titles = {};
  /** @param {ApplicationData} application */
  const edit = (application) => editApplication(application, { may, reload, remove: () => remove(application, reload) });
  /** @type {Paged} */
  const table = pagedTable({
    key: ({ clientId }) => clientId,
    empty: { title: "apps.none", text: "apps.none.text" },
    columns: [
      { words: "apps.application", class: "head", cell: (application) => person(application.name, application.clientId, () => edit(application)) },
      { words: "apps.recipe", cell: ({ recipe }) => titles[recipe || "other"] },
      { words: "apps.users", class: "num", cell: ({ users }) => String(users) },
      { words: "apps.roles", cell: ({ roles }) => (roles.length ? roles.map((code) => make("span", { class: "tag" }, code)) : make("span", { t: "apps.everybody" })) },
      { words: "users.status", cell: ({ enabled }) => make("span", { class: enabled ? "state" : "state off", t: enabled ? "users.on" : "users.off" }) },
      { class: "do", cell: (application) => make("button", { type: "button", class: "quiet lined", t: "apps.paste", "aria-label": `${word("apps.paste")}: ${application.name}`, click: () => showRecipe(application) }) },
    ],
    load: async () => {
      const { applications, recipes } = await ask("GET", "applications");
      titles = Object.fromEntries(recipes.map(({ recipe, title }) => [recipe, title]));
      return { rows: applications, total: applications.length };
    },
  });
  const reload = () => table.reload();
  const add = may("sys:app:create") && make("button", { type: "button", class: "button", t: "apps.add", click: () => addApplication(reload) });
  return [
    make("div", { class: "title" }, make("h1", { t: "part.applications" }), make("div", { class: "acts" }, add)),
    make("p", { class: "muted spaced", t: "apps.about" }),
    table.element,
  ];
}

/** @param {ApplicationData} application @param {Then} then */
async function remove({ clientId, name, users }, then) {
  const given = { name, users };
  if (!(await confirmed({ title: "apps.remove.ask", text: "apps.remove.text", act: "apps.remove.act", given }))) return false;
  const done = await attempt(() => ask("DELETE", `applications/${clientId}`));
  if (done) {
    succeed("apps.removed", given);
    await then();
  }
  return done;
}

// Company login: the directories and providers with which people log in; add, change, test and remove one.

import { attempt, control, formDialog, person } from "./admin-forms.js";
import { addSource, editSource } from "./admin-source-form.js";
import { pagedTable } from "./admin-table.js";
import { confirmed, dialogForm, open } from "./dialog.js";
import { make } from "./dom.js";
import { busy } from "./fields.js";
import { succeed } from "./toast.js";
import { ask } from "./tokens.js";
import { addWords, known, say, word } from "./words.js";

/** @param {Context} context */
export async function sources({ may }) {
  await addWords("sources");
  /** @param {SourceData} source */
  const edit = (source) => editSource(source, { may, reload, remove: () => removeSource(source, reload), sync: () => syncSource(source, reload) });
  /** @type {Paged} */
  const table = pagedTable({
    key: ({ name }) => name,
    empty: { title: "sources.none", text: "sources.none.text" },
    columns: [
      { words: "sources.source", class: "head", cell: (source) => person(source.title, source.name, () => edit(source)) },
      { words: "sources.kind", cell: ({ kind, config }) => make("span", { t: `kind.${kind === "directory" ? config.vendor : kind}` }) },
      { words: "sources.users", class: "num", cell: ({ users }) => String(users) },
      { words: "users.status", cell: stateOf },
      { class: "do", cell: (source) => may("sys:source:update") && make("button", { type: "button", class: "quiet lined", t: "sources.test", "aria-label": `${word("sources.test")}: ${source.title}`, click: () => testSource(source) }) },
    ],
    load: async () => {
      const { sources } = await ask("GET", "identity-sources");
      return { rows: sources, total: sources.length };
    },
  });
  const reload = () => table.reload();
  /** @param {string} words @param {"directory" | "openid"} kind @param {string} look */
  const add = (words, kind, look) => may("sys:source:create") && make("button", { type: "button", class: look, t: words, click: () => addSource(kind, async (source) => {
    await reload();
    if (may("sys:source:update")) setTimeout(() => testSource(source));
  }) });
  return [
    make("div", { class: "title" }, make("h1", { t: "part.sources" }), make("div", { class: "acts" }, add("sources.add.provider", "openid", "quiet lined"), add("sources.add.directory", "directory", "button"))),
    make("p", { class: "muted spaced", t: "sources.about" }),
    table.element,
  ];
}

/** @param {SourceData} source */
function stateOf({ enabled, problem, origin }) {
  const state = problem ? make("span", { class: "state bad", t: "sources.unusable" }) : make("span", { class: enabled ? "state" : "state off", t: enabled ? "users.on" : "users.off" });
  return [state, origin === "environment" && make("span", { class: "tag", t: "sources.environment" }), problem && make("span", { class: "sub" }, problem)];
}

/** @param {SourceData} source @param {Then} then */
async function removeSource(source, then) {
  const given = { title: source.title, users: source.users };
  if (!(await confirmed({ title: "sources.remove.ask", text: "sources.remove.text", act: "sources.remove.act", given }))) return false;
  const done = await attempt(() => ask("DELETE", `identity-sources/${source.name}`));
  if (done) {
    succeed("sources.removed", given);
    await then();
  }
  return done;
}

/** Asks at once; of a directory again with the name of somebody.
 * @param {Pick<SourceData, "name" | "title" | "kind">} source */
function testSource({ name, title, kind }) {
  const user = kind === "directory" && control("sources.test.user", { autocapitalize: "none", spellcheck: "false", maxlength: 255 });
  const result = make("div", { class: "stack", role: "status" });
  const run = make("button", { class: "button", t: "sources.test.again" });
  const close = make("button", { type: "button", class: "quiet lined", t: "dialog.close", click: () => dialog.close() });
  const form = make("form", { method: "post", novalidate: true, submit: (event) => {
    event.preventDefault();
    test();
  } }, make("div", { class: "fields" }, user && user.box, result), make("div", { class: "acts" }, close, run));
  const dialog = open("sources.test.of", { title }, form);
  dialog.classList.add("wide");

  async function test() {
    if (run.getAttribute("aria-disabled") === "true") return;
    busy(run, true);
    result.replaceChildren(make("p", { class: "waiting" }, make("span", { class: "spinner", "aria-hidden": "true" }), make("span", { t: "sources.test.running" })));
    const done = await attempt(async () => {
      const { steps, preview } = await ask("POST", `identity-sources/${name}/test`, user && user.input.value.trim() ? { user: user.input.value.trim() } : {});
      const works = steps.every((step) => step.works);
      result.replaceChildren(
        make("p", { class: works ? "notice" : "notice bad", t: works ? "sources.test.good" : "sources.test.bad" }),
        make("ol", { class: "steps" }, steps.map(stepLine)),
        ...(preview ? [previewOf(preview)] : []),
      );
    });
    if (!done) result.replaceChildren();
    busy(run, false);
  }

  test();
}

/** What differs between a directory and its users is shown first.
 * @param {SourceData} source @param {Then} then */
async function syncSource({ name, title }, then) {
  await attempt(async () => {
    const { people, unchanged, steps, refusal } = await ask("POST", `identity-sources/${name}/sync`, { preview: true });
    const about = make("p", { class: "muted" });
    say(about, steps.length ? "sources.sync.plan" : "sources.sync.same", { people, unchanged });
    const content = [about, refusal && make("p", { class: "notice bad" }, refusal), make("ul", { class: "small-rows" }, steps.map(syncLine))];
    if (refusal || steps.every(({ action }) => action === "conflict")) {
      const close = make("button", { type: "button", class: "quiet lined", t: "dialog.close", click: () => dialog.close() });
      const dialog = open("sources.sync.of", { title }, dialogForm(content, null, close));
      return;
    }
    formDialog({ title: "sources.sync.of", given: { title }, act: "sources.sync.act", content, submit: async () => {
      const done = await ask("POST", `identity-sources/${name}/sync`, { preview: false });
      if (done.refusal) throw new Error(done.refusal);
      succeed("sources.sync.done", { title });
      await then();
    } });
  });
}

/** @param {SyncStepData} step */
function syncLine({ action, name, username, changed, granted, revoked, problem }) {
  const roles = [...granted.map((code) => `+${code}`), ...revoked.map((code) => `−${code}`)];
  const what = [username !== name && username, ...changed, ...roles, problem].filter(Boolean).join(" · ");
  return make("li", { class: action === "disable" ? "minus" : null }, make("span", {}, make("strong", {}, name), make("span", { class: "sub" }, what)), make("span", { class: "tag", t: `sync.${action}` }));
}

/** @param {TestStepData} step */
function stepLine({ step, works, seen }) {
  const title = known(`step.${step}`) ? make("strong", { t: `step.${step}` }) : make("strong", {}, step);
  return make("li", { class: works ? "good" : "bad" }, make("span", { class: "unseen", t: works ? "sources.works" : "sources.fails" }), title, make("span", { class: "sub", lang: "en" }, seen));
}

/** @param {PreviewData} preview */
function previewOf(preview) {
  const heading = make("h3");
  say(heading, "preview.of", { name: preview.nickname || preview.username });
  const { username, nickname, email, mobile, department } = preview;
  const lines = Object.entries({ username, "profile.nickname": nickname, "users.email": email, "users.mobile": mobile, "account.department": department, "users.roles": tags(preview.roles), "preview.groups": tags(preview.groups) });
  const arrival = make("p", { class: preview.arrival.endsWith("e") ? "muted" : "notice bad", t: `arrival.${preview.arrival}` });
  return make("section", { class: "preview" }, heading, arrival, make("dl", { class: "details" }, lines.map(([words, value]) => make("div", {}, make("dt", { t: words }), make("dd", {}, value.length ? value : "–")))));
}

/** @param {string[]} names */
function tags(names) {
  return names.map((name) => make("span", { class: "tag" }, name));
}

// Who a user is at the directories and providers: shown, linked beforehand, unlinked.

import { attempt, control, formDialog } from "./admin-forms.js";
import { confirmed, open } from "./dialog.js";
import { make } from "./dom.js";
import { ago } from "./times.js";
import { succeed } from "./toast.js";
import { ask } from "./tokens.js";
import { addWords, say, word } from "./words.js";

/** @param {Person} user @param {Context} context */
export async function showIdentities(user, { may, username }) {
  await addWords("sources");
  const given = { name: user.username };
  const mayChange = may("sys:user:update") && user.username !== username; // one's own takes a login there
  const list = make("ul", { class: "small-rows" });
  const load = async () => {
    const { identities } = await ask("GET", `users/${user.id}/identities`);
    list.replaceChildren(...(identities.length ? identities.map(line) : [make("li", { class: "muted", t: "sources.user.none" })]));
  };
  /** @param {IdentityData} identity */
  const line = ({ id, title, name, lastSeen, gone }) => {
    const about = make("span", { class: gone ? "sub state bad" : "sub" });
    if (gone) say(about, "sources.user.gone");
    else if (lastSeen) say(about, "sources.user.seen", { time: ago(lastSeen) ?? word("audit.now") });
    else say(about, "sources.user.unseen");
    const unlink = mayChange && make("button", { type: "button", class: "quiet lined danger", t: "sources.user.unlink", "aria-label": `${word("sources.user.unlink")}: ${title}`, click: async () => {
      if (!(await confirmed({ title: "sources.user.ask", text: "sources.user.ask.text", act: "sources.user.unlink", given: { name: user.username, title } }))) return;
      await attempt(async () => {
        await ask("DELETE", `users/${user.id}/identities/${id}`);
        succeed("sources.user.unlinked", given);
        await load();
      });
    } });
    return make("li", {}, make("span", {}, make("strong", {}, title), ` · ${name}`, about), unlink);
  };
  await attempt(async () => {
    await load();
    const link = mayChange && may("sys:source:list") && make("button", { type: "button", class: "button", t: "sources.user.link", click: () => attempt(() => linkUser(user, load)) });
    const close = make("button", { type: "button", class: "quiet lined", t: "dialog.close", click: () => dialog.close() });
    const dialog = open("sources.user.of", given, make("p", { class: "muted", t: "sources.user.about" }), list, make("div", { class: "acts" }, close, link));
  });
}

/** @param {Person} user @param {Then} then */
async function linkUser(user, then) {
  const { sources } = await ask("GET", "identity-sources");
  const usable = sources.filter(({ enabled }) => enabled);
  const source = control("sources.source", { kind: usable.map(({ name, title }) => [name, title]) });
  const who = control("sources.user.name", { hint: "sources.user.name.hint", required: true, maxlength: 255, spellcheck: "false", autocapitalize: "none" });
  const [label, hint] = [who.box.querySelector("label"), who.box.querySelector(".message")];
  const isDirectory = () => usable.find(({ name }) => name === source.input.value)?.kind === "directory";
  const show = () => {
    if (label) say(label, isDirectory() ? "sources.user.name" : "sources.user.subject");
    if (hint) say(hint, isDirectory() ? "sources.user.name.hint" : "sources.user.subject.hint");
  };
  source.input.addEventListener("change", show);
  show();
  formDialog({
    title: "sources.user.link.title",
    given: { name: user.username },
    act: "sources.user.link",
    content: usable.length ? [source.box, who.box] : make("p", { class: "muted", t: "sources.user.nosource" }),
    submit: async () => {
      if (!usable.length) return;
      const text = who.input.value.trim();
      await ask("POST", `users/${user.id}/identities`, { source: source.input.value, ...(isDirectory() ? { name: text } : { subject: text }) });
      succeed("sources.user.linked", { name: user.username });
      await then();
    },
  });
}

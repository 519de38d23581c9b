// Company accounts on the account page: which are linked, and a way to link and unlink them. Each change asks for a fresh proof.

import { confirmed } from "./dialog.js";
import { make } from "./dom.js";
import { passwordPlace, withProof } from "./account-factor.js";
import { ago, date } from "./times.js";
import { succeed } from "./toast.js";
import { call } from "./api.js";
import { ask } from "./tokens.js";
import { known, onLanguage, say, word } from "./words.js";

const card = document.getElementById("identities");
const list = document.getElementById("identities-list");
const problem = document.getElementById("identities-problem");

/** @type {OwnIdentityData[]} */
let identities = [];
/** @type {ProviderData[]} */
let providers = [];

/** How people call the source of a login.
 * @param {string} name */
export function sourceTitle(name) {
  return [...identities.map(({ source, title }) => [source, title]), ...providers.map((each) => [each.name, each.title])].find(([source]) => source === name)?.[1] ?? name;
}

export async function loadIdentities() {
  [identities, providers] = await Promise.all([ask("GET", "users/me/identities"), call("GET", "auth/providers")]);
}

export function prepareIdentities() {
  onLanguage(showIdentities);
}

/** After everything else has been loaded, too: a word about the link that the reader comes back from. */
export function showIdentities() {
  card.hidden = !identities.length && !providers.length;
  const linkable = providers.filter(({ name }) => !identities.some(({ source }) => source === name));
  list.replaceChildren(...identities.map(row), ...linkable.map(offer));
}

export function comeBack() {
  const back = new URLSearchParams(location.search);
  const [linked, tag] = [back.get("linked"), back.get("problem")];
  if (!linked && !tag) return;
  history.replaceState(null, "", location.pathname);
  if (linked) return succeed("identities.linked", { title: sourceTitle(linked) });
  const key = [`identities.problem.${tag}`, `login.problem.${tag}`].find(known);
  say(problem, key ?? "unforeseen", { title: sourceTitle(back.get("provider") ?? "") || word("login.company") });
  problem.hidden = false;
  problem.scrollIntoView({ block: "center" });
}

/** @param {string} title @param {Child} about @param {Child} act */
const line = (title, about, act) => make("li", { class: "line" }, make("div", {}, make("strong", {}, title), make("span", { class: "muted" }, about)), act);

/** @param {OwnIdentityData} identity */
function row(identity) {
  const used = identity.lastUsed ? word("factor.passkey.used", { time: ago(identity.lastUsed) ?? word("audit.now") }) : word("factor.passkey.unused");
  const about = [identity.name, word("identities.since", { time: date(identity.linked) }), used].join(" · ");
  // Who is in a directory is in it, and nobody takes away the own last way in.
  const isProvider = providers.some(({ name }) => name === identity.source);
  const isLast = identities.length === 1 && passwordPlace() === "none";
  const act = isProvider && !isLast && button("identities.unlink", identity.title, "quiet lined danger", () => unlink(identity));
  return line(identity.title, about, act);
}

/** @param {ProviderData} provider */
const offer = ({ name, title }) => line(title, make("span", { t: "identities.none" }), button("identities.link", title, "quiet lined", () => link(name)));

/** @param {string} words @param {string} title @param {string} kind @param {Then} click */
const button = (words, title, kind, click) => make("button", { type: "button", class: kind, t: words, "aria-label": `${word(words)}: ${title}`, click });

/** @param {string} source */
function link(source) {
  withProof({ title: "identities.link" }, async (proof) => {
    const { url } = await ask("POST", `users/me/identities/${source}`, proof);
    location.assign(url);
    // The page is being left.
    return new Promise(() => {});
  });
}

/** @param {OwnIdentityData} identity */
async function unlink({ id, title }) {
  if (!(await confirmed({ title: "identities.ask", text: "identities.ask.text", act: "identities.unlink", given: { title } }))) return;
  withProof({ title: "identities.unlink" }, async (proof) => {
    await ask("DELETE", `users/me/identities/${id}`, proof);
    succeed("identities.unlinked", { title });
    await loadIdentities();
    showIdentities();
  });
}

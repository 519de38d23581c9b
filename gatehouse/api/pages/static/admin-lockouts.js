// Lockouts: names that are locked after failed logins, with a button to unlock one.

import { attempt } from "./admin-forms.js";
import { confirmed } from "./dialog.js";
import { make } from "./dom.js";
import { succeed } from "./toast.js";
import { ask } from "./tokens.js";
import { locale, say, word } from "./words.js";

const RENEW_EVERY = 15_000;

/** A panel that renews itself while it is on the page.
 * @param {Context} context */
export async function lockouts({ may }) {
  const list = make("ul", { class: "small-rows inset" });
  const panel = make("section", { class: "panel" }, make("h2", { t: "lockouts.title" }), list);

  async function load() {
    const { lockouts: found } = await ask("GET", "lockouts");
    list.replaceChildren(...(found.length ? found.map(line) : [make("li", { class: "muted", t: "lockouts.none" })]));
  }

  /** @param {LockoutData} lockout */
  function line({ name, place, failures, until }) {
    const about = make("span", { class: "sub" });
    const time = new Intl.DateTimeFormat(locale(), { hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(new Date(until));
    const address = place.replace(" (code)", ""); // behind it: failures with a code in place of the captcha
    const [words, byCode] = address === "elsewhere" ? ["lockouts.elsewhere", "lockouts.elsewhere.code"] : ["lockouts.place", "lockouts.place.code"];
    say(about, place === address ? words : byCode, { place: address, failures, time });
    const lift = may("sys:user:update") && make("button", { type: "button", class: "quiet lined", t: "lockouts.lift", "aria-label": `${word("lockouts.lift")}: ${name}`, click: () => letIn(name) });
    return make("li", {}, make("span", {}, make("strong", {}, name), about), lift);
  }

  /** @param {string} name */
  async function letIn(name) {
    const given = { name };
    if (!(await confirmed({ title: "lockouts.ask", text: "lockouts.ask.text", act: "lockouts.lift", given, danger: false }))) return;
    await attempt(async () => {
      await ask("DELETE", "lockouts", given);
      succeed("lockouts.lifted", given);
      await load();
    });
  }

  const timer = setInterval(() => {
    if (!panel.isConnected) clearInterval(timer);
    else if (!document.hidden) load().catch(() => {});
  }, RENEW_EVERY);
  await load();
  return panel;
}

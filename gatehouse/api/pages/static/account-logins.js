// My recent logins, and a word about each from a place where I was never seen before.

import { confirmed } from "./dialog.js";
import { make } from "./dom.js";
import { sourceTitle } from "./account-identities.js";
import { loadSessions } from "./account-sessions.js";
import { ago, date, device } from "./times.js";
import { succeed } from "./toast.js";
import { ask } from "./tokens.js";
import { known, onLanguage, say, word } from "./words.js";

const list = document.getElementById("logins");
const news = document.getElementById("news");
const more = document.getElementById("more-logins");

const FEW = 5;
const SOON = 1_500;
const NEWS_MOST = 3;
const NEWS_FOR = 14 * 86_400_000;
const KNOWN_KEY = "gatehouse.known-logins";
const KNOWN_MOST = 100;

/** @type {LoginData[]} */
let logins = [];
/** @type {SessionData | null} */
let mine = null; // the session of this browser
let shown = FEW;
/** @type {OnFailure} */
let report;

/** @param {OnFailure} onFailure */
export function prepareLogins(onFailure) {
  report = onFailure;
  onLanguage(show);
  more.addEventListener("click", () => {
    shown = logins.length;
    show();
  });
}

export async function loadLogins(again = 3) {
  const [{ logins: recent }, { sessions }] = await Promise.all([ask("GET", "users/me/logins"), ask("GET", "users/me/sessions")]);
  logins = recent;
  mine = sessions.find(({ current }) => current) ?? null;
  show();
  // A login is in the list a moment after it has happened; the newest session tells of one that is missing.
  const newest = sessions.reduce((one, other) => (one && one.openedAt >= other.openedAt ? one : other), /** @type {SessionData | null} */ (null));
  if (again && newest && !logins.some(({ session }) => session === newest.id)) setTimeout(() => loadLogins(again - 1).catch(() => {}), SOON);
}

function show() {
  list.replaceChildren(...(logins.length ? logins.slice(0, shown).map(row) : [make("li", { class: "line muted", t: "logins.none" })]));
  more.hidden = logins.length <= shown;
  const expected = new Set(acknowledged());
  const fresh = logins.filter(({ newPlace, session, at }) => newPlace && !expected.has(session) && Date.now() - new Date(at).getTime() < NEWS_FOR);
  news.replaceChildren(...fresh.filter((login) => !isHere(login)).slice(0, NEWS_MOST).map(notice));
}

/** Whether the reader sits where that login came from.
 * @param {LoginData} login */
function isHere({ address, browser }) {
  return address === mine?.address && browser === mine?.browser;
}

/** @param {LoginData} login */
function row({ at, address, browser, factor, source, session, active, newPlace }) {
  const shown = known(`logins.by.${factor}`) && word(`logins.by.${factor}`);
  const via = source && word("sessions.via", { title: sourceTitle(source) });
  const how = [via, via ? factor && shown : shown || word("logins.by.password")].filter(Boolean).join(" · ");
  const state = session === mine?.id ? "sessions.current" : active ? "logins.active" : null;
  return make(
    "li",
    { class: "line" },
    make("div", {}, make("span", {}, make("strong", {}, device(browser)), " ", newPlace && make("span", { class: "badge", t: "logins.new" })), make("span", { class: "muted" }, [address, how, date(at)].filter(Boolean).join(" · "))),
    state && make("span", { class: "muted", t: state }),
  );
}

/** "New: Firefox on Windows, 192.0.2.7, yesterday. Not you? …"
 * @param {LoginData} login */
function notice(login) {
  const text = make("span");
  say(text, "logins.news", { browser: device(login.browser), address: login.address, time: ago(login.at) ?? word("audit.now") });
  const given = { browser: device(login.browser), address: login.address };
  const end = make("button", { type: "button", class: "quiet lined", t: login.active ? "logins.end" : "logins.change", click: () => endAndChange(login, given) });
  const fine = make("button", { type: "button", class: "quiet lined", t: "logins.fine", click: () => {
    acknowledge(login.session);
    show();
  } });
  return make("div", { class: "notice news-line" }, text, make("span", { class: "acts" }, fine, end));
}

/** @param {LoginData} login @param {Given} given */
async function endAndChange({ session, active }, given) {
  if (active) {
    if (!(await confirmed({ title: "sessions.ask.one", text: "sessions.ask.one.text", act: "sessions.ask.act", given }))) return;
    try {
      await ask("DELETE", `users/me/sessions/${encodeURIComponent(session)}`);
      succeed("sessions.ended.one");
    } catch (failure) {
      if (failure.code !== "C0113") return report(failure);
    }
    await Promise.all([loadSessions(), loadLogins()]).catch(report);
  }
  const current = document.getElementById("current");
  current.scrollIntoView({ block: "center" });
  current.focus();
}

/** Sessions that their owner has called the own. Kept in this browser: it is a matter of showing, and of nothing else.
 * @returns {string[]} */
function acknowledged() {
  try {
    return JSON.parse(localStorage.getItem(KNOWN_KEY) ?? "null") ?? [];
  } catch {
    return [];
  }
}

/** @param {string} session */
function acknowledge(session) {
  localStorage.setItem(KNOWN_KEY, JSON.stringify([session, ...acknowledged()].slice(0, KNOWN_MOST)));
}

// My sessions: where I am logged in, and a way to end what I do not know. The list renews itself while it is seen.

import { confirmed } from "./dialog.js";
import { sourceTitle } from "./account-identities.js";
import { ago, date, device } from "./times.js";
import { succeed } from "./toast.js";
import { ask } from "./tokens.js";
import { onLanguage, say, word } from "./words.js";

const list = document.getElementById("sessions");
const others = document.getElementById("end-others");
const title = document.getElementById("sessions-title");
const template = document.getElementById("session-row");

const RENEW_EVERY = 30_000;

/** @type {SessionData[]} */
let sessions = [];
/** @type {OnFailure} */
let report;

/** @param {OnFailure} onFailure */
export function prepareSessions(onFailure) {
  report = onFailure;
  others.addEventListener("click", endOthers);
  onLanguage(show);
  setInterval(renewQuietly, RENEW_EVERY);
  document.addEventListener("visibilitychange", renewQuietly);
}

export async function loadSessions() {
  ({ sessions } = await ask("GET", "users/me/sessions"));
  // This one first, the others newest first.
  sessions.sort((one, other) => Number(other.current) - Number(one.current));
  show();
}

/** In the background: a failure is retried in a moment. */
async function renewQuietly() {
  if (document.hidden || !list.childElementCount) return;
  await loadSessions().catch(() => {});
}

function show() {
  const active = /** @type {HTMLElement | null} */ (document.activeElement);
  const focused = list.contains(active) ? active?.dataset.session : null;
  list.replaceChildren(...sessions.map(row));
  list.removeAttribute("aria-busy");
  others.disabled = sessions.length < 2;
  if (focused) (list.querySelector(`[data-session="${CSS.escape(focused)}"]`) ?? title).focus();
}

/** @param {SessionData} session */
function row(session) {
  const made = /** @type {any} */ (template.content.cloneNode(true)).firstElementChild;
  made.classList.toggle("current", session.current);
  made.classList.toggle("mobile", /Mobile|Android|iPhone|iPad/.test(session.agent));
  made.querySelector("strong").textContent = device(session.browser);
  const badge = made.querySelector(".badge");
  const end = made.querySelector("button");
  say(badge, badge.dataset.t);
  say(end, end.dataset.t);
  end.dataset.session = session.id;
  end.setAttribute("aria-label", word("sessions.end.label", { browser: device(session.browser), address: session.address }));
  end.addEventListener("click", () => endOne(session));
  made.querySelector(".when").append(...when(session));
  if (session.current) end.remove();
  else badge.remove();
  return made;
}

/** Address and times, each a piece that does not break; on a narrow screen they stand below each other.
 * @param {SessionData} session */
function when({ address, openedAt, refreshedAt, current, source }) {
  const parts = [address, source && word("sessions.via", { title: sourceTitle(source) }), word("sessions.opened", { time: date(openedAt) }), current ? word("sessions.now") : active(refreshedAt)];
  return parts.filter(Boolean).map((part) => {
    const piece = document.createElement("span");
    piece.textContent = part;
    return piece;
  });
}

/** @param {string} time */
function active(time) {
  const past = ago(time);
  return past ? word("sessions.refreshed", { time: past }) : word("sessions.justnow");
}

/** @param {SessionData} session */
async function endOne(session) {
  const given = { browser: device(session.browser), address: session.address };
  const asked = { title: "sessions.ask.one", text: "sessions.ask.one.text", act: "sessions.ask.act", given };
  if (!(await confirmed(asked))) return;
  await ending(async () => {
    try {
      await ask("DELETE", `users/me/sessions/${encodeURIComponent(session.id)}`);
      return ["sessions.ended.one"];
    } catch (failure) {
      if (failure.code !== "C0113") throw failure;
      return ["sessions.gone"];
    }
  });
}

async function endOthers() {
  const asked = { title: "sessions.ask.others", text: "sessions.ask.others.text", act: "sessions.ask.act.others" };
  if (!(await confirmed(asked))) return;
  await ending(async () => {
    const { ended } = await ask("DELETE", "users/me/sessions");
    if (ended === 0) return ["sessions.ended.none"];
    return ["sessions.ended", { count: ended }];
  });
}

/** @param {() => Promise<[string, Given?]>} work */
async function ending(work) {
  others.disabled = true;
  try {
    const outcome = await work();
    await loadSessions();
    succeed(...outcome);
    // The button that had the focus is gone: the keyboard goes on from the top of the list.
    title.focus();
  } catch (failure) {
    others.disabled = sessions.length < 2;
    report(failure);
  }
}

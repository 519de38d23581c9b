// My sessions: where I am logged in, and a way to end what I do not know.

import { ask } from "./tokens.js";
import { locale, onLanguage, say, word } from "./words.js";

const list = document.getElementById("sessions");
const others = document.getElementById("end-others");
const message = document.getElementById("sessions-message");
const title = document.getElementById("sessions-title");
const template = document.getElementById("session-row");

const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60]];

let sessions = [];
let report;

export function prepareSessions(onFailure) {
  report = onFailure;
  others.addEventListener("click", endOthers);
  onLanguage(show);
}

export async function loadSessions() {
  ({ sessions } = await ask("GET", "users/me/sessions"));
  // This one first, the others newest first.
  sessions.sort((one, other) => other.current - one.current);
  show();
}

function show() {
  list.replaceChildren(...sessions.map(row));
  list.removeAttribute("aria-busy");
  others.disabled = sessions.length < 2;
}

function row(session) {
  const made = template.content.cloneNode(true).firstElementChild;
  made.classList.toggle("current", session.current);
  made.classList.toggle("mobile", /Mobile|Android|iPhone|iPad/.test(session.agent));
  made.querySelector("strong").textContent = device(session);
  const badge = made.querySelector(".badge");
  const end = made.querySelector("button");
  say(badge, badge.dataset.t);
  say(end, end.dataset.t);
  end.setAttribute("aria-label", word("sessions.end.label", { browser: device(session), address: session.address }));
  end.addEventListener("click", () => endOne(session, end));
  made.querySelector(".when").append(...when(session));
  if (session.current) end.remove();
  else badge.remove();
  return made;
}

function device({ browser }) {
  const [name, system] = browser.split(" on ");
  if (!name) return word("sessions.unknown");
  return system ? word("sessions.on", { browser: name, system }) : name;
}

/** Address and times, each a piece that does not break; on a narrow screen they stand below each other. */
function when({ address, openedAt, refreshedAt, current }) {
  const parts = [
    address,
    word("sessions.opened", { time: date(openedAt) }),
    current ? word("sessions.now") : word("sessions.refreshed", { time: ago(refreshedAt) }),
  ];
  return parts.filter(Boolean).map((part) => {
    const piece = document.createElement("span");
    piece.textContent = part;
    return piece;
  });
}

/** The year only where it is not this one. */
function date(time) {
  const moment = new Date(time);
  const year = moment.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
  const form = { year, month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" };
  return new Intl.DateTimeFormat(locale(), form).format(moment);
}

function ago(time) {
  const seconds = Math.max(0, (Date.now() - new Date(time)) / 1000);
  const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? ["second", 1];
  const format = new Intl.RelativeTimeFormat(locale(), { numeric: "auto" });
  return seconds < 60 ? format.format(0, "second") : format.format(-Math.floor(seconds / size), unit);
}

async function endOne(session, button) {
  await ending(button, async () => {
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
  await ending(others, async () => {
    const { ended } = await ask("DELETE", "users/me/sessions");
    if (ended === 0) return ["sessions.ended.none"];
    return ended === 1 ? ["sessions.ended.one"] : ["sessions.ended.many", { count: ended }];
  });
}

async function ending(button, work) {
  button.disabled = true;
  try {
    const said = await work();
    await loadSessions();
    say(message, ...said);
    // The button that had the focus is gone: the keyboard goes on from the top of the list.
    title.focus();
  } catch (failure) {
    button.disabled = false;
    report(failure);
  }
}

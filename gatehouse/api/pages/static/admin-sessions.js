// Sessions: who is logged in now and from where; end one. `admin-user-access.js` ends all of a user.

import { attempt, person, query, searchBox } from "./admin-forms.js";
import { emptyState, failedState, waitingState } from "./admin-table.js";
import { confirmed } from "./dialog.js";
import { make } from "./dom.js";
import { ago, date, device } from "./times.js";
import { succeed } from "./toast.js";
import { ask } from "./tokens.js";
import { onLanguage, word } from "./words.js";

/** @param {Context} context */
export function sessions({ may }) {
  const state = { keywords: "", sessions: /** @type {LiveSessionData[]} */ ([]), next: /** @type {number | null} */ (null) };
  const mayEnd = may("sys:session:delete") || may("sys:user:update");
  const body = make("tbody");
  const heads = ["sessions.user", "sessions.device", "sessions.address", "sessions.since", "sessions.last"];
  const table = make("table", {}, make("thead", {}, make("tr", {}, heads.map((words) => make("th", { scope: "col", t: words })), make("th"))), body);
  const more = make("button", { type: "button", class: "quiet lined", t: "admin.more", click: () => load(state.next ?? 0) });
  const feet = make("div", { class: "feet", hidden: true }, more);
  const rest = make("div", {}, waitingState());
  const panel = make("div", { class: "panel" }, table, rest, feet);

  async function load(start = 0) {
    try {
      const page = await ask("GET", `sessions?${query({ keywords: state.keywords, start })}`);
      state.sessions = start ? [...state.sessions, ...page.sessions] : page.sessions;
      state.next = page.next;
      show();
    } catch (failure) {
      table.hidden = true;
      rest.replaceChildren(failedState(failure, () => load(start)));
    }
  }

  function show() {
    table.hidden = state.sessions.length === 0;
    rest.replaceChildren(...(state.sessions.length ? [] : [emptyState({ title: "sessions.none", text: "sessions.none.text" })]));
    body.replaceChildren(...state.sessions.map(row));
    feet.hidden = state.next === null;
  }

  /** @param {LiveSessionData} session */
  function row(session) {
    const end = mayEnd && !session.current && make("button", { type: "button", class: "quiet lined danger", t: "sessions.end", "aria-label": `${session.username}: ${word("sessions.end.label", { browser: device(session.browser), address: session.address })}`, click: () => endOne(session, load) });
    /** @param {string} words @param {Child} content @param {string} [kind] */
    const cell = (words, content, kind) => {
      const made = make("td", { class: kind }, content);
      if (kind !== "head") made.dataset.name = word(words);
      return made;
    };
    return make(
      "tr",
      {},
      make("td", { class: "head" }, person(session.username, session.current ? word("sessions.current") : "")),
      cell("sessions.device", device(session.browser)),
      cell("sessions.address", session.address, "num"),
      cell("sessions.since", date(session.openedAt), "num"),
      cell("sessions.last", ago(session.refreshedAt) ?? word("audit.now"), "num"),
      make("td", { class: "do" }, end),
    );
  }

  const search = searchBox("sessions.search", (keywords) => {
    state.keywords = keywords;
    load();
  });
  onLanguage(() => panel.isConnected && show());
  load();
  return [make("div", { class: "title" }, make("h1", { t: "sessions.title" })), make("div", { class: "tools" }, search.element), panel];
}

/** @param {LiveSessionData} session @param {Then} then */
export async function endOne(session, then) {
  const given = { browser: device(session.browser), address: session.address };
  if (!(await confirmed({ title: "sessions.ask.one", text: "sessions.ask.one.text", act: "sessions.ask.act", given }))) return;
  if (await attempt(() => ask("DELETE", `sessions/${encodeURIComponent(session.id)}`))) succeed("sessions.ended.one");
  await then();
}

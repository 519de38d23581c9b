// The administration: the parts that the reader's perms open, one at a time, by the fragment of the address.

import { audit } from "./admin-audit.js";
import { overview } from "./admin-overview.js";
import { sessions } from "./admin-sessions.js";
import { settings } from "./admin-settings.js";
import { sentence } from "./admin-forms.js";
import { failedState, waitingState } from "./admin-table.js";
import { users } from "./admin-users.js";
import { make } from "./dom.js";
import { prepareLogout } from "./logout.js";
import { fail } from "./toast.js";
import { ask, held, keepFresh, leave, onTokens } from "./tokens.js";
import { mayLeave } from "./unsaved.js";
import { onLanguage, say, word } from "./words.js";
import "./preferences.js";

const SVG = "http://www.w3.org/2000/svg";

/** Each part with the perms of which one opens it. What most readers do not open is fetched when it is.
 * @type {Part[]} */
const PARTS = [
  { id: "overview", perms: ["sys:user:list", "sys:log:list"], show: overview, icon: "M4 19.5V11M10 19.5V4.5M16 19.5v-6M21 19.5H3" },
  { id: "users", perms: ["sys:user:list"], show: users, icon: "M9 11.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 19.5c.5-3.6 3-5.5 6.5-5.5s6 1.9 6.5 5.5M16 5a3.3 3.3 0 0 1 0 6.3M18 14.4c2 .7 3.2 2.4 3.5 5.1" },
  { id: "roles", perms: ["sys:role:list"], show: async (context) => (await import("./admin-roles.js")).roles(context), icon: "M12 3 4.5 6v5.5c0 4.5 3 7.8 7.5 9.5 4.5-1.7 7.5-5 7.5-9.5V6zM9 12l2.2 2.2L15.5 10" },
  { id: "departments", perms: ["sys:dept:list"], show: async (context) => (await import("./admin-departments.js")).departments(context), icon: "M9.5 3.5h5v4.5h-5zM3.5 16h5v4.5h-5zM15.5 16h5v4.5h-5zM12 8v4M6 16v-4h12v4" },
  { id: "sources", perms: ["sys:source:list"], show: async (context) => (await import("./admin-sources.js")).sources(context), icon: "M4 20.500V5l8-2v17.500M12 8.500h8v12M3 20.500h18M7.500 8v0M7.500 12v0M7.500 16v0M16 12.500v0M16 16.500v0" },
  { id: "applications", perms: ["sys:app:list"], show: async (context) => (await import("./admin-applications.js")).applications(context), icon: "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM17 14v6M14 17h6" },
  { id: "sessions", perms: ["sys:session:list", "sys:user:list"], show: sessions, icon: "M3.5 4.5h17V16h-17zM9 20h6M12 16v4" },
  { id: "audit", perms: ["sys:log:list"], show: audit, icon: "M6 3.5h12v17H6zM9 8h6M9 12h6M9 16h3" },
  { id: "settings", perms: ["sys:config:list"], show: settings, icon: "M4 7h9M19 7h1M4 17h1M11 17h9M16 4.500v5M8 14.500v5" },
];

const view = document.getElementById("view");
const rail = document.getElementById("rail");

/** @type {Set<string>} */
let perms = new Set();
let username = "";
let shown = 0;

/** @type {May} */
const may = (perm) => perms.has(perm);

function open() {
  return PARTS.filter((part) => part.perms.some(may));
}

/** @param {Part} part */
function link({ id, icon }) {
  const svg = document.createElementNS(SVG, "svg");
  for (const [name, value] of [["class", "icon"], ["viewBox", "0 0 24 24"], ["aria-hidden", "true"]]) svg.setAttribute(name, value);
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", icon);
  svg.append(path);
  return make("a", { href: `#${id}`, "data-part": id }, svg, make("span", { t: `part.${id}` }));
}

function chosen() {
  return open().find(({ id }) => `#${id}` === location.hash) ?? open()[0];
}

/** On a narrow screen the parts stand in a line that is longer than the screen: show at which ends it goes on. */
function hintAtMore() {
  const after = rail.scrollWidth - rail.clientWidth - rail.scrollLeft;
  rail.classList.toggle("more-before", rail.scrollLeft > 1);
  rail.classList.toggle("more-after", after > 1);
}

/** The tab and the history of the browser name the part. */
function entitle() {
  document.title = `${word(`part.${chosen().id}`)} · ${word("admin.page")}`;
}

async function show() {
  const turn = (shown += 1);
  const part = chosen();
  entitle();
  for (const each of rail.querySelectorAll("[data-part]")) {
    if (each.dataset.part !== part.id) {
      each.removeAttribute("aria-current");
      continue;
    }
    each.setAttribute("aria-current", "page");
    rail.scrollLeft = each.offsetLeft - (rail.clientWidth - each.offsetWidth) / 2;
  }
  view.setAttribute("aria-busy", "true");
  const waiting = setTimeout(() => turn === shown && view.replaceChildren(waitingState()), 200);
  /** @type {Leaf[]} */
  let content;
  try {
    content = await part.show({ may, username });
  } catch (failure) {
    if (failure.code === "A0230") return leave("ended");
    content = [failedState(failure, show)];
  }
  clearTimeout(waiting);
  if (turn !== shown) return;
  view.replaceChildren(...content.filter((part) => part instanceof Node));
  view.removeAttribute("aria-busy");
}

/** A reader without any of the perms sees a message and no part of the administration. */
function closed() {
  const text = make("strong");
  say(text, "admin.closed");
  view.replaceChildren(make("div", { class: "empty" }, text, make("span", { t: "admin.closed.text" }), make("a", { class: "quiet lined", href: "account", t: "docs.account" })));
  view.removeAttribute("aria-busy");
}

async function start() {
  try {
    const user = await ask("GET", "users/me");
    perms = new Set(user.perms);
    username = user.username;
  } catch (failure) {
    if (failure.code === "A0230") return leave("ended");
    return view.replaceChildren(failedState(failure, start));
  }
  if (!open().length) return closed();
  rail.replaceChildren(...open().map(link));
  rail.addEventListener("click", async (event) => {
    const part = /** @type {HTMLAnchorElement | null} */ (/** @type {Element} */ (event.target).closest("[data-part]"));
    if (!part || event.ctrlKey || event.metaKey || event.shiftKey || !document.querySelector("[data-unsaved]")) return;
    event.preventDefault();
    if (await mayLeave()) location.hash = part.hash;
  });
  addEventListener("hashchange", async () => {
    // A dialog belongs to the part that opened it, also when the reader goes back in the history.
    for (const dialog of /** @type {NodeListOf<HTMLDialogElement>} */ (document.querySelectorAll("dialog[open]"))) dialog.close();
    await show();
    view.focus();
  });
  rail.addEventListener("scroll", hintAtMore, { passive: true });
  new ResizeObserver(hintAtMore).observe(rail);
  onLanguage(() => {
    hintAtMore();
    if (renewed()) show();
    else entitle();
  });
  await show();
}

/** Whether the open part has words of the service, which come in the language that asks for them. */
function renewed() {
  return Boolean(view.querySelector(".findings, .happened, .tree"));
}

// Who acts on a row that goes away, with its buttons, keeps a place in the page for the keyboard and the screen reader.
/** @type {HTMLElement | null} */
let focused = null;
view.addEventListener("focusin", ({ target }) => (focused = /** @type {HTMLElement} */ (target)));
new MutationObserver(() => {
  const { activeElement } = document;
  if (!focused || (activeElement !== focused && activeElement !== document.body) || focused.checkVisibility()) return;
  focused = null;
  view.focus({ preventScroll: true });
}).observe(view, { childList: true, subtree: true, attributeFilter: ["hidden"] });

if (held()) {
  const login = held()?.login;
  onTokens(() => held()?.login !== login && location.reload());
  prepareLogout((failure) => fail(sentence(failure)), mayLeave);
  keepFresh();
  start();
} else {
  leave();
}

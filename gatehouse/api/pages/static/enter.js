// The way into a console that cannot be changed: on the console's own address, through its proxy. It starts the login with
// the company account, puts the tokens where that console keeps them, and opens it.
//
// `?provider=NAME` chooses among several, `?console=2.18.6` says which version the console is, if not a current one.

import { call } from "./api.js";
import { handOver, keptBy } from "./enter-storage.js";
import { ROOT } from "./urls.js";
import { known, say } from "./words.js";
import "./preferences.js";

const about = document.getElementById("about");
const problem = document.getElementById("problem");
const choice = document.getElementById("choice");
const again = document.getElementById("again");

const query = new URLSearchParams(location.search);
const ticket = query.get("ticket");
const version = query.get("console");
query.delete("ticket");
const self = `${location.pathname}${query.size ? `?${query}` : ""}`;

const set = document.getElementById("console").href;
const consoleUrl = new URL(set || "/", location.href);
// Elsewhere the console would not see what is kept here; and at the root of its own address Gatehouse is itself.
const isOnConsole = set ? consoleUrl.origin === location.origin : ROOT.pathname !== "/";

/** @param {string} key */
function fail(key) {
  about.hidden = true;
  say(problem, key);
  problem.hidden = false;
}

async function open() {
  const kept = keptBy(version);
  if (!isOnConsole) return fail("enter.elsewhere");
  if (!kept) return fail("enter.version");
  if (!ticket) return start();
  // Neither the address line nor the browser's history keeps it.
  history.replaceState(null, "", self);
  try {
    await handOver(kept, await call("POST", "auth/qr-code/login", { body: { ticket } }));
    location.replace(consoleUrl);
  } catch (failure) {
    fail(failure.code === "A0242" ? "login.problem.expired" : known(failure.code) ? failure.code : "unforeseen");
    again.href = self;
    again.hidden = false;
  }
}

/** At the provider that is named, or is the only one; else there is a choice. */
function start() {
  const links = /** @type {HTMLAnchorElement[]} */ ([...choice.querySelectorAll("a")]);
  for (const link of links) link.href += `?to=${encodeURIComponent(location.origin + self)}`;
  const name = query.get("provider");
  const chosen = name || links.length > 1 ? links.find((link) => link.dataset.provider === name) : links[0];
  if (chosen) return location.replace(chosen.href);
  if (!links.length) return fail("enter.none");
  say(about, "enter.choose");
  choice.hidden = false;
}

open();

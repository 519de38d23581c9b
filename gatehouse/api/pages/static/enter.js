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

const links = /** @type {HTMLAnchorElement[]} */ ([...choice.querySelectorAll("a")]);

/** The console of this address: that of the settings, or what has its root. None where Gatehouse has an address of its own:
 * no console would see what is kept there. */
function consoleHere() {
  const set = document.getElementById("console").href;
  if (set && new URL(set).origin === location.origin) return set;
  const isOwn = new URL("../", links[0].href).href === ROOT.href;
  return isOwn && (set || ROOT.pathname === "/") ? null : "/";
}

/** @param {string} key */
function fail(key) {
  about.hidden = true;
  say(problem, key);
  problem.hidden = false;
}

async function open() {
  if (!links.length) return fail("enter.none");
  const [there, kept] = [consoleHere(), keptBy(version)];
  if (!there) return fail("enter.elsewhere");
  if (!kept) return fail("enter.version");
  if (!ticket) return start();
  // Neither the address line nor the browser's history keeps it.
  history.replaceState(null, "", self);
  try {
    await handOver(kept, await call("POST", "auth/qr-code/login", { body: { ticket } }));
    location.replace(there);
  } catch (failure) {
    fail(failure.code === "A0242" ? "login.problem.expired" : known(failure.code) ? failure.code : "unforeseen");
    again.href = self;
    again.hidden = false;
  }
}

/** At the provider that is named, or is the only one; else there is a choice. */
function start() {
  for (const link of links) link.href += `?to=${encodeURIComponent(location.origin + self)}`;
  const name = query.get("provider");
  const chosen = name || links.length > 1 ? links.find((link) => link.dataset.provider === name) : links[0];
  if (chosen) return location.replace(chosen.href);
  say(about, "enter.choose");
  choice.hidden = false;
}

open();

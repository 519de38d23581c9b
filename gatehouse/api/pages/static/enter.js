// The way into a console that cannot be changed: on the console's own address, through its proxy. Who is logged in at our
// page gets a ticket there, anybody else logs in first; this page puts the tokens where that console keeps them, and opens it.
//
// `?provider=NAME` is a login with that company account, `?console=2.18.6` the version of the console, if not a current one.

import { call } from "./api.js";
import { handOver, keptBy } from "./enter-storage.js";
import { ROOT } from "./urls.js";
import { known, say } from "./words.js";
import "./preferences.js";

const about = document.getElementById("about");
const problem = document.getElementById("problem");
const entry = document.getElementById("entry");
const again = document.getElementById("again");

const query = new URLSearchParams(location.search);
const ticket = query.get("ticket");
const version = query.get("console");
query.delete("ticket");
const self = `${location.pathname}${query.size ? `?${query}` : ""}`;

const links = /** @type {HTMLAnchorElement[]} */ ([...document.querySelectorAll("#providers a")]);

/** The console of this address: that of the settings, or what has its root. None where Gatehouse has an address of its own:
 * no console would see what is kept there. */
function consoleHere() {
  const set = document.getElementById("console").href;
  if (set && new URL(set).origin === location.origin) return set;
  const isOwn = new URL("../", entry.href).href === ROOT.href;
  return isOwn && (set || ROOT.pathname === "/") ? null : "/";
}

/** @param {string} key */
function fail(key) {
  about.hidden = true;
  say(problem, key);
  problem.hidden = false;
}

async function open() {
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

/** At the provider that is named; else at our page, which sends those who are not logged in to the only provider. */
function start() {
  const to = `?to=${encodeURIComponent(location.origin + self)}`;
  const named = links.find((link) => link.dataset.provider === query.get("provider"));
  if (named) return location.replace(named.href + to);
  const only = links.length === 1 ? `&provider=${links[0].dataset.provider}` : "";
  location.replace(entry.href + to + only);
}

open();

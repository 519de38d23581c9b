// The account page: it loads what there is to show, and leaves when the session is over.

import { loadFactor, passwordPlace, prepareFactor } from "./account-factor.js";
import { loadApplications, prepareApplications } from "./account-applications.js";
import { comeBack, loadIdentities, prepareIdentities, showIdentities } from "./account-identities.js";
import { loadLogins, prepareLogins } from "./account-logins.js";
import { prepareLogout } from "./logout.js";
import { prepareChange, showPasswordPlace } from "./account-password.js";
import { loadProfile, prepareProfile } from "./account-profile.js";
import { loadSessions, prepareSessions } from "./account-sessions.js";
import { held, keepFresh, leave, onTokens } from "./tokens.js";
import { known, say } from "./words.js";
import "./preferences.js";

const trouble = document.getElementById("trouble");
const retry = document.getElementById("retry");

/** @param {Failure} failure */
function report(failure) {
  if (failure.code === "A0230") return leave("ended");
  say(document.getElementById("trouble-text"), known(failure.code) ? failure.code : "unforeseen");
  trouble.hidden = false;
}

async function load() {
  trouble.hidden = true;
  try {
    // Sessions and logins name the company accounts that they went by.
    const named = loadIdentities().then(() => Promise.all([loadSessions(), loadLogins()]));
    await Promise.all([loadProfile(), loadFactor(), loadApplications(), named]);
    showPasswordPlace(passwordPlace());
    showIdentities();
    comeBack();
  } catch (failure) {
    report(failure);
  }
}

if (held()) {
  const login = held()?.login;
  // Another user logged in from another tab: this page shows the wrong account.
  onTokens(() => held()?.login !== login && location.reload());
  prepareProfile(report);
  prepareSessions(report);
  prepareChange(report);
  prepareFactor();
  prepareIdentities();
  prepareApplications(report);
  prepareLogins(report);
  // Brought back by the browser as it was left, perhaps long ago.
  addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
  retry.addEventListener("click", load);
  prepareLogout(report);
  keepFresh();
  load();
} else {
  leave();
}

// Back from a login with a company account: a ticket to exchange, one that waits for a code, or what went wrong.

import { call } from "./api.js";
import { busy, clear, complain, complete, prepare } from "./fields.js";
import { ROOT } from "./urls.js";
import { known, say, word } from "./words.js";

const form = document.getElementById("form");
const { code } = form.elements;
const submit = document.getElementById("submit");
const note = document.getElementById("form-message");
const problem = document.getElementById("problem");
const company = document.getElementById("company");

/** What the login page does for every kind of login.
 * @typedef {{ arrive: (set: TokenData) => unknown, mustEnrol: (ticket: string, next: Then) => unknown, wait: OnFailure }} LoginPage */

/** Whether the page has nothing else to do.
 * @param {LoginPage} page */
export async function comeBack(page) {
  const back = new URLSearchParams(location.search);
  // Neither the address line nor the browser's history keeps a ticket.
  history.replaceState(null, "", location.pathname);
  const [ticket, pending] = [back.get("ticket"), back.get("pending")];
  if (ticket) return exchange(ticket, page);
  if (pending) return askForCode(pending, page);
  explain(back.get("problem") ?? "", back.get("provider") ?? "");
  return false;
}

/** @param {string} ticket @param {LoginPage} page */
async function exchange(ticket, page) {
  busy(submit, true);
  try {
    await page.arrive(await call("POST", "auth/qr-code/login", { body: { ticket } }));
    return true;
  } catch (failure) {
    busy(submit, false);
    explain(failure.code === "A0242" ? "expired" : failure.code);
    return false;
  }
}

/** Say it beside the buttons, where it can be tried again.
 * @param {string} tag @param {string} [provider] */
function explain(tag, provider) {
  const label = provider && document.querySelector(`[data-provider="${CSS.escape(provider)}"] [data-title]`);
  const title = (label && label.dataset.title) || word("login.company");
  say(problem, [`login.problem.${tag}`, tag].find(known) ?? "unforeseen", { title });
  problem.hidden = false;
  for (const part of [company, problem]) part.scrollIntoView({ block: "nearest" });
}

/** The provider has let the person in; the code of the second factor is asked for here, and nothing else.
 * @param {string} ticket @param {LoginPage} page */
function askForCode(ticket, page) {
  for (const part of form.querySelectorAll(".field, .check")) part.hidden = part.id !== "code-field";
  company.hidden = true;
  document.getElementById("pending-part").hidden = false;
  prepare(form);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (submit.getAttribute("aria-disabled") === "true") return;
    clear(code);
    say(note, "");
    if (complete([code, "needed.code"])) send(code.value.replace(/\s/g, ""));
  });
  /** @param {string} [otpCode] */
  const send = async (otpCode) => {
    busy(submit, true);
    try {
      const { url } = await call("POST", "auth/company-login/code", { body: { ticket, otpCode } });
      location.replace(url);
    } catch (failure) {
      busy(submit, false);
      refused(failure, Boolean(otpCode));
    }
  };
  /** @param {Failure} failure @param {boolean} typed */
  const refused = (failure, typed) => {
    if (failure.code === "A0220" && failure.ticket) return page.mustEnrol(failure.ticket, () => code.focus());
    if (failure.code === "A0220") {
      if (typed) complain(code, "login.code.again");
      return code.select();
    }
    // The ticket has come to its end, or its user has.
    if (failure.code === "A0242" || failure.code === "A0210") return location.replace(`${ROOT}?problem=expired`);
    say(note, known(failure.code) ? failure.code : "unforeseen");
    if (failure.wait) page.wait(failure);
  };
  // Without a code it answers whether there is an app at all, or one must be set up.
  send();
  return true;
}

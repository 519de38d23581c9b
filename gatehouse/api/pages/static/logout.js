// The button that logs out, at the top of the account page and of the administration.

import { ask, leave } from "./tokens.js";

/** `mayGo` is asked first: the page may have something unsaved.
 * @param {OnFailure} report @param {() => boolean | Promise<boolean>} [mayGo] */
export function prepareLogout(report, mayGo = () => true) {
  const button = document.getElementById("logout");
  button.addEventListener("click", async () => {
    if (!(await mayGo())) return;
    button.disabled = true;
    try {
      // The logout of a company account goes on at its provider.
      /** @type {string | null} */
      let next = null;
      await ask("POST", "auth/logout", undefined, (headers) => (next = headers.get("Logout-Location")));
      leave("left", next);
    } catch (failure) {
      if (failure.code === "A0230") leave("left");
      else report(failure);
    } finally {
      button.disabled = false;
    }
  });
}

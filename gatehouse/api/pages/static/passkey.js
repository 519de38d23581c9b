// The two ceremonies of a passkey, as the browser and the service speak them.

import { call } from "./api.js";

// Passkeys belong to a name: browsers give none to an address such as 127.0.0.1.
const isAddress = /^[\d.]+$|:/.test(location.hostname);

/** This page under the name of the machine itself, if it was opened by a number that means the same. */
export const byName = /^127\.|^\[::1\]$/.test(location.hostname) ? Object.assign(new URL(location.href), { hostname: "localhost", hash: "" }) : null;

/** Whether this browser can do it: under a name, on https or localhost, and new enough to read the service's JSON. */
export const able = !isAddress && Boolean(window.PublicKeyCredential?.parseRequestOptionsFromJSON);

/** Prove who one is with a passkey; `silent` offers it in the list under the username field.
 * @param {{ silent?: boolean, signal?: AbortSignal }} [how] @returns {Promise<any>} */
export async function prove({ silent = false, signal } = {}) {
  const { publicKey } = /** @type {any} */ (await call("POST", "auth/passkey/options"));
  const options = PublicKeyCredential.parseRequestOptionsFromJSON(publicKey);
  const found = await navigator.credentials.get({ publicKey: options, mediation: silent ? "conditional" : "optional", signal });
  return /** @type {PublicKeyCredential} */ (found).toJSON();
}

/** Make a passkey that answers the service's challenge.
 * @param {any} publicKey @returns {Promise<any>} */
export async function register(publicKey) {
  const made = await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey) });
  return /** @type {PublicKeyCredential} */ (made).toJSON();
}

/** Whether the reader closed the browser's window: nothing went wrong, and nothing need be said.
 * @param {unknown} problem */
export function dismissed(problem) {
  return problem instanceof DOMException && ["NotAllowedError", "AbortError"].includes(problem.name);
}

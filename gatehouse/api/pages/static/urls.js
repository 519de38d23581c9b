// The base path of the service: assets are two folders below its root, behind any prefix or proxy.

export const ROOT = new URL("../../", import.meta.url);
export const API = new URL("api/v1/", ROOT);

/** Preferences that the service reads to send the right page at once. They say nothing about who somebody is.
 * @param {string} name @param {string} value */
export function setCookie(name, value) {
  const age = value ? 365 * 86400 : 0;
  document.cookie = `${name}=${value}; Path=${ROOT.pathname}; Max-Age=${age}; SameSite=Lax`;
}

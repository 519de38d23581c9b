// Where the consoles keep a token set in the browser, by their version (vue3-element-admin and what is made from it).
//
// A console that got its tokens here has not logged in by its form, so Gatehouse does not know its version, which decides
// how menus and data scopes are written. `shows` is a request by which that version is known, asked once.

import { call } from "./api.js";

const NUMBERS = "dicts/gender/items";
const WORDS = "dict/list";
const FORM = "dict/gender/options";
const VEA = { access: "vea:auth:access_token", refresh: "vea:auth:refresh_token", remember: "vea:auth:remember_me" };
const BARE = { access: "access_token", refresh: "refresh_token" };

/** Newest first. With `remember` the tokens are JSON in sessionStorage; without it they are bare text in localStorage.
 * `user` is the profile and `words` the dictionaries, which that version reads at a login by form and at no other time.
 * @type {{ since: number[], access: string, refresh?: string, remember?: string, bearer?: boolean, user?: boolean, shows?: string }[]} */
const KEPT = [
  { since: [4, 3], ...VEA },
  { since: [3, 3, 1], ...VEA, shows: NUMBERS },
  { since: [2, 29], ...BARE, remember: "remember_me", user: true, shows: NUMBERS },
  { since: [2, 25], ...BARE, user: true, shows: NUMBERS },
  { since: [2, 22, 1], ...BARE, user: true, shows: WORDS },
  { since: [2, 18, 7], ...BARE, bearer: true, user: true, shows: WORDS },
  { since: [2, 16, 6], access: "admin-token", bearer: true, user: true, shows: WORDS },
  { since: [2, 15], access: "v3-admin-token", bearer: true, shows: WORDS },
  { since: [2, 12], access: "accessToken", bearer: true, shows: WORDS },
  { since: [2, 9, 3], access: "accessToken", bearer: true, shows: FORM },
  { since: [2, 8, 2], access: "token", bearer: true, shows: FORM },
  { since: [2, 2], access: "accessToken", bearer: true, shows: FORM },
];

/** The row of a version such as `2.18.6`; the newest without one.
 * @param {string | null} version */
export function keptBy(version) {
  if (!version) return KEPT[0];
  const parts = version.split(".").map(Number);
  return KEPT.find(({ since }) => {
    const at = [0, 1, 2].find((place) => (parts[place] ?? 0) !== (since[place] ?? 0));
    return at === undefined || (parts[at] ?? 0) > (since[at] ?? 0);
  });
}

/** Put the tokens where the console looks for them.
 * @param {(typeof KEPT)[number]} kept @param {TokenData} tokens */
export async function handOver(kept, { accessToken, refreshToken }) {
  /** @param {string} path @returns {Promise<any>} */
  const ask = (path) => /** @type {any} */ (call)("GET", path, { token: accessToken });
  const shown = kept.shows && (await ask(kept.shows));
  if (kept.shows === WORDS) {
    const words = shown.map((/** @type {any} */ { dictCode, dictDataList }) => [dictCode, dictDataList]);
    localStorage.setItem("dictionary", JSON.stringify(Object.fromEntries(words)));
  }
  if (kept.user) localStorage.setItem("userInfo", JSON.stringify(await ask("users/me")));
  const bare = { [kept.access]: (kept.bearer ? "Bearer " : "") + accessToken, ...(kept.refresh && { [kept.refresh]: refreshToken }) };
  for (const [key, value] of Object.entries(bare)) {
    if (!kept.remember) localStorage.setItem(key, value);
    else {
      sessionStorage.setItem(key, JSON.stringify(value));
      localStorage.removeItem(key);
    }
  }
  // Written always: an old `true` would make the console look into the other storage.
  if (kept.remember) localStorage.setItem(kept.remember, "false");
}

// The tokens of this browser, and the one rule about them: however many tabs there are, one refresh at a time.
//
// "Remember me" keeps them in localStorage, which all tabs share; otherwise they live in the sessionStorage of a tab,
// of which a duplicated tab has a copy. Tabs tell each other about every change, so copies stay equal.

import { ROOT } from "./urls.js";
import { call } from "./api.js";
import { forgetRefreshCounts, setRefreshCount, refreshCountOf } from "./refresh-count.js";

const KEY = `gatehouse.tokens ${ROOT.pathname}`;
const REASON = `gatehouse.reason ${ROOT.pathname}`;

// A refresh whose answer is lost is repeated while the service still answers with the same successor, which by default
// is for ten seconds; later it would be taken for theft.
const REFRESH_LIMIT = 3_000;
// The other tabs wait for it, so the last try has a limit, too: above what a proxy waits for the service.
const LAST_LIMIT = 30_000;
const REFRESH_PAUSE = 1_000;

// How long what another tab has written may take to get here.
const ON_ITS_WAY = 2_000;

// A page that needs no login: it stays where it is when the tokens go.
const PUBLIC = document.body.hasAttribute("data-public");

const channel = new BroadcastChannel(KEY);
/** @type {Then[]} */
const followers = [];

/** {login, turn, remembered, access, refresh, life, until} or null.
 *
 * `login` names the login they come from, `turn` counts how often they were renewed since.
 * @returns {Tokens | null}
 */
export function held() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY) ?? "null");
  } catch {
    return null; // not written by us
  }
}

/** @param {TokenData} set @param {boolean} remembered */
export function enter(set, remembered) {
  const login = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("-");
  drop();
  forgetRefreshCounts();
  return tell(storeSet(set, { login, turn: 0, remembered }));
}

/** Take over a token set that did not come from here: an operation tried on the API page was a login or a refresh.
 * @param {TokenData} set */
export async function adopt(set) {
  const before = held();
  if (!before) return enter(set, false);
  const renewed = tell(storeSet(set, { ...before, turn: before.turn + 1 }));
  await setRefreshCount(renewed.login, renewed.turn);
  return renewed;
}

/** Delete the tokens here and in every tab that has the same, and go to the login page or to another address.
 * @param {string} [reason] @param {string | null} [to] */
export function leave(reason, to) {
  const tokens = held();
  drop();
  if (tokens) channel.postMessage({ left: tokens.login, reason });
  return toLogin(reason, to);
}

/** An access token that does not expire soon, or null without a login. */
export async function freshToken() {
  const tokens = held();
  if (!tokens) return null;
  if (tokens.until - Date.now() >= margin(tokens)) return tokens.access;
  return (await renew(tokens.access))?.access ?? null;
}

/** Call an operation that needs an access token. An expired one is renewed and the call made again, once.
 * @type {Ask} */
export async function ask(method, path, body, seen) {
  let tokens = held() ?? (await toLogin());
  if (tokens.until - Date.now() < margin(tokens)) tokens = await renew(tokens.access);
  try {
    return await call(method, path, { body, token: tokens.access, seen });
  } catch (failure) {
    if (failure.code !== "A0230") throw failure;
  }
  tokens = await renew(tokens.access);
  return call(method, path, { body, token: tokens.access, seen });
}

/** New tokens for old, unless another tab or another call was first.
 * @param {string} stale @returns {Promise<Tokens>} */
export function renew(stale) {
  return exclusively(async () => {
    const tokens = (await newest()) ?? (await toLogin());
    if (tokens?.access !== stale) return tokens;
    try {
      const set = await refreshed(tokens.refresh);
      const renewed = tell(storeSet(set, { ...tokens, turn: tokens.turn + 1 }));
      await setRefreshCount(renewed.login, renewed.turn);
      return renewed;
    } catch (failure) {
      if (failure.code !== "A0231") throw failure;
      const now = held();
      if (now && now.access !== stale) return now;
      return leave("ended");
    }
  });
}

/** @param {string} refreshToken */
async function refreshed(refreshToken) {
  /** @param {number} limit */
  const send = (limit) => call("POST", "auth/refresh-token", { body: { refreshToken }, limit });
  try {
    return await send(REFRESH_LIMIT);
  } catch (failure) {
    if (failure.code !== "offline" && failure.status < 500) throw failure;
    await new Promise((resume) => setTimeout(resume, REFRESH_PAUSE));
    return send(LAST_LIMIT);
  }
}

/** While the page is visible, renew before expiry; a hidden page does not keep a session alive. */
export function keepFresh() {
  /** @type {number | undefined} */
  let timer;
  const check = () => {
    clearTimeout(timer);
    const tokens = held();
    if (!tokens || document.hidden) return;
    const due = tokens.until - margin(tokens) - Date.now();
    if (due > 0) timer = setTimeout(check, Math.min(due, 3_600_000));
    else renew(tokens.access).then(check, () => (timer = setTimeout(check, 10_000)));
  };
  document.addEventListener("visibilitychange", check);
  onTokens(check);
  check();
}

/** Called when another tab has logged in or renewed.
 * @param {Then} follower */
export function onTokens(follower) {
  followers.push(follower);
}

/** Why the login page is shown; read once. */
export function reason() {
  const text = sessionStorage.getItem(REASON);
  sessionStorage.removeItem(REASON);
  return text;
}

/** @param {TokenData} set @param {Pick<Tokens, "login" | "turn" | "remembered">} of */
function storeSet(set, { login, turn, remembered }) {
  const life = set.expiresIn * 1000;
  const { accessToken: access, refreshToken: refresh } = set;
  const tokens = { login, turn, remembered, access, refresh, life, until: Date.now() + life };
  store(tokens);
  return tokens;
}

/** What is held, once it has caught up with the tab that was last to renew. */
async function newest() {
  const login = held()?.login;
  const turn = login ? await refreshCountOf(login) : 0;
  const end = Date.now() + ON_ITS_WAY;
  while (held()?.login === login && (held()?.turn ?? turn) < turn && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return held();
}

/** @param {Tokens} tokens */
function store(tokens) {
  (tokens.remembered ? localStorage : sessionStorage).setItem(KEY, JSON.stringify(tokens));
}

function drop() {
  sessionStorage.removeItem(KEY);
  localStorage.removeItem(KEY);
}

/** @param {Tokens} tokens */
function tell(tokens) {
  channel.postMessage({ tokens });
  return tokens;
}

/** How long before its end a token is renewed.
 * @param {Tokens} tokens */
function margin(tokens) {
  return Math.min(60_000, tokens.life / 10);
}

/** @param {string} [reason] @param {string | null} [to] @returns {any} */
function toLogin(reason, to) {
  if (PUBLIC) {
    for (const follower of followers) follower();
    return null;
  }
  if (reason) sessionStorage.setItem(REASON, reason);
  location.replace(to ?? ROOT);
  // The page is being left: calls that wait for tokens need no answer.
  return new Promise(() => {});
}

/** @type {Promise<unknown>} */
let last = Promise.resolve();

/** One at a time, in this tab and, where the browser has locks, in all of them.
 *
 * Locks need a secure context. Without them two tabs may refresh at once: the service answers both with the same
 * successor, and the tabs tell each other.
 * @template T @param {() => Promise<T>} work @returns {Promise<T>}
 */
function exclusively(work) {
  if (navigator.locks) return navigator.locks.request(KEY, work);
  const mine = last.then(work, work);
  last = mine.catch(() => {});
  return mine;
}

channel.addEventListener("message", ({ data }) => {
  const tokens = held();
  if (data.left && data.left === tokens?.login) {
    drop();
    toLogin(data.reason);
  } else if (data.left && !tokens && location.pathname !== ROOT.pathname) {
    toLogin(data.reason);
  } else if (data.tokens) {
    if (data.tokens.login === tokens?.login && !data.tokens.remembered) store(data.tokens);
    for (const follower of followers) follower();
  }
});

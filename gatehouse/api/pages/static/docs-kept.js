// What answers on this page leave behind for the next request: captcha id, tokens. Kept until the tab is closed.

import { ROOT } from "./place.js";

const KEY = `gatehouse.docs ${ROOT.pathname}`;
const followers = [];

let values = JSON.parse(sessionStorage.getItem(KEY) ?? "{}");

export function kept() {
  return values;
}

export function onKept(follower) {
  followers.push(follower);
}

/** Take over what an answer brought: a captcha's id, a token set. */
export function learn(data) {
  const found = {};
  if (data?.captchaId) Object.assign(found, { captchaId: data.captchaId, captchaKey: data.captchaKey });
  if (data?.accessToken) Object.assign(found, { accessToken: data.accessToken, refreshToken: data.refreshToken });
  if (Object.keys(found).length) change({ ...values, ...found });
}

/** The tokens open nothing any more. */
export function forget() {
  const { accessToken, refreshToken, ...rest } = values;
  change(rest);
}

function change(next) {
  values = next;
  sessionStorage.setItem(KEY, JSON.stringify(values));
  for (const follower of followers) follower(values);
}

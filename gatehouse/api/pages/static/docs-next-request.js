// What answers on this page leave behind for the next request: the captcha's id here, tokens where all pages keep them.

import { adopt, held, leave, onTokens } from "./tokens.js";

/** @type {Then[]} */
const followers = [];

/** @type {Record<string, string>} */
let captcha = {};

/** Values by the names that bodies and parameters have for them.
 * @returns {Record<string, string>} */
export function kept() {
  const tokens = held();
  return tokens ? { ...captcha, refreshToken: tokens.refresh } : captcha;
}

/** @param {Then} follower */
export function onKept(follower) {
  followers.push(follower);
}

/** Take over what an answer brought: a captcha's id, a token set.
 * @param {any} data */
export async function learn(data) {
  if (data?.captchaId) captcha = { captchaId: data.captchaId, captchaKey: data.captchaKey };
  if (data?.accessToken && data.refreshToken) await adopt(data);
  if (data?.captchaId || data?.accessToken) changed();
}

/** The tokens open nothing any more. */
export function forget() {
  leave("left");
}

function changed() {
  for (const follower of followers) follower();
}

onTokens(changed);

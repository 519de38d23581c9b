// One call to the public API: the data of the envelope, or a Failure.

import { API } from "./urls.js";
import { tag } from "./words.js";

export class Failure extends Error {
  /** `code` is that of the contract, or `offline` where no answer came; `wait` is in seconds.
   * @param {number} status @param {string} code @param {string} message @param {number} [wait] @param {string | null} [ticket] */
  constructor(status, code, message, wait = 0, ticket = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.wait = wait;
    this.ticket = ticket; // of a login that must enrol a second factor first
  }
}

/** `limit`: milliseconds after which the answer counts as lost. `seen` gets the headers of an answer.
 * @type {Call} */
export async function call(method, path, { body, token, limit, seen } = {}) {
  /** @type {Record<string, string>} */
  const headers = { "Accept-Language": tag() };
  if (body) headers["Content-Type"] = "application/json";
  if (token) headers.Authorization = `Bearer ${token}`;
  const signal = limit ? AbortSignal.timeout(limit) : null;
  const request = { method, headers, body: body && JSON.stringify(body), signal };
  const [answer, envelope] = await exchange(new URL(path, API), request);
  if (!answer.ok) {
    const wait = Number(answer.headers.get("Retry-After")) || 0;
    throw new Failure(answer.status, envelope.code, envelope.msg, wait, answer.headers.get("Enrolment-Ticket"));
  }
  seen?.(answer.headers);
  return envelope.data;
}

/** @param {URL} url @param {RequestInit} request @returns {Promise<[Response, any]>} */
async function exchange(url, request) {
  try {
    const answer = await fetch(url, request);
    return [answer, await answer.json()];
  } catch {
    // No connection, or a proxy that answered in our place with something that is no envelope.
    throw new Failure(0, "offline", "");
  }
}

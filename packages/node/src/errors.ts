// The refusals of a check and their HTTP form: the envelope that consoles of the vue3-element-admin family act on.

const RETRY_SECONDS = 2;

/** Base of every refusal. `message` is for the log; the caller gets `body` and nothing more. */
export abstract class VerifyError extends Error {
  abstract readonly status: number;
  abstract readonly body: { code: string; msg: string };
  readonly headers: Record<string, string> = {};
}

/** There is no token, or it is not valid. */
export class TokenInvalid extends VerifyError {
  readonly status = 401;
  readonly body = { code: "A0230", msg: "Please log in" };
  override readonly headers = { "WWW-Authenticate": 'Bearer error="invalid_token"' };
}

/** The token is good, and its user may not do this. */
export class Forbidden extends VerifyError {
  readonly status = 403;
  readonly body = { code: "A0301", msg: "Not allowed" };
  override readonly headers = { "WWW-Authenticate": 'Bearer error="insufficient_scope"' };
}

/** Gatehouse could not be reached, so the check could not be made. It is no reason to log anybody out. */
export class Unavailable extends VerifyError {
  readonly status = 503;
  readonly body = { code: "C0300", msg: "The service is not available, try again in a moment" };
  override readonly headers = { "Retry-After": String(RETRY_SECONDS) };
}

// Middleware for Express 4 and 5, and for every framework with handlers of the form (request, response, next).
import type { IncomingMessage, ServerResponse } from "node:http";
import { VerifyError } from "./errors.js";
import type { Principal } from "./principal.js";
import type { Verifier } from "./verifier.js";

declare global {
  namespace Express {
    interface Request {
      /** Whose token the request carries. Set by `guard`, except on public paths. */
      principal?: Principal;
    }
  }
}

type GuardedRequest = IncomingMessage & { principal?: Principal; path?: string };
type Next = (problem?: unknown) => void;
export type Middleware = (request: GuardedRequest, response: ServerResponse, next: Next) => void;

export interface GuardOptions {
  /** Paths that need no token, compared character by character. */
  publicPaths?: readonly string[];
}

/** Lets nobody past without a good token: 401, or 503 if the check cannot be made. */
export function guard(verifier: Verifier, { publicPaths = [] }: GuardOptions = {}): Middleware {
  const open = new Set(publicPaths);
  return async (request, response, next) => {
    if (request.path !== undefined && open.has(request.path)) return next();
    try {
      request.principal = await verifier.authenticate(request);
    } catch (problem) {
      return refuse(problem, response, next);
    }
    next();
  };
}

/** Stands behind `guard`: all of these perms are needed, otherwise 403. */
export function requirePerms(...perms: string[]): Middleware {
  return requirement((principal) => principal.requirePerms(...perms));
}

/** Stands behind `guard`: one of these roles is needed, otherwise 403. */
export function requireRoles(...anyOf: string[]): Middleware {
  return requirement((principal) => principal.requireRoles(...anyOf));
}

function requirement(check: (principal: Principal) => void): Middleware {
  return (request, response, next) => {
    try {
      if (!request.principal) throw new Error("requirePerms and requireRoles stand behind guard(verifier)");
      check(request.principal);
    } catch (problem) {
      return refuse(problem, response, next);
    }
    next();
  };
}

function refuse(problem: unknown, response: ServerResponse, next: Next): void {
  if (!(problem instanceof VerifyError)) return next(problem);
  const headers = { "Content-Type": "application/json", "Cache-Control": "no-store", ...problem.headers };
  response.writeHead(problem.status, headers).end(JSON.stringify(problem.body));
}

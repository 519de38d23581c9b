// A Node service that trusts the tokens of Gatehouse, checked with `jose`.
import { createServer } from "node:http";
import { createRemoteJWKSet, errors, jwtVerify } from "jose";
import { EndedSessions } from "./ended-sessions.mjs";

const gatehouse = process.env.GATEHOUSE_URL ?? "http://127.0.0.1:8000";
const tokenType = process.env.GATEHOUSE_TOKEN_TYPE ?? "at+jwt";
const port = Number(process.env.PORT ?? 8101);

// Fetched when first needed, kept, and fetched again for an unknown key, at most once a second.
const keys = createRemoteJWKSet(new URL(`${gatehouse}/.well-known/jwks.json`), {
  cacheMaxAge: 300_000,
  cooldownDuration: 1_000,
  timeoutDuration: 3_000,
});

const ended = new EndedSessions(gatehouse, process.env.GATEHOUSE_SERVICE_KEY ?? "");

class TokenInvalid extends Error {}

// jose takes a key only for its own `alg`. For a token without `kid` it would take any key that fits.
function key(header, token) {
  if (typeof header.kid !== "string") throw new errors.JWKSNoMatchingKey();
  return keys(header, token);
}

const strings = (claim) => (Array.isArray(claim) ? claim.map(String) : []);

async function principal(request) {
  const [, token] = /^bearer (\S+)$/i.exec(request.headers.authorization ?? "") ?? [];
  if (!token) throw new TokenInvalid();
  // Algorithms, type, issuer and audience are fixed here: the token has no say in them.
  const { payload } = await jwtVerify(token, key, {
    algorithms: ["ES256", "EdDSA", "RS256"],
    typ: tokenType,
    issuer: gatehouse,
    audience: "gatehouse",
    clockTolerance: 10,
  });
  const { exp, iat, sub, sid } = payload;
  if (typeof exp !== "number" || !/^\d{1,15}$/.test(sub) || typeof sid !== "string" || !sid) throw new TokenInvalid();
  if (ended.has(sid, iat)) throw new TokenInvalid();
  return { userId: Number(sub), roles: strings(payload.roles), perms: strings(payload.perms) };
}

// What each operation asks for.
const operations = {
  "GET /hello": () => true,
  "GET /report": (who) => who.roles.includes("ADMIN"),
  "POST /users": (who) => who.perms.includes("sys:user:add"),
};

const answers = {
  401: [{ code: "A0230", msg: "Please log in" }, { "WWW-Authenticate": 'Bearer error="invalid_token"' }],
  403: [{ code: "A0301", msg: "Not allowed" }, {}],
  404: [{ code: "C0113", msg: "There is nothing at this path" }, {}],
  503: [{ code: "C0300", msg: "The service is not available, try again in a moment" }, { "Retry-After": "2" }],
};

async function answer(request) {
  const allowed = Object.hasOwn(operations, `${request.method} ${request.url}`)
    && operations[`${request.method} ${request.url}`];
  if (!allowed) return 404;
  try {
    const who = await principal(request);
    return allowed(who) ? { userId: who.userId, roles: who.roles } : 403;
  } catch (problem) {
    return isRefusal(problem) ? 401 : 503;
  }
}

// No key for the token, or no good token: 401. Keys that cannot be had at all are not the caller's fault.
function isRefusal(problem) {
  if (problem instanceof TokenInvalid) return true;
  const keysAway = problem instanceof errors.JWKSTimeout || problem.code === "ERR_JOSE_GENERIC";
  return problem instanceof errors.JOSEError && !keysAway;
}

await ended.start();
createServer(async (request, response) => {
  const result = await answer(request);
  const [body, headers] = typeof result === "number" ? answers[result] : [{ code: "00000", msg: "ok", data: result }, {}];
  response.writeHead(typeof result === "number" ? result : 200, { "Content-Type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}).listen(port, "127.0.0.1");

// A Node service that trusts the tokens of Gatehouse, checked offline with `jose`.
import { createServer } from "node:http";
import { createRemoteJWKSet, errors, jwtVerify } from "jose";

const gatehouse = process.env.GATEHOUSE_URL ?? "http://127.0.0.1:8000";
const port = Number(process.env.PORT ?? 8101);

// Fetched when first needed, kept, and fetched again for an unknown key, at most once a second.
const keys = createRemoteJWKSet(new URL(`${gatehouse}/.well-known/jwks.json`), {
  cacheMaxAge: 300_000,
  cooldownDuration: 1_000,
});

async function principal(request) {
  const [, token] = /^bearer (\S+)$/i.exec(request.headers.authorization ?? "") ?? [];
  if (!token) throw new errors.JWTInvalid("no token");
  // Algorithm, type, issuer and audience are fixed here: the token has no say in them.
  const { payload } = await jwtVerify(token, keys, {
    algorithms: ["EdDSA"],
    typ: "at+jwt",
    issuer: gatehouse,
    audience: "gatehouse",
    clockTolerance: 10,
    requiredClaims: ["exp", "sub", "sid"],
  });
  return { userId: Number(payload.sub), roles: payload.roles ?? [] };
}

// Which role each path asks for; null is any good token.
const paths = { "/hello": null, "/report": "ADMIN" };

const answers = {
  401: [{ code: "A0230", msg: "Please log in" }, { "WWW-Authenticate": 'Bearer error="invalid_token"' }],
  403: [{ code: "A0301", msg: "Not allowed" }, {}],
  404: [{ code: "C0113", msg: "There is nothing at this path" }, {}],
  503: [{ code: "C0300", msg: "The service is not available, try again in a moment" }, { "Retry-After": "2" }],
};

async function answer(request) {
  if (!Object.hasOwn(paths, request.url)) return 404;
  try {
    const who = await principal(request);
    const role = paths[request.url];
    return role && !who.roles.includes(role) ? 403 : who;
  } catch (problem) {
    // No key for the token, or no good token: 401. Keys that cannot be had at all are not the caller's fault.
    const refused = problem instanceof errors.JOSEError && !(problem instanceof errors.JWKSTimeout)
      && problem.code !== "ERR_JOSE_GENERIC";
    return refused ? 401 : 503;
  }
}

createServer(async (request, response) => {
  const result = await answer(request);
  const [body, headers] = typeof result === "number" ? answers[result] : [{ code: "00000", msg: "ok", data: result }, {}];
  response.writeHead(typeof result === "number" ? result : 200, { "Content-Type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}).listen(port, "127.0.0.1");

// What both applications have: their settings, two pages, and the address that the provider calls at a logout.
import { createServer } from "node:http";
import { createRemoteJWKSet, jwtVerify } from "jose";

export const { issuer, url, clientId, clientSecret, key, scope } = JSON.parse(process.env.PARTY);
export const BACKCHANNEL_LOGOUT = "/backchannel-logout";
const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";

/** Sessions that the provider has ended. */
export const ended = new Set();

export function serve(answer) {
  const server = createServer(async (request, response) => {
    try {
      const chunks = await request.toArray();
      const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
      const path = new URL(request.url, url).pathname;
      if (path === BACKCHANNEL_LOGOUT) await hearLogout(form.logout_token, response);
      else await answer(request, response, form);
    } catch (error) {
      console.error(error);
      response.statusCode = 500;
      page(response, "<h1>Failed</h1>");
    }
  });
  server.listen(new URL(url).port, "127.0.0.1");
}

export function cookies(request) {
  const pairs = (request.headers.cookie ?? "").split("; ").filter(Boolean);
  return Object.fromEntries(pairs.map((pair) => [pair.split("=", 1)[0], decodeURIComponent(pair.slice(pair.indexOf("=") + 1))]));
}

export function redirect(response, location) {
  response.writeHead(302, { Location: String(location) }).end();
}

export function page(response, body) {
  response.setHeader("Content-Type", "text/html; charset=utf-8");
  response.end(body);
}

export const welcome = (user) => `<h1 id="user">${user}</h1><a href="/logout">Log out</a>`;

/** OpenID Connect Back-Channel Logout 1.0, 2.6: what is not a logout token for us is a 400. */
async function hearLogout(token, response) {
  try {
    const found = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
    const keys = createRemoteJWKSet(new URL(found.jwks_uri));
    const { payload } = await jwtVerify(token, keys, { issuer, audience: clientId, requiredClaims: ["iat", "exp", "jti", "sid"] });
    if ("nonce" in payload || !(LOGOUT_EVENT in payload.events)) throw new Error("no logout token");
    ended.add(payload.sid);
    response.writeHead(200, { "Cache-Control": "no-store" }).end();
  } catch (error) {
    console.error(error);
    response.writeHead(400).end();
  }
}

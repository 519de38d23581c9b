// An application with openid-client: sessions in memory, a login at the first request, logout in both directions.
// With a key instead of a secret it does what the strictest profiles ask for: requests are pushed, and the answer
// comes as a form.
import { randomUUID } from "node:crypto";
import { importJWK } from "jose";
import * as oidc from "openid-client";
import { clientId, clientSecret, cookies, ended, issuer, key, page, redirect, scope, serve, url, welcome } from "./common.mjs";

const algorithm = key ? "ES256" : "RS256";
const metadata = { client_secret: clientSecret, id_token_signed_response_alg: algorithm };
const authentication = key && oidc.PrivateKeyJwt({ key: await importJWK(key, algorithm), kid: key.kid });
const config = await oidc.discovery(new URL(issuer), clientId, metadata, authentication, {
  execute: [oidc.allowInsecureRequests], // the tests speak plain HTTP on the loopback
});
// A form comes from another site, and then browsers keep cookies back that are not SameSite=None.
const sameSite = key ? "SameSite=None; Secure" : "SameSite=Lax";
const begun = new Map();
const sessions = new Map();

serve(async (request, response, form) => {
  const { pathname } = new URL(request.url, url);
  const { session: id } = cookies(request);
  if (pathname === "/callback") return comeBack(request, response, form, id);
  const session = sessions.get(id);
  if (pathname === "/logout") return logOut(response, id);
  if (pathname === "/renew") await renew(session);
  if (session && !ended.has(session.claims.sid)) return page(response, welcome(session.userinfo.preferred_username));
  await begin(response);
});

async function begin(response) {
  const id = randomUUID();
  const checks = {
    pkceCodeVerifier: oidc.randomPKCECodeVerifier(),
    expectedState: oidc.randomState(),
    expectedNonce: oidc.randomNonce(),
  };
  begun.set(id, checks);
  response.setHeader("Set-Cookie", `session=${id}; HttpOnly; Path=/; ${sameSite}`);
  const build = key ? oidc.buildAuthorizationUrlWithPAR : oidc.buildAuthorizationUrl;
  const way = await build(config, {
    redirect_uri: `${url}/callback`,
    scope,
    code_challenge: await oidc.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: "S256",
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    ...(key && { response_mode: "form_post" }),
  });
  redirect(response, way);
}

async function comeBack(request, response, form, id) {
  const headers = { "Content-Type": "application/x-www-form-urlencoded" };
  const here = new URL(request.url, url);
  const posted = new Request(here, { method: "POST", headers, body: new URLSearchParams(form) });
  const tokens = await oidc.authorizationCodeGrant(config, key ? posted : here, begun.get(id));
  begun.delete(id);
  const claims = tokens.claims();
  const userinfo = await oidc.fetchUserInfo(config, tokens.access_token, claims.sub);
  sessions.set(id, { claims, userinfo, idToken: tokens.id_token, refreshToken: tokens.refresh_token });
  redirect(response, "/");
}

/** What the page shows afterwards has come with the new access token. */
async function renew(session) {
  const tokens = await oidc.refreshTokenGrant(config, session.refreshToken);
  session.refreshToken = tokens.refresh_token;
  session.userinfo = await oidc.fetchUserInfo(config, tokens.access_token, session.claims.sub);
}

function logOut(response, id) {
  const session = sessions.get(id);
  sessions.delete(id);
  redirect(
    response,
    oidc.buildEndSessionUrl(config, { id_token_hint: session.idToken, post_logout_redirect_uri: `${url}/` }),
  );
}

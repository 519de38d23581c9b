// An application with openid-client: sessions in memory, a login at the first request, logout in both directions.
import { randomUUID } from "node:crypto";
import * as oidc from "openid-client";
import { clientId, clientSecret, cookies, ended, issuer, page, redirect, serve, url, welcome } from "./common.mjs";

const config = await oidc.discovery(new URL(issuer), clientId, clientSecret, undefined, {
  execute: [oidc.allowInsecureRequests], // the tests speak plain HTTP on the loopback
});
const begun = new Map();
const sessions = new Map();

serve(async (request, response) => {
  const { pathname } = new URL(request.url, url);
  const { session: id } = cookies(request);
  if (pathname === "/callback") return comeBack(request, response, id);
  const session = sessions.get(id);
  if (pathname === "/logout") return logOut(response, id);
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
  response.setHeader("Set-Cookie", `session=${id}; HttpOnly; Path=/; SameSite=Lax`);
  redirect(
    response,
    oidc.buildAuthorizationUrl(config, {
      redirect_uri: `${url}/callback`,
      scope: "openid profile email",
      code_challenge: await oidc.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
      code_challenge_method: "S256",
      state: checks.expectedState,
      nonce: checks.expectedNonce,
    }),
  );
}

async function comeBack(request, response, id) {
  const tokens = await oidc.authorizationCodeGrant(config, new URL(request.url, url), begun.get(id));
  begun.delete(id);
  const claims = tokens.claims();
  const userinfo = await oidc.fetchUserInfo(config, tokens.access_token, claims.sub);
  sessions.set(id, { claims, userinfo, idToken: tokens.id_token });
  redirect(response, "/");
}

function logOut(response, id) {
  const session = sessions.get(id);
  sessions.delete(id);
  redirect(
    response,
    oidc.buildEndSessionUrl(config, { id_token_hint: session.idToken, post_logout_redirect_uri: `${url}/` }),
  );
}

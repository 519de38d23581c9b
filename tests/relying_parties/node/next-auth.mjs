// An application with next-auth: its own pages and cookies, without Next.js around them.
import NextAuth, { getServerSession } from "next-auth/next";
import { getToken } from "next-auth/jwt";
import { clientId, clientSecret, cookies, ended, issuer, page, redirect, scope, serve, url, welcome } from "./common.mjs";

process.env.NEXTAUTH_URL = url;
const secret = "of the tests alone";
const wellKnown = `${issuer}/.well-known/openid-configuration`;

const options = {
  secret,
  providers: [
    {
      id: "gatehouse",
      name: "Gatehouse",
      type: "oauth",
      wellKnown,
      clientId,
      clientSecret,
      authorization: { params: { scope } },
      checks: ["pkce", "state", "nonce"],
      idToken: true, // the profile is what the ID token says
      profile: (claims) => ({ id: claims.sub, name: claims.preferred_username, email: claims.email ?? null }),
    },
  ],
  callbacks: {
    jwt: ({ token, account }) => (account ? { ...token, idToken: account.id_token, sid: sidOf(account.id_token) } : token),
    session: ({ session, token }) => ({ ...session, sid: token.sid }),
  },
};

const sidOf = (token) => JSON.parse(Buffer.from(token.split(".")[1], "base64url")).sid;

serve(async (request, response, form) => {
  const { pathname, searchParams } = new URL(request.url, url);
  request.cookies = cookies(request);
  if (pathname.startsWith("/api/auth/")) {
    request.query = { ...Object.fromEntries(searchParams), nextauth: pathname.slice("/api/auth/".length).split("/") };
    request.body = form;
    return NextAuth.default(request, asNextGives(response), options);
  }
  if (pathname === "/logout") return logOut(request, response);
  const session = await getServerSession(request, response, options);
  if (session && !ended.has(session.sid)) return page(response, welcome(session.user.name));
  redirect(response, `/api/auth/signin?callbackUrl=${encodeURIComponent(url)}`);
});

/** Next.js adds these to Node's own response. */
function asNextGives(response) {
  return Object.assign(response, {
    status: (code) => Object.assign(response, { statusCode: code }),
    send: (body) => response.end(body),
    json: (body) => response.end(JSON.stringify(body)),
  });
}

async function logOut(request, response) {
  const token = await getToken({ req: request, secret });
  const { end_session_endpoint } = await (await fetch(wellKnown)).json();
  const names = Object.keys(request.cookies).filter((name) => name.includes("session-token"));
  response.setHeader("Set-Cookie", names.map((name) => `${name}=; Path=/; Max-Age=0`));
  const way = new URL(end_session_endpoint);
  way.search = new URLSearchParams({ id_token_hint: token.idToken, post_logout_redirect_uri: `${url}/` });
  redirect(response, way);
}

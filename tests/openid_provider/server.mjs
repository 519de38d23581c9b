// panva's oidc-provider with its development pages: any name and password logs in. PANVA has port, clients and keys.
import Provider from "oidc-provider";

const { issuer, port, clients, jwks } = JSON.parse(process.env.PANVA);

const provider = new Provider(issuer, {
  clients,
  jwks,
  claims: {
    openid: ["sub", "groups", "realm_access"],
    profile: ["name", "preferred_username"],
    email: ["email"],
  },
  conformIdTokenClaims: false, // the claims of the scopes are in the ID token, too
  cookies: { keys: ["of the tests alone"] },
  features: { backchannelLogout: { enabled: true }, rpInitiatedLogout: { enabled: true } },
  // Its own fetch refuses the loopback, where the tests listen for logouts.
  fetch: (url, { dispatcher, ...options }) => fetch(url, options),
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({
      sub: id,
      name: `Person ${id}`,
      preferred_username: id,
      email: `${id}@example.org`,
      groups: ["staff", "admins"],
      realm_access: { roles: ["editor"] },
    }),
  }),
});
provider.on("server_error", (_, error) => console.error(error));
provider.on("backchannel.error", (_, error) => console.error(error));
provider.listen(port, "127.0.0.1");

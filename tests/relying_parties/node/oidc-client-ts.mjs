// An application that is nothing but a page: oidc-client-ts in the browser, a client without a secret.
import { readFile } from "node:fs/promises";
import { clientId, issuer, page, scope, serve, url } from "./common.mjs";

const LIBRARY = new URL("node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js", import.meta.url);
const SETTINGS = {
  authority: issuer,
  client_id: clientId,
  redirect_uri: `${url}/`,
  post_logout_redirect_uri: `${url}/`,
  scope,
  loadUserInfo: true,
  automaticSilentRenew: false,
};

const HTML = `<!doctype html><h1 id="user"></h1><a href="#">Log out</a> <button>Renew</button><p id="problem"></p>
<script src="/library.js"></script>
<script type="module">
  const manager = new oidc.UserManager(${JSON.stringify(SETTINGS)});
  const show = (user) => (document.querySelector("#user").textContent = user.profile.preferred_username);
  const renew = async () => {
    const before = await manager.getUser();
    const after = await manager.signinSilent();
    if (after.access_token === before.access_token) throw new Error("the same token");
    document.querySelector("#problem").textContent = "renewed";
  };
  const tell = (error) => (document.querySelector("#problem").textContent = String(error));
  document.querySelector("a").onclick = () => manager.signoutRedirect();
  document.querySelector("button").onclick = () => renew().catch(tell);
  if (new URLSearchParams(location.search).has("code")) {
    await manager.signinCallback();
    history.replaceState(null, "", "/");
  }
  const user = await manager.getUser();
  await (user ? show(user) : manager.signinRedirect());
</script>`;

serve(async (request, response) => {
  if (request.url !== "/library.js") return page(response, HTML);
  response.setHeader("Content-Type", "text/javascript");
  response.end(await readFile(LIBRARY));
});

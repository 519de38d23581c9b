"""What to paste into well-known programs so that people log in to them here, and how those are registered.

A recipe knows the paths of its program, so an application is registered by the address where people open it. Texts
are in the program's own format, and so in no language; where they go is said in `messages/`, section `recipes`.
"""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from gatehouse.auth.oauth.definitions import ClientAuth, ClientConfig, Pkce
from gatehouse.auth.refusals import ApplicationFieldInvalid
from gatehouse.messages import message

if TYPE_CHECKING:
    from gatehouse.messages import Message

OTHER = "other"  # a program that is not known here: it is told what it may ask for
SECRET_PLACEHOLDER = "(the secret)"


class Recipe(NamedTuple):
    """Paths are below the address where people open the application; an empty one means that it has none."""

    title: str
    text: str
    callback: str = ""
    after_logout: str = ""
    backchannel: str = ""
    pkce: Pkce = Pkce.NONCE


class Instructions(NamedTuple):
    recipe: str
    title: str
    where: Message
    text: str


RECIPES = {
    "grafana": Recipe(
        "Grafana",
        """\
[server]
root_url = $url/

[auth.generic_oauth]
enabled = true
name = Gatehouse
client_id = $client_id
client_secret = $secret
scopes = openid profile email roles offline_access
auth_url = $issuer/oauth2/authorize
token_url = $issuer/oauth2/token
api_url = $issuer/oauth2/userinfo
use_pkce = true
use_refresh_token = true
login_attribute_path = preferred_username
role_attribute_path = roles && contains(roles, 'ADMIN') && 'Admin' || 'Viewer'
signout_redirect_url = $issuer/oauth2/logout?post_logout_redirect_uri=$quoted_url%2Flogin
""",
        callback="/login/generic_oauth",
        after_logout="/login",
        pkce=Pkce.REQUIRED,
    ),
    "gitea": Recipe(
        "Gitea",
        """\
# in app.ini
[oauth2_client]
ENABLE_AUTO_REGISTRATION = true
USERNAME = preferred_username

# in a shell, as the user of Gitea
gitea admin auth add-oauth --name gatehouse --provider openidConnect \\
  --key $client_id --secret $secret \\
  --auto-discover-url $issuer/.well-known/openid-configuration \\
  --scopes openid --scopes profile --scopes email --scopes roles \\
  --group-claim-name roles --admin-group ADMIN
""",
        callback="/user/oauth2/gatehouse/callback",
        after_logout="/",
        pkce=Pkce.OPTIONAL,  # it sends neither that nor a nonce (1.26)
    ),
    "oauth2-proxy": Recipe(
        "oauth2-proxy",
        """\
provider = "oidc"
provider_display_name = "Gatehouse"
oidc_issuer_url = "$issuer"
client_id = "$client_id"
client_secret = "$secret"
redirect_url = "$url/oauth2/callback"
scope = "openid profile email roles offline_access"
code_challenge_method = "S256"
oidc_groups_claim = "roles"
oidc_email_claim = "$email_claim"
email_domains = ["*"]
cookie_refresh = "1h"
backend_logout_url = "$issuer/oauth2/logout?id_token_hint={id_token}"
cookie_secret = "(openssl rand -base64 32 | tr -- '+/' '-_')"
upstreams = ["http://127.0.0.1:8080"]
""",
        callback="/oauth2/callback",
        pkce=Pkce.REQUIRED,
    ),
    "spring": Recipe(
        "Spring Boot",
        """\
# application.yml
spring:
  security:
    oauth2:
      client:
        registration:
          gatehouse:
            client-id: $client_id
            client-secret: $secret
            scope: openid, profile, email, roles
        provider:
          gatehouse:
            issuer-uri: $issuer
            user-name-attribute: preferred_username

// SecurityFilterChain, with a ClientRegistrationRepository named clients
var atGatehouse = new OidcClientInitiatedLogoutSuccessHandler(clients);
atGatehouse.setPostLogoutRedirectUri("{baseUrl}/");
http.oauth2Login(withDefaults())
    .oidcLogout(logout -> logout.backChannel(withDefaults()))
    .logout(logout -> logout.logoutSuccessHandler(atGatehouse));
""",
        callback="/login/oauth2/code/gatehouse",
        after_logout="/",
        backchannel="/logout/connect/back-channel/gatehouse",
    ),
    "apache": Recipe(
        "Apache (mod_auth_openidc)",
        """\
OIDCProviderMetadataURL $issuer/.well-known/openid-configuration
OIDCClientID $client_id
OIDCClientSecret $secret
OIDCRedirectURI $url/oidc/callback
OIDCCryptoPassphrase "(openssl rand -base64 32)"
OIDCScope "openid profile email roles"
OIDCPKCEMethod S256
OIDCRemoteUserClaim preferred_username
<Location />
  AuthType openid-connect
  Require claim roles:ADMIN
</Location>
# Log out: $url/oidc/callback?logout=$quoted_url%2F
""",
        callback="/oidc/callback",
        after_logout="/",
        backchannel="/oidc/callback?logout=backchannel",
        pkce=Pkce.REQUIRED,
    ),
    OTHER: Recipe(
        "OpenID Connect",
        """\
issuer         $issuer
discovery      $issuer/.well-known/openid-configuration
client_id      $client_id
client_secret  $secret
scopes         $scopes
""",
    ),
}


def recipe_named(key: str) -> Recipe:
    if key not in RECIPES:
        problem = message("applications.recipe", recipe=key[:32], recipes=", ".join(RECIPES))
        raise ApplicationFieldInvalid("recipe", problem)
    return RECIPES[key]


def config_for(key: str, url: str) -> ClientConfig:
    """How an application of this kind is registered that people open at this address."""
    recipe, base = recipe_named(key), url.rstrip("/")
    if recipe.callback and not base:
        raise ApplicationFieldInvalid("url", message("applications.recipe_url", recipe=key))
    if recipe.callback and ("?" in base or "#" in base):
        raise ApplicationFieldInvalid("url", message("applications.recipe_path", recipe=key, address=url[:200]))
    return ClientConfig(
        redirect_uris=(base + recipe.callback,) if recipe.callback else (),
        post_logout_redirect_uris=(base + recipe.after_logout,) if recipe.after_logout else (),
        backchannel_logout_uri=base + recipe.backchannel if recipe.backchannel else "",
        pkce=recipe.pkce,
        url=url,
        recipe="" if key == OTHER else key,
    )


def instructions(client_id: str, config: ClientConfig, issuer: str, secret: str | None = None) -> Instructions:
    """Without the secret, which is known only when it is made, its place is marked."""
    key = config.recipe or OTHER
    recipe = recipe_named(key)
    base = config.url.rstrip("/")
    values = {
        "issuer": issuer,
        "client_id": client_id,
        "secret": secret or (SECRET_PLACEHOLDER if config.auth is ClientAuth.SECRET else "-"),
        "url": base,
        "quoted_url": quote(base, safe=""),
        "scopes": " ".join(config.scopes),
        # Who can change their own address must not become somebody else there.
        "email_claim": "email" if config.emails_trusted else "preferred_username",
    }
    return Instructions(key, recipe.title, message(f"recipes.{key}"), Template(recipe.text).substitute(values))

"""What an application is configured by. Stored as JSON in accounts; secrets are kept apart from it, as digests."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class ClientAuth(StrEnum):
    """How an application authenticates at the token endpoint."""

    SECRET = "client_secret"  # by HTTP Basic or in the form
    PRIVATE_KEY_JWT = "private_key_jwt"
    NONE = "none"  # a public client: it runs where no secret can be kept


class Pkce(StrEnum):
    REQUIRED = "required"  # always so for public clients
    NONCE = "nonce"  # or a nonce instead, which OAuth 2.1 (7.5.1) allows confidential clients
    OPTIONAL = "optional"


class Scope(StrEnum):
    OPENID = "openid"
    PROFILE = "profile"
    EMAIL = "email"
    PHONE = "phone"
    ADDRESS = "address"
    ROLES = "roles"
    OFFLINE_ACCESS = "offline_access"  # a refresh token


ID_TOKEN_ALGORITHMS = ("RS256", "ES256")


class ClientConfig(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What is accepted is said in `management/client_checks.py`, how addresses are compared in `redirect_uris.py`."""

    auth: ClientAuth = ClientAuth.SECRET
    redirect_uris: tuple[str, ...] = ()
    post_logout_redirect_uris: tuple[str, ...] = ()
    backchannel_logout_uri: str = ""
    scopes: tuple[Scope, ...] = tuple(Scope)  # that it may ask for
    roles: tuple[str, ...] = ()  # who may use it: holders of one of these; empty: everybody
    first_party: bool = True  # the company's own: nobody is asked for consent
    pkce: Pkce = Pkce.NONCE
    id_token_alg: str = "RS256"  # or "ES256"
    claims_in_id_token: bool = False  # for applications that do not ask userinfo
    emails_trusted: bool = False  # `email_verified` is true: administrators control the addresses here
    audience: str = ""  # of its access tokens; empty: its client_id
    jwks: str = ""  # JSON: the public keys of `private_key_jwt`
    url: str = ""  # where people open it
    allow_http: bool = False  # its addresses may be http:// beyond loopback: codes can be read on the way
    recipe: str = ""  # which program it is, see `management/client_recipes.py`

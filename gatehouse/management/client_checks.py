"""What an application may be configured to: its addresses, its name, its keys."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn
from urllib.parse import urlsplit

import jwt
import msgspec

from gatehouse.auth.oauth.definitions import ID_TOKEN_ALGORITHMS, ClientAuth, ClientConfig, Pkce, Scope
from gatehouse.auth.refusals import ApplicationFieldInvalid
from gatehouse.common.parsing import is_loopback
from gatehouse.management.accepted_values import check_text
from gatehouse.management.client_recipes import OTHER, recipe_named
from gatehouse.messages import message

if TYPE_CHECKING:
    from urllib.parse import SplitResult

    from gatehouse.messages import Message

MAX_ADDRESSES = 20
MAX_ADDRESS_LENGTH = 1024
MAX_AUDIENCE_LENGTH = 255
MAX_JWKS_LENGTH = 16_384
MAX_KEYS = 8
MIN_RSA_BITS = 2048

_CLIENT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
# The characters of RFC 3986, but for `*`, which somebody would mean as a wildcard.
_ADDRESS = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!$&'()+,;=%-]+")
_PRIVATE_SCHEME = re.compile(r"[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+")


class _KeyType(NamedTuple):
    algorithms: tuple[str, ...]
    curve: str
    members: tuple[str, ...]  # what is stored of such a key


_KEY_TYPES = {
    "RSA": _KeyType(("RS256", "PS256"), "", ("n", "e")),
    "EC": _KeyType(("ES256",), "P-256", ("crv", "x", "y")),
    "OKP": _KeyType(("EdDSA",), "Ed25519", ("crv", "x")),
}
_PRIVATE_MEMBERS = {"d", "p", "q", "dp", "dq", "qi", "oth", "k"}


def check_client_id(client_id: str, own_audience: str) -> None:
    if not _CLIENT_ID.fullmatch(client_id):
        _refuse("client_id", message("applications.client_id"))
    _check_not_ours("client_id", client_id, own_audience)


def check_name(name: str) -> None:
    try:
        check_text("name", name)
    except ValueError:
        _refuse("name", message("applications.name"))


def checked_config(config: ClientConfig, own_audience: str) -> ClientConfig:
    """As it is stored: PKCE is required of public clients, and of keys only what is public is kept."""
    _check_addresses(config)
    if Scope.OPENID not in config.scopes:
        _refuse("scopes", message("applications.scopes"))
    if config.id_token_alg not in ID_TOKEN_ALGORITHMS:
        _refuse("id_token_alg", message("applications.algorithm", algorithms=", ".join(ID_TOKEN_ALGORITHMS)))
    if len(config.audience) > MAX_AUDIENCE_LENGTH or not config.audience.isprintable():
        _refuse("audience", message("applications.audience", max=MAX_AUDIENCE_LENGTH))
    _check_not_ours("audience", config.audience, own_audience)
    recipe_named(config.recipe or OTHER)
    is_public = config.auth is ClientAuth.NONE
    if is_public and config.pkce is Pkce.OPTIONAL:
        _refuse("pkce", message("applications.pkce"))
    return msgspec.structs.replace(
        config,
        pkce=Pkce.REQUIRED if is_public else config.pkce,
        scopes=tuple(scope for scope in Scope if scope in config.scopes),
        roles=tuple(dict.fromkeys(config.roles)),
        jwks=_checked_jwks(config),
    )


def is_plain(address: str) -> bool:
    """Whether it is http:// to another machine, where what is sent can be read on the way."""
    parts = urlsplit(address)
    return parts.scheme == "http" and not is_loopback(parts.hostname or "")


def _refuse(field: str, problem: Message) -> NoReturn:
    raise ApplicationFieldInvalid(field, problem)


def _check_not_ours(field: str, name: str, own_audience: str) -> None:
    """A token for an application must never pass as one for Gatehouse."""
    if name == own_audience:
        _refuse(field, message("applications.own_audience", name=name))


# Addresses


def _check_addresses(config: ClientConfig) -> None:
    if config.url:  # first: those of a recipe are made from it
        _check_address("url", config.url, is_native=False, allow_http=True)
    if not config.redirect_uris:
        _refuse("redirect_uris", message("applications.no_redirect"))
    is_native = config.auth is ClientAuth.NONE
    for field in ("redirect_uris", "post_logout_redirect_uris"):
        addresses: tuple[str, ...] = getattr(config, field)
        if len(addresses) > MAX_ADDRESSES:
            _refuse(field, message("applications.too_many", max=MAX_ADDRESSES))
        for number, address in enumerate(addresses):
            if address in addresses[:number]:
                _refuse(field, message("applications.twice", address=address))
            _check_address(field, address, is_native=is_native, allow_http=config.allow_http)
    if config.backchannel_logout_uri:
        field = "backchannel_logout_uri"
        _check_address(field, config.backchannel_logout_uri, is_native=False, allow_http=config.allow_http)


def _check_address(field: str, address: str, *, is_native: bool, allow_http: bool) -> None:
    """`is_native`: it may have a scheme of the application's own, which opens it on a phone or desktop."""
    if "*" in address:
        _refuse(field, message("applications.wildcard", address=address))
    if "#" in address:
        _refuse(field, message("applications.fragment", address=address))
    parts = _split(address)
    if parts is None:
        _refuse(field, message("applications.address", max=MAX_ADDRESS_LENGTH, address=address[:200]))
    if parts.scheme in {"http", "https"}:
        _check_web_address(field, address, parts)
        if is_plain(address) and not allow_http:
            _refuse(field, message("applications.plain", address=address))
    elif not is_native:
        _refuse(field, message("applications.scheme", address=address))
    elif not _PRIVATE_SCHEME.fullmatch(parts.scheme):
        _refuse(field, message("applications.native_scheme", address=address))


def _split(address: str) -> SplitResult | None:
    if len(address) > MAX_ADDRESS_LENGTH or not _ADDRESS.fullmatch(address):
        return None
    try:
        parts = urlsplit(address)
        _ = parts.port  # raises for one that is none
    except ValueError:
        return None
    return parts


def _check_web_address(field: str, address: str, parts: SplitResult) -> None:
    if not parts.hostname:
        _refuse(field, message("applications.host", address=address))
    if "@" in parts.netloc:
        _refuse(field, message("applications.userinfo", address=address))


# Keys


def _checked_jwks(config: ClientConfig) -> str:
    if config.auth is ClientAuth.PRIVATE_KEY_JWT:
        return msgspec.json.encode({"keys": _public_keys(config.jwks)}).decode()
    if config.jwks:
        _refuse("jwks", message("applications.keys_unwanted"))
    return ""


def _public_keys(jwks: str) -> list[dict[str, str]]:
    keys = None
    if len(jwks) <= MAX_JWKS_LENGTH:
        try:
            keys = msgspec.json.decode(jwks, type=dict[str, Any]).get("keys")
        except msgspec.DecodeError:
            keys = None
    if not isinstance(keys, list) or not 1 <= len(keys) <= MAX_KEYS or not all(isinstance(key, dict) for key in keys):
        _refuse("jwks", message("applications.key_set", max=MAX_KEYS))
    public = [_public_key(key) for key in keys]
    kids = {key.get("kid") for key in public}
    if len(public) > 1 and (None in kids or len(kids) < len(public)):
        _refuse("jwks", message("applications.key_ids"))
    return public


def _public_key(key: dict[str, Any]) -> dict[str, str]:
    if private := sorted(_PRIVATE_MEMBERS & key.keys()):
        _refuse("jwks", message("applications.key_private", members=", ".join(private)))
    kind = str(key.get("kty"))
    if kind not in _KEY_TYPES:
        _refuse("jwks", message("applications.key_kind", kind=kind[:32]))
    rules = _KEY_TYPES[kind]
    if key.get("crv", "") != rules.curve:
        _refuse("jwks", message("applications.key_curve", kind=kind, curve=rules.curve))
    if key.get("alg", rules.algorithms[0]) not in rules.algorithms:
        _refuse("jwks", message("applications.key_algorithm", kind=kind, algorithms=", ".join(rules.algorithms)))
    if key.get("use", "sig") != "sig":
        _refuse("jwks", message("applications.key_use"))
    kept = {name: str(key[name]) for name in ("kty", "kid", "alg", *rules.members) if name in key}
    try:
        parsed = jwt.PyJWK(kept, rules.algorithms[0]).key
    except (jwt.PyJWTError, ValueError):
        _refuse("jwks", message("applications.key_unreadable"))
    if kind == "RSA" and parsed.key_size < MIN_RSA_BITS:
        _refuse("jwks", message("applications.key_small", min=MIN_RSA_BITS))
    return kept

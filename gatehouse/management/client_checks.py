"""What an application may be configured to: its addresses, its name, its keys. Checks raise `AccountFieldInvalid`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import jwt
import msgspec

from gatehouse.auth.oauth.definitions import ID_TOKEN_ALGORITHMS, ClientAuth, ClientConfig, Pkce, Scope
from gatehouse.auth.refusals import AccountFieldInvalid
from gatehouse.common.parsing import is_loopback
from gatehouse.management.accepted_values import check_field, check_text

if TYPE_CHECKING:
    from urllib.parse import SplitResult

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

# By the type of a key: its algorithms, its curve, and the members that are stored of it. All of them are public.
_KEYS: dict[str, tuple[tuple[str, ...], str, tuple[str, ...]]] = {
    "RSA": (("RS256", "PS256"), "", ("n", "e")),
    "EC": (("ES256",), "P-256", ("crv", "x", "y")),
    "OKP": (("EdDSA",), "Ed25519", ("crv", "x")),
}
_PRIVATE_MEMBERS = {"d", "p", "q", "dp", "dq", "qi", "oth", "k"}


def check_client_id(client_id: str, own_audience: str) -> None:
    def check(text: str) -> None:
        if not _CLIENT_ID.fullmatch(text):
            raise ValueError("a client id has 1 to 64 letters, digits and . _ -, and begins with a letter or digit")
        if text == own_audience:
            raise ValueError(f"{text!r} is the audience of Gatehouse's own tokens (GATEHOUSE_AUDIENCE)")

    check_field("client_id", client_id, check)


def check_name(name: str) -> None:
    check_field("name", name, lambda text: check_text("name", text))


def checked_config(config: ClientConfig, own_audience: str) -> ClientConfig:
    """As it is stored: PKCE is required of public clients, and of keys only what is public is kept."""
    _check_addresses(config)
    if Scope.OPENID not in config.scopes:
        raise AccountFieldInvalid("scopes", "an application needs the scope openid")
    if config.id_token_alg not in ID_TOKEN_ALGORITHMS:
        raise AccountFieldInvalid("id_token_alg", f"one of {', '.join(ID_TOKEN_ALGORITHMS)}")
    _check_audience(config.audience, own_audience)
    is_public = config.auth is ClientAuth.NONE
    if is_public and config.pkce is Pkce.OPTIONAL:
        raise AccountFieldInvalid("pkce", "a client without a secret always needs PKCE")
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


def _check_audience(audience: str, own_audience: str) -> None:
    if len(audience) > MAX_AUDIENCE_LENGTH or not audience.isprintable():
        raise AccountFieldInvalid("audience", f"up to {MAX_AUDIENCE_LENGTH} printable characters")
    if audience == own_audience:
        raise AccountFieldInvalid("audience", f"{audience!r} is that of Gatehouse's own tokens (GATEHOUSE_AUDIENCE)")


# Addresses


def _check_addresses(config: ClientConfig) -> None:
    if not config.redirect_uris:
        raise AccountFieldInvalid("redirect_uris", "an application needs at least one")
    native = config.auth is ClientAuth.NONE
    for field in ("redirect_uris", "post_logout_redirect_uris"):
        uris: tuple[str, ...] = getattr(config, field)
        if len(uris) > MAX_ADDRESSES:
            raise AccountFieldInvalid(field, f"up to {MAX_ADDRESSES} of them")
        if len(set(uris)) < len(uris):
            raise AccountFieldInvalid(field, "one of them is there twice")
        for uri in uris:
            check_field(field, uri, lambda text: _check_address(text, native=native, allow_http=config.allow_http))
    if config.backchannel_logout_uri:
        check_field(
            "backchannel_logout_uri",
            config.backchannel_logout_uri,
            lambda text: _check_address(text, native=False, allow_http=config.allow_http),
        )
    if config.url:
        check_field("url", config.url, lambda text: _check_address(text, native=False, allow_http=True))


def _check_address(address: str, *, native: bool, allow_http: bool) -> None:
    """`native`: it may be a scheme of the application's own, which opens it on a phone or desktop."""
    if "*" in address:
        raise ValueError(f"wildcards are not accepted: register each address as it is sent, got {address!r}")
    if len(address) > MAX_ADDRESS_LENGTH or not _ADDRESS.fullmatch(address):
        raise ValueError(f"expected a URL of at most {MAX_ADDRESS_LENGTH} characters, got {address[:200]!r}")
    if "#" in address:
        raise ValueError(f"an address has no fragment (#), got {address!r}")
    parts = _split(address)
    if parts.scheme in {"http", "https"}:
        _check_web_address(address, parts, allow_http=allow_http)
    elif not native or not _PRIVATE_SCHEME.fullmatch(parts.scheme):
        native_too = " or a scheme with a dot such as com.example.app:/callback" if native else ""
        raise ValueError(f"expected https://{native_too}, got {address!r}")


def _split(address: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        _ = parts.port  # raises for one that is none
    except ValueError as problem:
        raise ValueError(f"expected a URL, got {address!r}: {problem}") from None
    return parts


def _check_web_address(address: str, parts: SplitResult, *, allow_http: bool) -> None:
    if not parts.hostname:
        raise ValueError(f"expected a URL with a host, got {address!r}")
    if "@" in parts.netloc:
        raise ValueError(f"an address has no user or password in it, got {address!r}")
    if not allow_http and is_plain(address):
        raise ValueError(
            f"http:// only to this machine (localhost, 127.0.0.1, [::1]): use https, or allow http for this"
            f" application if its network can be trusted, got {address!r}"
        )


# Keys


def _checked_jwks(config: ClientConfig) -> str:
    if config.auth is not ClientAuth.PRIVATE_KEY_JWT:
        if config.jwks:
            raise AccountFieldInvalid("jwks", f"keys are for {ClientAuth.PRIVATE_KEY_JWT.value} only")
        return ""
    try:
        return msgspec.json.encode({"keys": _public_keys(config.jwks)}).decode()
    except ValueError as problem:
        raise AccountFieldInvalid("jwks", str(problem)) from None


def _public_keys(jwks: str) -> list[dict[str, str]]:
    if len(jwks) > MAX_JWKS_LENGTH:
        raise ValueError(f"up to {MAX_JWKS_LENGTH} characters")
    try:
        keys = msgspec.json.decode(jwks or "{}", type=dict[str, Any]).get("keys")
    except msgspec.DecodeError:
        keys = None
    if not isinstance(keys, list) or not 1 <= len(keys) <= MAX_KEYS or not all(isinstance(key, dict) for key in keys):
        raise ValueError(f'expected a JWK set with 1 to {MAX_KEYS} public keys: {{"keys": [...]}}')
    public = [_public_key(key) for key in keys]
    kids = [key.get("kid") for key in public]
    if len(public) > 1 and (None in kids or len(set(kids)) < len(kids)):
        raise ValueError("of several keys each has a kid of its own")
    return public


def _public_key(key: dict[str, Any]) -> dict[str, str]:
    if private := sorted(_PRIVATE_MEMBERS & key.keys()):
        raise ValueError(f"a private or shared key ({', '.join(private)}): register its public part only")
    kind = key.get("kty")
    if not isinstance(kind, str) or kind not in _KEYS:
        raise ValueError(f"expected a key of type {', '.join(_KEYS)}, got {kind!r}")
    algorithms, curve, members = _KEYS[kind]
    if key.get("crv", "") != curve:
        raise ValueError(f"expected the curve {curve}, got {key.get('crv')!r}")
    algorithm = key.get("alg", algorithms[0])
    if algorithm not in algorithms:
        raise ValueError(f"expected alg {' or '.join(algorithms)}, got {algorithm!r}")
    if key.get("use", "sig") != "sig":
        raise ValueError("expected a key for signatures (use: sig)")
    kept = {name: str(key[name]) for name in ("kty", "kid", "alg", *members) if name in key}
    try:
        parsed = jwt.PyJWK(kept, algorithm).key
    except (jwt.PyJWTError, ValueError):
        raise ValueError("one of the keys cannot be read") from None
    if kind == "RSA" and parsed.key_size < MIN_RSA_BITS:
        raise ValueError(f"an RSA key has at least {MIN_RSA_BITS} bits")
    return kept

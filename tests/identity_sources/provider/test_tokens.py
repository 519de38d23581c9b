"""ID tokens and logout tokens: each rule, broken one at a time."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from gatehouse.common.base64url import base64url
from gatehouse.identity_sources.clients import CallbackRefused, LogoutToken
from gatehouse.identity_sources.errors import SourceUnavailable
from tests.identity_sources.provider.hostile_provider import (
    ABSENT,
    CALLBACK,
    CLIENT_ID,
    EVENT,
    KEYS,
    OTHER_RSA_KEY,
    PRIVATE,
    RSA_KEY,
    SECRET,
    HostileProvider,
    jwk,
    sign,
)
from tests.identity_sources.provider.loopback_server import json_reply


async def refuses_each(cases: Iterable[Any], ask: Callable[[Any], Awaitable[object]]) -> None:
    """One provider for many cases: they differ in what is asked alone."""
    for case in cases:
        try:
            await ask(case)
        except CallbackRefused:
            continue
        pytest.fail(f"accepted: {case}")


AT_HASH = base64url(hashlib.sha256(b"an-access-token").digest()[:16])


BROKEN = [
    {"iss": "https://other.example"},
    {"iss": ABSENT},
    {"aud": "another"},
    {"aud": ["another"]},
    {"aud": ABSENT},
    {"aud": [CLIENT_ID, "another"]},
    {"aud": [CLIENT_ID, "another"], "azp": "another"},
    {"azp": "another"},
    {"exp": ABSENT},
    {"exp": "soon"},
    {"exp": True},
    {"exp": 10**400},
    {"iat": ABSENT},
    {"iat": "now"},
    {"nbf": "then"},
    {"nonce": "another"},
    {"nonce": ABSENT},
    {"nonce": 7},
    {"sub": ABSENT},
    {"sub": ""},
    {"sub": 7},
    {"sub": "s" * 256},
    {"sub": "a\0b"},
    {"at_hash": "another"},
    {"at_hash": base64url(hashlib.sha256(b"another").digest()[:16])},
    {"auth_time": "yesterday"},
    {"sid": ["one", "two"]},
]


async def test_an_id_token_that_breaks_a_rule_is_refused(hostile: HostileProvider) -> None:
    client = hostile.client()
    await refuses_each(BROKEN, lambda changes: hostile.login(client, **changes))


ALLOWED: list[dict[str, Any]] = [
    {"aud": [CLIENT_ID]},
    {"aud": [CLIENT_ID, "another"], "azp": CLIENT_ID},
    {"azp": CLIENT_ID},
    {"sub": "s" * 255},
    {"at_hash": AT_HASH},
    {"exp": 4e9},
    {"amr": "pwd", "acr": 1},
]


async def test_what_the_standard_allows_is_accepted(hostile: HostileProvider) -> None:
    client = hostile.client()
    for changes in ALLOWED:
        await hostile.login(client, **changes)


async def test_clocks_may_differ_by_a_minute(hostile: HostileProvider) -> None:
    client, now = hostile.client(), int(hostile.clock.now)
    allowed_claims: list[dict[str, Any]] = [{"exp": now - 58}, {"iat": now + 59}, {"nbf": now + 59}]
    for changes in allowed_claims:
        await hostile.login(client, **changes)
    refused = [{"exp": now - 61}, {"iat": now + 62}, {"nbf": now + 62}]
    await refuses_each(refused, lambda changes: hostile.login(client, **changes))


@pytest.mark.parametrize("algorithm", PRIVATE)
async def test_every_signature_with_a_key_pair_is_accepted(hostile: HostileProvider, algorithm: str) -> None:
    client = hostile.client()
    request = await client.begin(CALLBACK)
    name = "sha512" if algorithm == "EdDSA" else f"sha{algorithm[2:]}"
    digest = hashlib.new(name, b"an-access-token").digest()
    hostile.keys = [jwk(PRIVATE[algorithm], algorithm, kid="first")]
    claims = hostile.claims(nonce=request.nonce, at_hash=base64url(digest[: len(digest) // 2]))
    hostile.id_token = sign(claims, algorithm)
    login = await client.complete(hostile.answer(request), request, CALLBACK)
    assert login.person.subject == "person-1"


def unsigned(claims: dict[str, Any]) -> str:
    return jwt.encode(claims, "", algorithm="none", headers={"kid": "first"})


def hmac_with_our_secret(claims: dict[str, Any]) -> str:
    return sign(claims, "HS256", SECRET.ljust(32))


def hmac_with_the_public_key(claims: dict[str, Any]) -> str:
    """Accepted by libraries that take the algorithm from the token and any key for any algorithm."""
    public = RSA_KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    head, body, _ = sign(claims, "HS256", "x" * 32).split(".")
    signature = hmac.digest(public, f"{head}.{body}".encode(), "sha256")
    return f"{head}.{body}.{base64url(signature)}"


def changed(claims: dict[str, Any]) -> str:
    head, _, signature = sign(claims).split(".")
    return ".".join((head, sign({**claims, "sub": "admin"}).split(".")[1], signature))


Forge = Callable[[dict[str, Any]], Any]
FORGERIES: list[Forge] = [
    unsigned,
    hmac_with_our_secret,
    hmac_with_the_public_key,
    changed,
    lambda claims: sign(claims, key=OTHER_RSA_KEY),
    lambda claims: sign(claims, key=OTHER_RSA_KEY, kid=ABSENT),
    lambda claims: sign(claims, kid="unknown"),
    lambda claims: sign(claims, kid="curve"),
    lambda claims: sign(claims, typ="at+jwt"),
    lambda claims: sign(claims, crit=["exp"]),
    lambda claims: sign(claims, jwk=jwk(OTHER_RSA_KEY, "RS256"), key=OTHER_RSA_KEY),
    lambda claims: sign(b"[1]"),
    lambda claims: sign(b"{"),
    lambda claims: sign(b'{"a":' * 5000 + b"1" + b"}" * 5000),
    lambda claims: sign({**claims, "much": "x" * 70_000}),
    lambda claims: "a.b.c",
    lambda claims: "....",
    lambda claims: "é",
    lambda claims: {"not": "a text"},
]


async def test_a_forged_token_is_refused_at_login_and_at_logout(hostile: HostileProvider) -> None:
    hostile.keys.append(jwk(PRIVATE["ES256"], "ES256", kid="curve"))
    client = hostile.client()

    async def log_in(forge: Forge) -> None:
        request = await client.begin(CALLBACK)
        hostile.id_token = forge(hostile.claims(nonce=request.nonce))
        await client.complete(hostile.answer(request), request, CALLBACK)

    await refuses_each(FORGERIES, log_in)
    await refuses_each(FORGERIES, lambda forge: client.read_logout_token(forge(hostile.logout_claims())))


async def test_a_token_without_a_key_id_is_tried_with_each_key_that_fits(hostile: HostileProvider) -> None:
    client = hostile.client()
    request = await client.begin(CALLBACK)
    hostile.keys = [jwk(OTHER_RSA_KEY, "RS256"), jwk(PRIVATE["ES256"], "ES256"), jwk(RSA_KEY, "RS256")]
    hostile.id_token = sign(hostile.claims(nonce=request.nonce), kid=ABSENT)
    await client.complete(hostile.answer(request), request, CALLBACK)


async def test_new_keys_are_fetched_when_a_token_names_one_but_not_for_every_token(hostile: HostileProvider) -> None:
    client = hostile.client()
    await hostile.login(client)
    hostile.clock.now += 20
    hostile.keys = [jwk(OTHER_RSA_KEY, "RS256", kid="second")]
    token = sign(hostile.logout_claims(), key=OTHER_RSA_KEY, kid="second")
    assert (await client.read_logout_token(token)).jti == "token-1"
    assert hostile.times(KEYS) == 2

    async def invent(times: int) -> int:
        for number in range(times):
            with pytest.raises(CallbackRefused):
                await client.read_logout_token(sign(hostile.logout_claims(), kid=f"invented-{number}"))
        return hostile.times(KEYS)

    fetched = await invent(20)
    assert fetched <= 12, "a few at first, then an unknown key id makes us fetch once in fifteen seconds"
    assert await invent(5) == fetched
    hostile.clock.now += 16
    assert await invent(5) == fetched + 1


async def test_logins_at_once_share_a_fetch(hostile: HostileProvider) -> None:
    client = hostile.client()
    token = sign(hostile.logout_claims())
    await asyncio.gather(*(client.read_logout_token(token) for _ in range(10)))
    assert hostile.times(KEYS) == 1
    hostile.clock.now += 20
    hostile.keys = [jwk(OTHER_RSA_KEY, "RS256", kid="second")]
    token = sign(hostile.logout_claims(), key=OTHER_RSA_KEY, kid="second")
    await asyncio.gather(*(client.read_logout_token(token) for _ in range(10)))
    assert hostile.times(KEYS) == 2


async def test_while_the_keys_cannot_be_had_the_known_ones_go_on(hostile: HostileProvider) -> None:
    client = hostile.client()
    await client.read_logout_token(sign(hostile.logout_claims()))
    hostile.clock.now += 20
    hostile.routes[KEYS] = lambda _: json_reply({}, 500)
    with pytest.raises(SourceUnavailable, match="answers 500"):
        await client.read_logout_token(sign(hostile.logout_claims(), kid="unknown"))
    await client.read_logout_token(sign(hostile.logout_claims()))


USELESS_KEYS: list[Any] = [
    jwk(rsa.generate_private_key(65537, 1024), "RS256", kid="first"),
    jwk(RSA_KEY, "RS256", kid="first", use="enc"),
    jwk(RSA_KEY, "RS256", kid="first", key_ops=["encrypt"]),
    jwk(RSA_KEY, "RS256", kid="first", alg="RS512"),
    jwk(RSA_KEY, "RS256", kid="first", alg="HS256"),
    jwk(RSA_KEY, "RS256", kid="first", n="!"),
    jwk(RSA_KEY, "RS256", kid=7),
    {"kty": "oct", "kid": "first", "k": "c2VjcmV0"},
    {"kty": "RSA", "kid": "first"},
    {"kty": ["RSA"], "kid": "first", "crv": {}},
    {"kty": "EC", "kid": "first", "crv": ["P-256"]},
    jwk(RSA_KEY, "RS256", kid="first", key_ops=7),
    "no key",
    None,
]


async def test_a_key_that_must_not_verify_is_left_out(hostile: HostileProvider) -> None:
    async def login(key: Any) -> None:
        hostile.keys = [key, jwk(OTHER_RSA_KEY, "RS256", kid="second")]
        await hostile.login(hostile.client())

    await refuses_each(USELESS_KEYS, login)


async def test_a_logout_token_names_a_session_or_a_person(hostile: HostileProvider) -> None:
    client = hostile.client()
    token = await client.read_logout_token(sign(hostile.logout_claims(), typ="logout+jwt"))
    expires = int(hostile.clock.now) + 300
    assert token == LogoutToken(hostile.url, "person-1", "session-1", "token-1", expires)
    assert (await client.read_logout_token(sign(hostile.logout_claims(sub=ABSENT), typ=None))).subject == ""
    assert (await client.read_logout_token(sign(hostile.logout_claims(sid=ABSENT)))).sid == ""


BROKEN_LOGOUTS = [
    {"iss": "https://other.example"},
    {"aud": "another"},
    {"iat": ABSENT},
    {"exp": ABSENT},
    {"exp": 1},
    {"exp": 4e9},
    {"jti": ABSENT},
    {"jti": 7},
    {"jti": "j" * 256},
    {"events": ABSENT},
    {"events": [EVENT]},
    {"events": {"another": {}}},
    {"events": {EVENT: "yes"}},
    {"sub": ABSENT, "sid": ABSENT},
    {"sub": 7},
    {"nonce": "any"},
    {"nonce": None},
]


async def test_a_logout_token_that_breaks_a_rule_is_refused(hostile: HostileProvider) -> None:
    client = hostile.client()
    await refuses_each(BROKEN_LOGOUTS, lambda changes: client.read_logout_token(sign(hostile.logout_claims(**changes))))


async def test_an_id_token_logs_nobody_out_and_a_logout_token_logs_nobody_in(hostile: HostileProvider) -> None:
    with pytest.raises(CallbackRefused, match="no logout"):
        await hostile.client().read_logout_token(sign(hostile.claims(jti="1")))
    with pytest.raises(CallbackRefused, match="type"):
        await hostile.login(hostile.client(), token=sign(hostile.logout_claims(), typ="logout+jwt"))

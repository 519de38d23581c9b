"""Checking tokens without asking about each: what is believed, what is refused, and how often keys are fetched."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import jwt
import pytest

from gatehouse.verify import Forbidden, Introspector, KeySet, PermsUnknown, TokenInvalid, Unavailable, Verifier
from tests.support.conversation import login
from tests.support.running import Running
from tests.verify.issuer import ISSUER, Issuer, Key


class Clock:
    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with Issuer() as issuer:
        yield issuer


@pytest.fixture
def verifier(issuer: Issuer) -> Verifier:
    return Verifier(issuer.url, ISSUER)


def test_a_token_of_the_real_service_is_believed(server: Running) -> None:
    verifier = Verifier(f"{server.url}/.well-known/jwks.json", issuer=server.url)
    with server.client() as client:
        tokens = login(client)
    principal = verifier.check(tokens["accessToken"])
    assert (principal.user_id, principal.roles, principal.perms) == (1, frozenset({"ADMIN"}), None)
    assert asyncio.run(verifier.check_async(tokens["accessToken"])) == principal
    with pytest.raises(TokenInvalid):
        verifier.check(tokens["refreshToken"])


def test_roles_are_known_and_perms_are_not(issuer: Issuer, verifier: Verifier) -> None:
    principal = verifier.check(issuer.token())
    principal.require_role("ADMIN", "EDITOR")
    with pytest.raises(Forbidden) as refused:
        principal.require_role("ADMIN")
    assert (refused.value.status, refused.value.code) == (403, "A0301")
    with pytest.raises(PermsUnknown):
        principal.require("sys:user:add")


def test_perms_are_known_where_the_roles_are_explained(issuer: Issuer) -> None:
    verifier = Verifier(issuer.url, ISSUER, role_perms={"EDITOR": ["doc:page:edit"], "ADMIN": ["sys:user:add"]})
    principal = verifier.check(issuer.token())
    principal.require("doc:page:edit")
    with pytest.raises(Forbidden):
        principal.require("doc:page:edit", "sys:user:add")


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://elsewhere.example.com"},
        {"iss": None},
        {"aud": "another"},
        {"aud": None},
        {"exp": 1},
        {"exp": None},
        {"exp": "soon"},
        {"iat": 4_000_000_000, "exp": 4_000_000_600},
        {"sub": None},
        {"sub": "not a number"},
        {"sid": None},
        {"roles": None},
        {"roles": 5},
        {"headers": {"typ": "JWT"}},
        {"headers": {"kid": "unknown"}},
    ],
    ids=lambda changes: "-".join(f"{name}={value}" for name, value in changes.items()),
)
def test_other_claims_are_refused(issuer: Issuer, verifier: Verifier, changes: dict[str, object]) -> None:
    with pytest.raises(TokenInvalid) as refused:
        verifier.check(issuer.token(**changes))  # type: ignore[arg-type]
    assert (refused.value.status, refused.value.code) == (401, "A0230")


def test_only_the_one_algorithm_counts(issuer: Issuer, verifier: Verifier) -> None:
    key = issuer.keys[0]
    claims = jwt.decode(issuer.token(), options={"verify_signature": False})
    named = {"kid": key.kid, "typ": "at+jwt"}
    unsigned = jwt.encode(claims, None, "none", headers=named)  # type: ignore[arg-type]
    with_public_key = jwt.encode(claims, key.raw, "HS256", headers=named)
    other_signer = jwt.encode(claims, Key("first").private, "EdDSA", headers=named)
    # A header that claims EdDSA over a signature made with HMAC and the public key.
    head, body, _ = issuer.token().split(".")
    relabelled = ".".join((head, body, with_public_key.rsplit(".", 1)[1]))
    own_key = issuer.token(Key("mine"), headers={"jwk": {"kty": "OKP"}, "jku": issuer.url, "kid": key.kid})
    for forged in (unsigned, with_public_key, other_signer, relabelled, own_key):
        with pytest.raises(TokenInvalid):
            verifier.check(forged)


@pytest.mark.parametrize("garbage", ["", ".", "..", "a.b.c", "é" * 40, "\ud800", "x" * 5000, "[" * 3000])
def test_garbage_costs_no_fetch(issuer: Issuer, verifier: Verifier, garbage: str) -> None:
    with pytest.raises(TokenInvalid):
        verifier.check(garbage)
    assert issuer.fetches == 0


def test_a_deeply_nested_header_is_garbage_too(verifier: Verifier) -> None:
    header = base64.urlsafe_b64encode(b'{"kid":' + b"[" * 2000).rstrip(b"=").decode()
    with pytest.raises(TokenInvalid):
        verifier.check(f"{header}.e30.AA")


def test_clocks_may_differ_a_little_and_not_much(issuer: Issuer) -> None:
    clock = Clock(10_000)
    verifier = Verifier(issuer.url, ISSUER, leeway=10, clock=clock)
    token = issuer.token(iat=10_000, exp=10_600)
    for moment, good in ((9_989, False), (9_990, True), (10_609, True), (10_610, False)):
        clock.now = moment
        if good:
            assert verifier.check(token).expires == 10_600
        else:
            with pytest.raises(TokenInvalid):
                verifier.check(token)
    with pytest.raises(ValueError, match="leeway"):
        Verifier(issuer.url, ISSUER, leeway=3600)


def test_keys_are_fetched_once(issuer: Issuer, verifier: Verifier) -> None:
    for _ in range(50):
        verifier.check(issuer.token())
    assert issuer.fetches == 1


def test_a_new_key_is_found_and_a_retired_one_forgotten(issuer: Issuer) -> None:
    clock = Clock()
    verifier = Verifier(KeySet(issuer.url, clock=clock), ISSUER)
    old = issuer.token()
    verifier.check(old)
    issuer.keys = [Key("second")]
    clock.now += 1
    verifier.check(issuer.token())
    assert issuer.fetches == 2
    with pytest.raises(TokenInvalid):
        verifier.check(old)


def test_a_retired_key_is_forgotten_without_a_new_one(issuer: Issuer) -> None:
    clock = Clock()
    verifier = Verifier(KeySet(issuer.url, max_age=300, clock=clock), ISSUER)
    token = issuer.token()
    verifier.check(token)
    issuer.keys = []
    clock.now += 299
    verifier.check(token)
    clock.now += 1
    with pytest.raises(TokenInvalid):
        verifier.check(token)


def test_forged_kids_cause_one_fetch_an_interval(issuer: Issuer) -> None:
    clock = Clock()
    verifier = Verifier(KeySet(issuer.url, min_interval=1, clock=clock), ISSUER)
    for second in range(1, 4):
        for number in range(20):
            with pytest.raises(TokenInvalid):
                verifier.check(issuer.token(Key(f"forged-{second}-{number}")))
        assert issuer.fetches == second
        clock.now += 1


def test_threads_with_forged_kids_cause_one_fetch(issuer: Issuer) -> None:
    clock = Clock()
    verifier = Verifier(KeySet(issuer.url, clock=clock), ISSUER)
    forged = [issuer.token(Key(f"forged-{number}")) for number in range(20)]
    together = threading.Barrier(20)

    def check(token: str) -> str:
        together.wait()
        try:
            verifier.check(token)
        except TokenInvalid as refused:
            return str(refused)
        return "believed"

    with ThreadPoolExecutor(20) as pool:
        assert set(pool.map(check, forged)) == {"signed by no key of the service"}
    assert issuer.fetches == 1


async def test_tasks_with_forged_kids_cause_one_fetch(issuer: Issuer) -> None:
    verifier = Verifier(KeySet(issuer.url, clock=Clock()), ISSUER)
    issuer.hold.clear()
    checks = [asyncio.create_task(verifier.check_async(issuer.token(Key(f"forged-{n}")))) for n in range(50)]
    good = asyncio.create_task(verifier.check_async(issuer.token()))
    await asyncio.sleep(0)
    issuer.hold.set()
    results = await asyncio.gather(*checks, return_exceptions=True)
    assert {type(result) for result in results} == {TokenInvalid}
    assert (await good).user_id == 7
    assert issuer.fetches == 1


def test_while_the_service_is_away_known_keys_serve_on(issuer: Issuer) -> None:
    clock = Clock()
    verifier = Verifier(KeySet(issuer.url, max_age=300, stale_for=3600, timeout=1, clock=clock), ISSUER)
    token = issuer.token()
    verifier.check(token)
    issuer.away()
    clock.now += 3899
    verifier.check(token)
    # An unknown kid may be a new key: nobody is told to log in again because we cannot find out.
    clock.now += 0.5
    with pytest.raises(Unavailable) as away:
        verifier.check(issuer.token(Key("new")))
    assert away.value.status == 503
    assert away.value.headers == {"Retry-After": "2"}
    clock.now += 0.5
    with pytest.raises(Unavailable):
        verifier.check(token)


def test_a_broken_answer_does_not_displace_good_keys(issuer: Issuer) -> None:
    clock = Clock()
    verifier = Verifier(KeySet(issuer.url, clock=clock), ISSUER)
    verifier.check(issuer.token())
    issuer.broken = True
    clock.now += 301
    verifier.check(issuer.token())
    issuer.broken = False
    clock.now += 1
    verifier.check(issuer.token())
    assert issuer.fetches == 3


def test_before_the_first_answer_nobody_is_let_in(issuer: Issuer, verifier: Verifier) -> None:
    issuer.away()
    with pytest.raises(Unavailable):
        verifier.check(issuer.token())


@pytest.mark.parametrize(
    "url", ["http://gatehouse:8000/jwks", "http://10.0.0.5/jwks", "http://localhost.evil.example/x"]
)
def test_plain_http_to_another_machine_must_be_allowed(url: str) -> None:
    with pytest.raises(ValueError, match="not https"):
        KeySet(url)
    with pytest.raises(ValueError, match="not https"):
        Introspector(url, "ghs_x")
    KeySet(url, allow_http=True)
    Introspector(url, "ghs_x", allow_http=True)
    for near in ("http://127.0.0.1:8000/jwks", "http://localhost/jwks", "http://[::1]/jwks", "https://elsewhere/jwks"):
        KeySet(near)


def test_keys_come_over_http_only() -> None:
    for url in ("file:///etc/passwd", "ftp://example.com/jwks", "jwks.json"):
        with pytest.raises(ValueError, match="http"):
            Verifier(url, ISSUER)


def test_the_envelope_of_a_refusal_is_the_one_that_front_ends_know() -> None:
    assert json.loads(TokenInvalid("why").body) == {"code": "A0230", "msg": "Please log in"}

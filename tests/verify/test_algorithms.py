"""`gatehouse.verify` takes tokens of all three algorithms, each only with a key of its own kind."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gatehouse.verify import EndedSessions, Forbidden, TokenInvalid, Unavailable, Verifier
from gatehouse.verify.jwk import read_jwk
from gatehouse.verify.keys import KeySet
from tests.support.running import free_port

BAD_TOKENS = Path(__file__).parents[2] / "examples" / "bad_tokens"


@pytest.fixture(scope="module")
def issuer() -> Iterator[Any]:
    """The issuer of the table that every adapter is tried with: good tokens of all algorithms, and bad ones."""
    sys.path.insert(0, str(BAD_TOKENS))
    try:
        module = importlib.import_module("issuer")
    finally:
        sys.path.remove(str(BAD_TOKENS))
    with module.Issuer(free_port()) as issuer:
        thread = threading.Thread(target=issuer.serve)
        thread.start()
        yield issuer
        issuer._server.shutdown()
        thread.join()


def outcome(verifier: Verifier, token: str) -> int:
    try:
        verifier.check(token).require("sys:user:add")
    except (TokenInvalid, Forbidden) as refusal:
        return refusal.status
    return 200


def test_every_token_of_the_shared_table(issuer: Any) -> None:
    tokens = importlib.import_module("tokens")
    rows = [row for row in tokens.make(issuer.signers, issuer.url) if not row.only]
    with EndedSessions(f"{issuer.url}/events/ended-sessions/stream", "ghs_any") as ended:
        verifier = Verifier(
            f"{issuer.url}/.well-known/jwks.json", issuer.url, perms_in_token=True, ended_sessions=ended
        )
        answers = [(row, outcome(verifier, row.token)) for row in rows for _ in range(2)]
    assert [(row.name, answer) for row, answer in answers if answer != row.status] == []
    assert {row.name for row in rows} >= {"good, ES256", "good, EdDSA", "good, RS256"}


def test_a_jwk_is_good_for_the_algorithm_of_its_kind_and_no_other(issuer: Any) -> None:
    for key in issuer.signers.ours:
        jwk = key.jwk()
        read = read_jwk(jwk)
        assert read is not None
        assert (read.kid, read.algorithm) == (key.kid, key.alg)
        assert read_jwk({**jwk, "alg": "HS256"}) is None
        assert read_jwk({**jwk, "use": "enc"}) is None
        assert read_jwk({name: value for name, value in jwk.items() if name != "kid"}) is None
        with pytest.raises(ValueError, match=r".*"):
            read_jwk({name: value for name, value in jwk.items() if name not in {"x", "n"}})
    assert read_jwk({"kty": "oct", "k": "AAAA", "kid": "x"}) is None
    short = {"kty": "RSA", "kid": "x", "e": "AQAB", "n": "_" * 171}  # 1024 bits
    with pytest.raises(ValueError, match="1024 bits"):
        read_jwk(short)


def test_a_verified_token_is_remembered_and_still_expires(issuer: Any) -> None:
    tokens = importlib.import_module("tokens")
    now = [0.0]
    keys = KeySet(f"{issuer.url}/.well-known/jwks.json")
    verifier = Verifier(keys, issuer.url, clock=lambda: now[0])
    table = tokens.Table(issuer.url)
    key = issuer.signers.ours[0]
    token = tokens.token(tokens.header(key), table.claims(), key.sign)
    now[0] = table.now
    first = verifier.check(token)
    assert verifier.check(token) is first
    assert (first.username, first.department) == ("ada", 3)
    now[0] = first.expires + 10
    with pytest.raises(TokenInvalid):
        verifier.check(token)


def test_a_retired_key_opens_nothing_though_its_token_was_remembered(issuer: Any) -> None:
    tokens = importlib.import_module("tokens")
    now = [0.0]
    keys = KeySet(f"{issuer.url}/.well-known/jwks.json", clock=lambda: now[0])
    verifier = Verifier(keys, issuer.url)
    key = issuer.signers.ours[0]
    token = tokens.token(tokens.header(key), tokens.Table(issuer.url).claims(), key.sign)
    verifier.check(token)
    held, issuer.signers.ours = issuer.signers.ours, issuer.signers.ours[1:]
    try:
        verifier.check(token)  # within the life of the keys that it holds
        now[0] += 301
        with pytest.raises(TokenInvalid):
            verifier.check(token)
    finally:
        issuer.signers.ours = held


def test_a_key_set_that_cannot_be_read_is_no_fault_of_the_token(issuer: Any) -> None:
    verifier = Verifier(f"{issuer.url}/tokens", issuer.url)
    tokens = importlib.import_module("tokens")
    key = issuer.signers.ours[0]
    with pytest.raises(Unavailable):
        verifier.check(tokens.token(tokens.header(key), tokens.Table(issuer.url).claims(), key.sign))

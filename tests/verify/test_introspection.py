"""Asking the service about each token: revocation shows at once, perms are known, and doubt lets nobody in."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import httpx
import jwt
import pytest

from gatehouse.verify import Forbidden, Introspector, TokenInvalid, Unavailable
from tests.support.accounts import Accounts
from tests.support.conversation import LOGOUT, bearer, login
from tests.support.people import add_user, service_key, with_stores
from tests.support.running import Running, free_port
from tests.verify.issuer import Issuer


@pytest.fixture(scope="module")
def url(server: Running) -> str:
    return f"{server.url}/oauth2/introspect"


@pytest.fixture(scope="module")
def key(server: Running) -> str:
    return service_key(server)


@pytest.fixture
def client(server: Running) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


@pytest.fixture
def token(client: httpx.Client) -> Iterator[str]:
    token = login(client)["accessToken"]
    yield token
    client.post(LOGOUT, headers=bearer(token))


def test_roles_and_perms_are_known(url: str, key: str, token: str) -> None:
    principal = Introspector(url, key).check(token)
    assert (principal.user_id, principal.username, principal.roles) == (1, "admin", frozenset({"ADMIN"}))
    principal.require("sys:user:add", "sys:role:add")
    principal.require_role("ADMIN")
    with pytest.raises(Forbidden):
        principal.require("sys:user:add", "no:such:perm")
    assert asyncio.run(Introspector(url, key).check_async(token)) == principal


def test_how_and_when_the_session_was_proven_is_known(url: str, key: str, token: str, client: httpx.Client) -> None:
    claims = jwt.decode(token, options={"verify_signature": False})
    told = client.post(url, data={"token": token}, headers={"Authorization": f"Bearer {key}"}).json()
    assert (told["amr"], told["auth_time"]) == (["pwd"], claims["auth_time"])


def test_a_logout_shows_at_once(url: str, key: str, token: str, client: httpx.Client) -> None:
    introspector = Introspector(url, key)
    introspector.check(token)
    client.post(LOGOUT, headers=bearer(token))
    with pytest.raises(TokenInvalid) as refused:
        introspector.check(token)
    assert refused.value.status == 401


def test_a_perm_taken_away_shows_at_once(url: str, key: str, server: Running, client: httpx.Client) -> None:
    with_stores(server, lambda s: Accounts(s).add_role("VERIFY", "Verify", ["doc:page:edit"]))
    add_user(server, "vera", ("VERIFY",))
    introspector = Introspector(url, key)
    token = login(client, username="vera")["accessToken"]
    introspector.check(token).require("doc:page:edit")
    with_stores(server, lambda s: Accounts(s).deny("VERIFY", ["doc:page:edit"]))
    with pytest.raises(Forbidden):
        introspector.check(token).require("doc:page:edit")


def test_what_is_remembered_is_forgotten_in_time(url: str, key: str, token: str, client: httpx.Client) -> None:
    now = [time.time()]
    introspector = Introspector(url, key, remember=5, clock=lambda: now[0])
    introspector.check(token)
    client.post(LOGOUT, headers=bearer(token))
    now[0] += 4.9
    introspector.check(token)
    now[0] += 0.1
    with pytest.raises(TokenInvalid):
        introspector.check(token)


def test_nothing_is_remembered_beyond_the_life_of_its_token(
    url: str, key: str, token: str, client: httpx.Client
) -> None:
    now = [time.time() + 7190]
    introspector = Introspector(url, key, remember=30, clock=lambda: now[0])
    principal = introspector.check(token)
    client.post(LOGOUT, headers=bearer(token))
    now[0] = principal.expires
    with pytest.raises(TokenInvalid):
        introspector.check(token)


def test_memory_is_bounded() -> None:
    with pytest.raises(ValueError, match="remember"):
        Introspector("https://login.example.com/oauth2/introspect", "ghs_x", remember=3600)


@pytest.mark.parametrize("garbage", ["", "short", "a b" * 20, "é" * 40, "\ud800" * 20, "x" * 5000])
def test_garbage_is_not_asked_about(garbage: str) -> None:
    with pytest.raises(TokenInvalid):
        Introspector(f"http://127.0.0.1:{free_port()}/oauth2/introspect", "ghs_x").check(garbage)


def test_an_unknown_service_key_lets_nobody_in(url: str, token: str) -> None:
    with pytest.raises(Unavailable, match="401") as refused:
        Introspector(url, "ghs_unknown").check(token)
    assert refused.value.status == 503
    assert token not in str(refused.value)
    assert "ghs_unknown" not in str(refused.value)


def test_a_service_that_is_away_lets_nobody_in(token: str) -> None:
    with pytest.raises(Unavailable):
        Introspector(f"http://127.0.0.1:{free_port()}/oauth2/introspect", "ghs_x").check(token)


def test_an_answer_of_another_form_lets_nobody_in(token: str) -> None:
    with Issuer() as stranger, pytest.raises(Unavailable):
        Introspector(stranger.url, "ghs_x").check(token)

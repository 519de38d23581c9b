"""The way there and back: what the browser is sent with, what it must bring, how the code is exchanged."""

from __future__ import annotations

from base64 import b64decode
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from gatehouse.identity_sources.clients import CallbackRefused
from gatehouse.identity_sources.definitions import Mapping
from gatehouse.identity_sources.errors import SourceUnavailable
from tests.identity_sources.provider.hostile_provider import (
    ABSENT,
    CALLBACK,
    CLIENT_ID,
    DISCOVERY,
    KEYS,
    SECRET,
    TOKEN,
    USERINFO,
    HostileProvider,
    sign,
)
from tests.identity_sources.provider.loopback_server import json_reply


async def test_the_browser_is_sent_with_pkce_state_and_nonce(hostile: HostileProvider) -> None:
    client = hostile.client(scopes=("email", "groups"))
    request = await client.begin(CALLBACK, prompt="login", max_age=0)
    parts = urlsplit(request.url)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    assert request.url.startswith(f"{hostile.url}/authorize?tenant=1&")
    assert query.pop("code_challenge") != request.verifier
    assert query == {
        "tenant": "1",
        "response_type": "code",
        "client_id": CLIENT_ID,
        "redirect_uri": CALLBACK,
        "scope": "openid email groups",
        "prompt": "login",
        "max_age": "0",
        "state": request.state,
        "nonce": request.nonce,
        "code_challenge_method": "S256",
    }
    again = await client.begin(CALLBACK)
    assert "prompt" not in again.url
    for one, other in zip(request[1:], again[1:], strict=True):
        assert one != other
        assert len(one) >= 43  # 256 bits


async def test_a_login_says_who_came_and_how(hostile: HostileProvider) -> None:
    login = await hostile.login(
        hostile.client(),
        preferred_username="caroline",
        groups=["staff", "admins"],
        amr=["pwd", "otp", 7],
        acr="gold",
        auth_time=1_700_000_000,
        sid="session-1",
    )
    assert login.person.subject == "person-1"
    assert login.person.name == "caroline"
    assert login.person.issuer == hostile.url
    assert login.person.groups == ("staff", "admins")
    assert (login.amr, login.acr, login.sid) == (("pwd", "otp"), "gold", "session-1")
    assert login.authenticated == 1_700_000_000
    assert login.id_token == hostile.id_token


@pytest.mark.parametrize(
    "query",
    [
        {"state": "another"},
        {"state": ABSENT},
        {"state": "é"},
        {"iss": "https://other.example"},
        {"code": ABSENT},
        {"code": "c" * 5000},
    ],
)
async def test_a_callback_that_is_not_ours_is_refused(hostile: HostileProvider, query: dict[str, Any]) -> None:
    with pytest.raises(CallbackRefused):
        await hostile.login(hostile.client(), query)
    assert hostile.times(TOKEN) == 0


async def test_iss_is_required_where_the_provider_says_that_it_sends_it(hostile: HostileProvider) -> None:
    hostile.metadata["authorization_response_iss_parameter_supported"] = True
    client = hostile.client()
    with pytest.raises(CallbackRefused, match="iss"):
        await hostile.login(client)
    assert (await hostile.login(client, {"iss": hostile.url})).person.subject == "person-1"


async def test_an_error_of_the_provider_keeps_its_code(hostile: HostileProvider) -> None:
    client = hostile.client()
    with pytest.raises(CallbackRefused, match="went away") as refused:
        await hostile.login(client, {"error": "access_denied", "error_description": "went away\nforged line"})
    assert refused.value.code == "access_denied"
    assert "\n" not in str(refused.value)
    with pytest.raises(CallbackRefused) as refused:
        await hostile.login(client, {"error": "<script>"})
    assert refused.value.code == ""
    with pytest.raises(CallbackRefused, match="state"):
        await hostile.login(client, {"error": "access_denied", "state": "another"})


@pytest.mark.parametrize("client_auth", ["client_secret_basic", "client_secret_post", "none"])
async def test_the_client_authenticates_as_configured(hostile: HostileProvider, client_auth: str) -> None:
    await hostile.login(hostile.client(client_auth=client_auth))
    asked = next(asked for asked in hostile.asked if asked.path == TOKEN)
    assert ("Authorization" in asked.headers) is (client_auth == "client_secret_basic")
    assert asked.form.get("client_secret") == (SECRET if client_auth == "client_secret_post" else None)
    if client_auth == "client_secret_basic":
        pair = b64decode(asked.headers["Authorization"].removeprefix("Basic "))
        assert pair == b"gate+house%3A1:s+e%3Ac%2Fr%2Be%25t"


async def test_a_code_that_is_not_known_is_a_refusal_and_a_wrong_secret_is_not(hostile: HostileProvider) -> None:
    with pytest.raises(CallbackRefused, match=r"no such\\ncode") as refused:
        await hostile.login(hostile.client(), {"code": "stolen"})
    assert refused.value.code == "invalid_grant"
    with pytest.raises(SourceUnavailable, match="look at client_id, the secret and client_auth"):
        await hostile.login(hostile.client(client_id="nobody"))


async def test_discovery_and_keys_are_fetched_once_an_hour(hostile: HostileProvider) -> None:
    client = hostile.client()
    for _ in range(3):
        await hostile.login(client)
    assert (hostile.times(DISCOVERY), hostile.times(KEYS)) == (1, 1)
    hostile.clock.now += 3601
    await hostile.login(client)
    assert (hostile.times(DISCOVERY), hostile.times(KEYS)) == (2, 2)


async def test_userinfo_adds_claims_and_must_speak_of_the_same_person(hostile: HostileProvider) -> None:
    client = hostile.client(userinfo=True, mapping=Mapping(groups="roles"))
    hostile.userinfo = {"sub": "person-1", "email": "from userinfo", "name": "Caroline", "roles": "one", "acr": "gold"}
    login = await hostile.login(client, email="from the token", amr=["pwd"])
    assert login.person.attributes["email"] == ("from the token",)
    assert login.person.attributes["name"] == ("Caroline",)
    assert login.person.groups == ("one",)
    assert login.acr == "", "what is not signed does not say how somebody was authenticated"
    asked = next(asked for asked in hostile.asked if asked.path == USERINFO)
    assert asked.headers["Authorization"] == "Bearer an-access-token"
    hostile.userinfo = {"sub": "person-2"}
    with pytest.raises(CallbackRefused, match="somebody else"):
        await hostile.login(client)
    hostile.routes[USERINFO] = lambda _: json_reply({"sub": "person-1"}, 403)
    with pytest.raises(SourceUnavailable, match="answers 403"):
        await hostile.login(client)
    del hostile.metadata["userinfo_endpoint"]
    with pytest.raises(SourceUnavailable, match="no userinfo endpoint"):
        await hostile.login(hostile.client(userinfo=True))


async def test_our_logout_goes_on_to_the_provider(hostile: HostileProvider) -> None:
    url = await hostile.client().logout_url("the-token", "https://gatehouse.example/", "a state")
    assert url == (
        f"{hostile.url}/logout?id_token_hint=the-token&client_id=gate+house%3A1"
        "&post_logout_redirect_uri=https%3A%2F%2Fgatehouse.example%2F&state=a+state"
    )
    assert await hostile.client(logout=False).logout_url("the-token", CALLBACK, "") is None
    del hostile.metadata["end_session_endpoint"]
    assert await hostile.client().logout_url("the-token", CALLBACK, "") is None


async def test_cookies_of_one_login_do_not_go_out_with_the_next(hostile: HostileProvider) -> None:
    hostile.routes[DISCOVERY] = lambda _: json_reply(hostile.metadata, Set_Cookie="person=1; Path=/")
    await hostile.login(hostile.client())
    assert not any("Cookie" in asked.headers for asked in hostile.asked)


async def test_the_test_tries_each_step(hostile: HostileProvider) -> None:
    async def steps(**values: Any) -> list[tuple[str, bool]]:
        return [(step.step, step.works) async for step in hostile.client(**values).test()]

    assert await steps() == [("discovery", True), ("keys", True), ("token", True)]
    assert await steps(client_id="nobody") == [("discovery", True), ("keys", True), ("token", False)]
    hostile.routes[TOKEN] = lambda _: json_reply({"error": "invalid_request"}, 400)
    assert await steps() == [("discovery", True), ("keys", True), ("token", False)]
    hostile.keys = []
    assert await steps() == [("discovery", True), ("keys", False)]
    hostile.metadata["issuer"] = "https://other.example"
    assert await steps() == [("discovery", False)]


async def test_a_token_response_without_an_id_token_is_refused(hostile: HostileProvider) -> None:
    hostile.routes[TOKEN] = lambda _: json_reply({"access_token": "an-access-token"})
    with pytest.raises(CallbackRefused, match="no token"):
        await hostile.login(hostile.client())


async def test_somebody_elses_id_token_is_refused_by_its_nonce(hostile: HostileProvider) -> None:
    with pytest.raises(CallbackRefused, match="nonce"):
        await hostile.login(hostile.client(), token=sign(hostile.claims(nonce="of-another-login")))

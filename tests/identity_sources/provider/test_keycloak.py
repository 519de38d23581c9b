"""Against a real provider: Keycloak."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
import pytest_asyncio

from gatehouse.identity_sources.clients import ProviderLogin
from gatehouse.identity_sources.definitions import Mapping, ProviderConfig
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.identity_sources.provider.openid_provider import OpenIdProvider
from tests.identity_sources.provider.hostile_provider import ShiftedClock
from tests.identity_sources.provider.loopback_server import LoopbackServer, json_reply
from tests.support import html_forms
from tests.support.keycloak import Client, KeycloakServer
from tests.support.waiting import wait_until

pytestmark = pytest.mark.full

CALLBACK, AFTER_LOGOUT = "https://gatehouse.example/callback", "https://gatehouse.example/"
PASSWORD = "a password of a person"


@pytest.fixture
def receiver() -> Iterator[LoopbackServer]:
    """What Keycloak tells us behind the browser's back."""
    with LoopbackServer() as server:
        server.routes["/logout"] = lambda _: json_reply({})
        yield server


@pytest.fixture
def registered(keycloak: KeycloakServer, receiver: LoopbackServer) -> Client:
    return keycloak.create_client([CALLBACK], after_logout=AFTER_LOGOUT, backchannel_url=f"{receiver.url}/logout")


@pytest.fixture
def browser() -> Iterator[httpx.Client]:
    with html_forms.browser() as client:
        yield client


Connect = Callable[..., OpenIdProvider]


@pytest_asyncio.fixture
async def connect(keycloak: KeycloakServer) -> AsyncIterator[Connect]:
    opened: list[OpenIdProvider] = []

    def open_client(
        client: Client, *, secret: str = "", clock: ShiftedClock | None = None, **values: Any
    ) -> OpenIdProvider:
        config = ProviderConfig(**{"issuer": keycloak.issuer, "client_id": client.id, "timeout": 60, **values})
        opened.append(OpenIdProvider(config, secret or client.secret, clock or ShiftedClock()))
        return opened[-1]

    yield open_client
    for provider in opened:
        await provider.close()


async def log_in(keycloak: KeycloakServer, provider: OpenIdProvider, browser: httpx.Client, name: str) -> ProviderLogin:
    request = await provider.begin(CALLBACK)
    query = dict(parse_qsl(urlsplit(keycloak.log_in(browser, request.url, CALLBACK, name, PASSWORD)).query))
    assert query["iss"] == keycloak.issuer
    return await provider.complete(query, request, CALLBACK)


async def test_somebody_logs_in_with_groups_and_roles(
    keycloak: KeycloakServer, connect: Connect, registered: Client, browser: httpx.Client
) -> None:
    user = keycloak.create_user("caroline", PASSWORD, groups=("staff", "finance"), roles=("editor",))
    provider = connect(registered)
    login = await log_in(keycloak, provider, browser, "caroline")
    assert (login.person.subject, login.person.name, login.person.issuer) == (user, "caroline", keycloak.issuer)
    assert sorted(login.person.groups) == ["finance", "staff"]
    assert login.person.attributes["email"] == ("caroline@example.org",)
    assert login.acr == "1"
    assert login.authenticated
    assert login.sid
    by_roles = connect(registered, userinfo=True, mapping=Mapping(groups="realm_access.roles"))
    assert "editor" in (await log_in(keycloak, by_roles, browser, "caroline")).person.groups
    keycloak.leave_group(user, "finance")
    assert (await log_in(keycloak, provider, browser, "caroline")).person.groups == ("staff",)


async def test_each_client_authentication(keycloak: KeycloakServer, connect: Connect, browser: httpx.Client) -> None:
    keycloak.create_user("dora", PASSWORD)
    secret, public = keycloak.create_client([CALLBACK]), keycloak.create_client([CALLBACK], public=True)
    for client, client_auth in ((secret, "client_secret_basic"), (secret, "client_secret_post"), (public, "none")):
        provider = connect(client, client_auth=client_auth)
        assert (await log_in(keycloak, provider, browser, "dora")).person.name == "dora"
        assert [step.works async for step in provider.test()] == [True, True, True]
    steps = [step async for step in connect(secret, secret="wrong").test()]
    assert [step.works for step in steps] == [True, True, False]
    assert "look at client_id, the secret" in steps[-1].seen


async def test_our_logout_ends_the_session_there(
    keycloak: KeycloakServer, connect: Connect, registered: Client, browser: httpx.Client, receiver: LoopbackServer
) -> None:
    keycloak.create_user("emil", PASSWORD)
    provider = connect(registered)
    login = await log_in(keycloak, provider, browser, "emil")
    url = await provider.logout_url(login.id_token, AFTER_LOGOUT, "a state")
    assert url is not None
    assert keycloak.log_out(browser, url, AFTER_LOGOUT) == f"{AFTER_LOGOUT}?state=a+state"
    assert "username" in browser.get((await provider.begin(CALLBACK)).url).text, "it asks for the password again"


async def test_a_logout_there_reaches_us(
    keycloak: KeycloakServer, connect: Connect, registered: Client, browser: httpx.Client, receiver: LoopbackServer
) -> None:
    user = keycloak.create_user("franz", PASSWORD)
    provider = connect(registered)
    login = await log_in(keycloak, provider, browser, "franz")
    keycloak.log_out_user(user)
    posts = wait_until(lambda: [asked for asked in receiver.asked if asked.path == "/logout"])
    token = await provider.read_logout_token(posts[0].form["logout_token"])
    assert (token.issuer, token.subject, token.sid) == (keycloak.issuer, user, login.sid)
    assert token.jti


async def test_a_new_key_signs_and_old_tokens_still_count(
    keycloak: KeycloakServer, connect: Connect, registered: Client, browser: httpx.Client
) -> None:
    keycloak.create_user("gerda", PASSWORD)
    clock = ShiftedClock()
    provider = connect(registered, clock=clock)
    before = await log_in(keycloak, provider, browser, "gerda")
    keycloak.rotate_keys()
    clock.shift = 20
    after = await log_in(keycloak, provider, browser, "gerda")
    assert before.id_token.partition(".")[0] != after.id_token.partition(".")[0]
    assert before.person.subject == after.person.subject


async def test_it_stops_and_comes_back(
    keycloak: KeycloakServer, connect: Connect, registered: Client, browser: httpx.Client
) -> None:
    keycloak.create_user("hanna", PASSWORD)
    provider = connect(registered)
    await log_in(keycloak, provider, browser, "hanna")
    keycloak.pause()
    try:
        with pytest.raises(SourceUnavailable, match=r"does not answer within 0\.5 s"):
            await connect(registered, timeout=0.5).begin(CALLBACK)
    finally:
        keycloak.resume()
    keycloak.stop()
    with pytest.raises(SourceUnavailable, match="cannot be reached"):
        await connect(registered).begin(CALLBACK)
    keycloak.start()
    browser.cookies.clear()
    assert (await log_in(keycloak, provider, browser, "hanna")).person.name == "hanna"

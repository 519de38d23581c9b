"""Against a real provider: panva's oidc-provider."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
import pytest_asyncio

from gatehouse.identity_sources.clients import CallbackRefused, ProviderLogin
from gatehouse.identity_sources.definitions import Mapping, ProviderConfig
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.identity_sources.provider.openid_provider import OpenIdProvider
from tests.identity_sources.provider.hostile_provider import ShiftedClock
from tests.identity_sources.provider.loopback_server import LoopbackServer, json_reply
from tests.support import html_forms
from tests.support.engines import NotInstalled
from tests.support.panva_provider import PanvaProvider
from tests.support.waiting import wait_until

pytestmark = pytest.mark.full

CALLBACK, AFTER_LOGOUT = "https://gatehouse.example/callback", "https://gatehouse.example/"
SECRET = "s e:c/r+e%t"


@pytest.fixture(scope="module")
def receiver() -> Iterator[LoopbackServer]:
    """What the provider tells us behind the browser's back."""
    with LoopbackServer() as server:
        server.routes["/logout"] = lambda _: json_reply({})
        yield server


@pytest.fixture(scope="module")
def panva(receiver: LoopbackServer) -> Iterator[PanvaProvider]:
    def client(name: str, **values: Any) -> dict[str, Any]:
        return {
            "client_id": name,
            "redirect_uris": [CALLBACK],
            "post_logout_redirect_uris": [AFTER_LOGOUT],
            "backchannel_logout_uri": f"{receiver.url}/logout",
            "backchannel_logout_session_required": True,
            "id_token_signed_response_alg": "ES256",
            "token_endpoint_auth_method": name,
            **values,
        }

    try:
        provider = PanvaProvider(
            client("client_secret_basic", client_secret=SECRET),
            client("client_secret_post", client_secret=SECRET),
            client("none"),
        )
    except NotInstalled as missing:
        pytest.skip(str(missing))
    provider.start()
    yield provider
    provider.remove()


@pytest.fixture
def browser() -> Iterator[httpx.Client]:
    with html_forms.browser() as client:
        yield client


Connect = Callable[..., OpenIdProvider]


@pytest_asyncio.fixture
async def connect(panva: PanvaProvider) -> AsyncIterator[Connect]:
    """Our client of it, by the way in which it authenticates, with a clock that the test may move."""
    opened: list[OpenIdProvider] = []

    def open_client(
        client_auth: str = "client_secret_basic", *, secret: str = SECRET, clock: ShiftedClock | None = None
    ) -> Any:
        config = ProviderConfig(
            issuer=panva.issuer,
            client_id=client_auth,
            client_auth=client_auth,
            userinfo=True,
            mapping=Mapping(groups="realm_access.roles"),
            timeout=30,
        )
        opened.append(OpenIdProvider(config, secret, clock or ShiftedClock()))
        return opened[-1]

    yield open_client
    for client in opened:
        await client.close()


async def log_in(panva: PanvaProvider, client: OpenIdProvider, browser: httpx.Client, name: str) -> ProviderLogin:
    request = await client.begin(CALLBACK)
    query = dict(parse_qsl(urlsplit(panva.log_in(browser, request.url, CALLBACK, name)).query))
    assert query["iss"] == panva.issuer
    return await client.complete(query, request, CALLBACK)


@pytest.mark.parametrize("client_auth", ["client_secret_basic", "client_secret_post", "none"])
async def test_somebody_logs_in(
    panva: PanvaProvider, connect: Connect, browser: httpx.Client, client_auth: str
) -> None:
    client = connect(client_auth)
    login = await log_in(panva, client, browser, "caroline")
    assert (login.person.subject, login.person.name) == ("caroline", "caroline")
    assert login.person.groups == ("editor",)
    assert login.person.attributes["groups"] == ("staff", "admins")
    assert login.person.attributes["email"] == ("caroline@example.org",)
    assert login.sid
    assert [step.works async for step in client.test()] == [True, True, True]


async def test_a_callback_is_good_once_and_for_its_own_login(
    panva: PanvaProvider, connect: Connect, browser: httpx.Client
) -> None:
    client = connect()
    request = await client.begin(CALLBACK)
    query = dict(parse_qsl(urlsplit(panva.log_in(browser, request.url, CALLBACK, "caroline")).query))
    other = await client.begin(CALLBACK)
    with pytest.raises(CallbackRefused) as refused:
        await client.complete(query, request._replace(verifier=other.verifier), CALLBACK)
    assert refused.value.code == "invalid_grant"
    await client.complete(query, request, CALLBACK)
    with pytest.raises(CallbackRefused) as refused:
        await client.complete(query, request, CALLBACK)
    assert refused.value.code == "invalid_grant"


async def test_a_wrong_secret_is_found_out(connect: Connect) -> None:
    steps = [step async for step in connect(secret="wrong").test()]
    assert [step.works for step in steps] == [True, True, False]
    assert "invalid_client" in steps[-1].seen


async def test_logout_goes_to_the_provider_and_comes_back_behind_the_browser(
    panva: PanvaProvider, connect: Connect, browser: httpx.Client, receiver: LoopbackServer
) -> None:
    client = connect()
    login = await log_in(panva, client, browser, "dora")
    url = await client.logout_url(login.id_token, AFTER_LOGOUT, "a state")
    assert url is not None
    assert panva.log_out(browser, url, AFTER_LOGOUT) == f"{AFTER_LOGOUT}?state=a+state"
    posts = wait_until(lambda: [asked for asked in receiver.asked if asked.path == "/logout"], panva.log)
    token = await client.read_logout_token(posts[-1].form["logout_token"])
    assert (token.issuer, token.sid) == (panva.issuer, login.sid)
    with pytest.raises(CallbackRefused, match="not for us"):
        await connect("none").read_logout_token(posts[-1].form["logout_token"])


async def test_new_keys_are_found_when_it_comes_back(
    panva: PanvaProvider, connect: Connect, browser: httpx.Client
) -> None:
    clock = ShiftedClock()
    client = connect(clock=clock)
    old = await log_in(panva, client, browser, "emil")
    panva.stop()
    request = await client.begin(CALLBACK)
    with pytest.raises(SourceUnavailable, match="cannot be reached"):
        await client.complete({"code": "any", "state": request.state, "iss": panva.issuer}, request, CALLBACK)
    panva.rotate_keys()
    panva.start()
    clock.shift = 20
    browser.cookies.clear()
    login = await log_in(panva, client, browser, "emil")
    assert login.person.subject == old.person.subject
    assert login.id_token.partition(".")[0] != old.id_token.partition(".")[0]

"""The Python client against a real service: both variants, renewal by itself, errors that say what happened."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from gatehouse.client import (
    AsyncClient,
    CaptchaGone,
    CaptchaWrong,
    Client,
    CredentialsWrong,
    GatehouseError,
    MustWait,
    NotLoggedIn,
    SecondFactorNeeded,
    SessionEnded,
    Unreachable,
    Variant,
)
from gatehouse.client.requests_and_answers import REFRESH_PAUSE_SECONDS
from gatehouse.settings import Settings
from tests.support.conversation import bearer, login
from tests.support.factors import enrol
from tests.support.inprocess import InProcess
from tests.support.local import Local
from tests.support.people import add_user
from tests.support.running import ANSWER, PASSWORD, TLS, Running, free_port

VARIANTS: tuple[Variant, ...] = ("A", "B")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Counting(httpx.HTTPTransport):
    """The real thing, and how often refresh went through it."""

    def __init__(self) -> None:
        super().__init__(verify=TLS)
        self.refreshes = 0
        self.lose_answers = 0
        self.unavailable = 0
        self.bad_gateway = 0
        self.waits: list[float] = []
        self._lock = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        if request.url.path.endswith("refresh-token"):
            with self._lock:
                self.refreshes += 1
                self.waits.append(max(request.extensions["timeout"].values()))
                if self.unavailable:
                    self.unavailable -= 1
                    response.close()
                    return httpx.Response(503, json={"code": "C0300", "data": None, "msg": "a store is not available"})
                if self.bad_gateway:
                    self.bad_gateway -= 1
                    response.close()
                    return httpx.Response(502, html="<h1>502 Bad Gateway</h1>")
                if self.lose_answers:
                    self.lose_answers -= 1
                    response.read()
                    response.close()
                    raise httpx.ReadError("lost")
        return response


class CountingAsync(httpx.AsyncHTTPTransport):
    refreshes = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.refreshes += request.url.path.endswith("refresh-token")
        return await super().handle_async_request(request)


@pytest.fixture(params=VARIANTS)
def client(server: Running, request: pytest.FixtureRequest) -> Iterator[Client]:
    with Client(server.url, variant=request.param) as client:
        yield client


def log_in(client: Client) -> None:
    client.login("admin", PASSWORD, client.captcha(), ANSWER)


def generation(client: Client | AsyncClient) -> int:
    """How often the service has rotated the session: the third part of the refresh token."""
    assert client.tokens is not None
    return int(client.tokens.refresh.split(".")[2])


def test_a_whole_visit(client: Client) -> None:
    captcha = client.captcha()
    assert captcha.png.startswith(b"\x89PNG")
    client.login("admin", PASSWORD, captcha, ANSWER)
    me = client.me()
    assert (me.username, me.roles) == ("admin", ("ADMIN",))
    assert "sys:user:add" in me.perms
    assert client.refresh().expires_in == 7200
    assert generation(client) == 2
    client.logout()
    assert client.tokens is None
    with pytest.raises(NotLoggedIn):
        client.me()


@pytest.mark.parametrize("variant", VARIANTS)
async def test_a_whole_visit_with_tasks(server: Running, variant: Variant) -> None:
    async with AsyncClient(server.url, variant=variant) as client:
        await client.login("admin", PASSWORD, await client.captcha(), ANSWER)
        assert (await client.me()).id == 1
        await client.refresh()
        assert generation(client) == 2
        await client.logout()
        with pytest.raises(NotLoggedIn):
            await client.access_token()


@pytest.mark.parametrize("variant", VARIANTS)
def test_twenty_threads_at_expiry_refresh_once(server: Running, variant: Variant) -> None:
    clock, transport = Clock(), Counting()
    with Client(server.url, variant=variant, transport=transport, clock=clock) as client:
        log_in(client)
        clock.now += 7199
        together = threading.Barrier(20)

        def call(_: int) -> int:
            together.wait()
            return client.me().id

        with ThreadPoolExecutor(20) as pool:
            assert list(pool.map(call, range(20))) == [1] * 20
        assert (transport.refreshes, generation(client)) == (1, 2)


@pytest.mark.parametrize("variant", VARIANTS)
async def test_twenty_tasks_at_expiry_refresh_once(server: Running, variant: Variant) -> None:
    clock, transport = Clock(), CountingAsync()
    async with AsyncClient(server.url, variant=variant, transport=transport, clock=clock) as client:
        await client.login("admin", PASSWORD, await client.captcha(), ANSWER)
        clock.now += 7199
        answers = await asyncio.gather(*(client.me() for _ in range(20)))
        assert {answer.id for answer in answers} == {1}
        assert (transport.refreshes, generation(client)) == (1, 2)


async def test_a_cancelled_caller_does_not_take_the_others_along(server: Running) -> None:
    clock = Clock()
    async with AsyncClient(server.url, clock=clock) as client:
        await client.login("admin", PASSWORD, await client.captcha(), ANSWER)
        clock.now += 7199
        first, second = asyncio.create_task(client.me()), asyncio.create_task(client.me())
        await asyncio.sleep(0)  # the first has started the flight
        first.cancel()
        assert (await second).id == 1
        assert generation(client) == 2


def test_nothing_is_renewed_before_it_is_due(server: Running) -> None:
    clock, transport = Clock(), Counting()
    with Client(server.url, transport=transport, clock=clock) as client:
        log_in(client)
        clock.now += 7169
        client.me()
        assert transport.refreshes == 0
        clock.now += 1
        client.me()
        assert transport.refreshes == 1


@pytest.mark.parametrize("fault", ["lose_answers", "unavailable", "bad_gateway"])
def test_a_lost_answer_to_a_refresh_logs_nobody_out(server: Running, fault: str) -> None:
    """Nor a 503: the store may have rotated all the same, and been too slow to say so."""
    transport = Counting()
    with Client(server.url, transport=transport, timeout=20.0) as client:
        log_in(client)
        setattr(transport, fault, 1)
        client.refresh()
        assert (transport.refreshes, generation(client)) == (2, 2)
        assert client.me().id == 1
    assert transport.waits[1] == 20.0, "there is no third try to leave time for"


@pytest.mark.parametrize("timeout", [10.0, 1.0])
def test_a_lost_refresh_is_not_awaited_until_the_grace_is_over(server: Running, timeout: float) -> None:
    transport = Counting()
    with Client(server.url, transport=transport, timeout=timeout) as client:
        log_in(client)
        client.refresh()
    [wait] = transport.waits
    # Until the answer is given up, the pause, and until the second try is connected.
    assert wait + REFRESH_PAUSE_SECONDS + wait < Settings().refresh_grace


def test_an_access_token_refused_before_its_time_is_renewed_once(tmp_path: Path) -> None:
    """The client's clock stands still while the token runs out: the service knows better."""
    with (
        InProcess(tmp_path / "data") as gatehouse,
        Client("http://gatehouse.localhost", transport=way_to(gatehouse), clock=Clock()) as client,
    ):
        log_in(client)
        assert client.tokens is not None
        gatehouse.clock.move(client.tokens.expires_in + 60)
        assert gatehouse.me(client.tokens.access).status == 401
        assert client.me().id == 1
        assert generation(client) == 2


def way_to(gatehouse: InProcess) -> httpx.MockTransport:
    def send(request: httpx.Request) -> httpx.Response:
        target = request.extensions.get("target", request.url.raw_path)  # the client keeps a token out of the URL
        path, _, query = target.decode().partition("?")
        headers, content = dict(request.headers), request.read()
        answer = gatehouse.request(request.method, path, content=content, raw_query=query, headers=headers)
        return httpx.Response(answer.status, headers=answer.headers, content=answer.content)

    return httpx.MockTransport(send)


def test_a_session_that_was_ended_elsewhere_is_told_as_such(client: Client, server: Running) -> None:
    log_in(client)
    assert client.tokens is not None
    with Client(server.url) as other:
        other.resume(client.tokens.refresh)
        other.logout()
    with pytest.raises(SessionEnded) as ended:
        client.me()
    assert (ended.value.status, ended.value.code) == (401, "A0231")
    assert client.tokens is None


def test_refusals_say_what_the_service_said(client: Client) -> None:
    captcha = client.captcha()
    with pytest.raises(CaptchaWrong) as wrong:
        client.login("admin", PASSWORD, captcha, "zzzz")
    assert (wrong.value.status, wrong.value.code, wrong.value.retry_after) == (400, "A0240", None)
    assert wrong.value.request_id
    assert wrong.value.msg in str(wrong.value)
    with pytest.raises(CaptchaGone):
        client.login("admin", PASSWORD, captcha, ANSWER)
    with pytest.raises(CredentialsWrong):
        client.login("admin", "not the password", client.captcha(), ANSWER)
    with pytest.raises(GatehouseError) as missing:
        client.login("admin", PASSWORD)
    assert missing.value.code == "A0410"


def test_a_second_factor(server: Running, client: Client) -> None:
    name = f"client-factor-{time.time_ns()}"
    add_user(server, name)
    with server.client() as plain:
        headers = bearer(login(plain, username=name))

        def call(method: str, path: str, body: object) -> dict[str, Any]:
            return dict(plain.request(method, path, json=body, headers=headers).json()["data"])

        _, codes = enrol(call, time.time)
    with pytest.raises(SecondFactorNeeded) as needed:
        client.login(name, PASSWORD, client.captcha(), ANSWER)
    assert needed.value.code == "A0220"
    client.login(name, PASSWORD, client.captcha(), ANSWER, otp_code=codes[0])
    assert client.me().username == name
    client.login(name, PASSWORD, client.captcha(), codes[1])
    with pytest.raises(CredentialsWrong):
        client.login(name, PASSWORD, client.captcha(), codes[1])


def test_waiting_times_come_along(tmp_path: Path) -> None:
    limits = {"limits": "on", "limit_captcha_address": "1/hour"}
    with Local(tmp_path / "data", **limits) as own, Client(own.url, transport=own.transport()) as client:
        client.captcha()
        with pytest.raises(MustWait) as waits:
            client.captcha()
    assert waits.value.status == 429
    assert waits.value.retry_after is not None
    assert 1 <= waits.value.retry_after <= 3600


def test_no_service_is_told_apart_from_a_refusal() -> None:
    with Client(f"http://127.0.0.1:{free_port()}") as client, pytest.raises(Unreachable) as nobody:
        client.captcha()
    assert nobody.value.status == 0


def test_tokens_reach_no_log_no_repr_and_no_error(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    log_in(client)
    first = client.tokens
    client.refresh()
    client.me()
    second = client.tokens
    client.logout()
    with pytest.raises(SessionEnded) as ended:
        client.resume(second.refresh if second else "")
    said = caplog.text + repr(first) + repr(second) + repr(ended.value) + str(ended.value)
    assert "refresh-token" in said  # httpx did log the request
    for tokens in (first, second):
        assert tokens is not None
        for secret in (tokens.access, tokens.refresh):
            assert secret not in said
            assert secret.rsplit(".", 1)[1] not in said
    assert PASSWORD not in said

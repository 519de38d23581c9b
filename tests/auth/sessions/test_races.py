"""Many at once: what must happen exactly once does, and nobody is logged out by a race."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.conversation import LOGIN, LOGOUT, ME, REFRESH, bearer, captcha_id, credentials, login
from tests.support.running import Running
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.every_engine


@pytest.fixture
def client(server: Running) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


async def at_once(server: Running, requests: list[dict[str, Any]]) -> list[httpx.Response]:
    """Each on a connection of its own, so that the workers share them."""
    limits = httpx.Limits(max_connections=len(requests), max_keepalive_connections=0)
    async with httpx.AsyncClient(base_url=server.url, timeout=PATIENCE, limits=limits) as client:
        return await asyncio.gather(*(client.request(**request) for request in requests))


async def test_24_logins_on_one_captcha_exactly_one_wins(server: Running, client: httpx.Client) -> None:
    body = credentials(client, captchaId=captcha_id(client))
    answers = await at_once(server, [{"method": "POST", "url": LOGIN, "json": body}] * 24)
    assert Counter(answer.json()["code"] for answer in answers) == {"00000": 1, "A0242": 23}


@pytest.mark.parametrize("variant", ["body", "query"])
async def test_20_refreshes_have_one_successor(server: Running, client: httpx.Client, variant: str) -> None:
    tokens = login(client)
    token = {"refreshToken": tokens["refreshToken"]}
    request = {"method": "POST", "url": REFRESH, ("json" if variant == "body" else "params"): token}
    answers = await at_once(server, [request] * 20)
    assert {answer.status_code for answer in answers} == {200}
    successors = {answer.json()["data"]["refreshToken"] for answer in answers}
    assert len(successors) == 1
    assert tokens["refreshToken"] not in successors
    for answer in answers:
        assert client.get(ME, headers=bearer(answer.json()["data"])).status_code == 200
    assert client.post(REFRESH, json={"refreshToken": successors.pop()}).status_code == 200


async def test_20_correct_logins_all_succeed(server: Running, client: httpx.Client) -> None:
    answers = await at_once(server, [{"method": "POST", "url": LOGIN, "json": credentials(client)} for _ in range(20)])
    assert {answer.status_code for answer in answers} == {200}


async def test_after_logout_every_worker_refuses(server: Running, client: httpx.Client) -> None:
    """Two workers answer here; 40 fresh connections reach both."""
    for _ in range(5):
        tokens = login(client)
        before = await at_once(server, [{"method": "GET", "url": ME, "headers": bearer(tokens)}] * 10)
        assert {answer.status_code for answer in before} == {200}
        assert client.delete(LOGOUT, headers=bearer(tokens)).status_code == 200
        after = await at_once(server, [{"method": "GET", "url": ME, "headers": bearer(tokens)}] * 40)
        assert {answer.json()["code"] for answer in after} == {"A0230"}


async def test_refreshes_that_race_a_logout_leave_nothing_alive(server: Running, client: httpx.Client) -> None:
    for _ in range(10):
        tokens = login(client)
        requests: list[dict[str, Any]] = [
            {"method": "POST", "url": REFRESH, "json": {"refreshToken": tokens["refreshToken"]}} for _ in range(6)
        ]
        requests.insert(3, {"method": "POST", "url": LOGOUT, "headers": bearer(tokens)})
        answers = await at_once(server, requests)
        assert answers[3].status_code == 200
        for answer in answers:
            data = answer.json().get("data")
            if data:
                assert client.get(ME, headers=bearer(data)).json()["code"] == "A0230"
                assert client.post(REFRESH, json={"refreshToken": data["refreshToken"]}).json()["code"] == "A0231"


async def test_of_several_logouts_one_succeeds(server: Running, client: httpx.Client) -> None:
    tokens = login(client)
    answers = await at_once(server, [{"method": "DELETE", "url": LOGOUT, "headers": bearer(tokens)}] * 8)
    assert Counter(answer.status_code for answer in answers) == {200: 1, 401: 7}

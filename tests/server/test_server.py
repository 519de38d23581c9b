"""How the service stands on its socket: prefix, origins, proxies, description, health, start and stop."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.support.conversation import CAPTCHA, LOGIN, ME, REFRESH, assert_failure, bearer, credentials, login
from tests.support.local import Local
from tests.support.running import PASSWORD, TLS, Running
from tests.support.waiting import PATIENCE, wait_until

# One worker, once it serves. Held generously below by what shared machines need; `make bench` measures.
# Python 3.13 takes a few megabytes more than 3.11.
MOST_MEMORY = 120 * 1024 * 1024


def test_every_path_lives_under_the_prefix(tmp_path: Path) -> None:
    with Local(tmp_path / "data", base_path="/sso/") as service:
        root = service.url.removesuffix("/sso")
        with httpx.Client(base_url=root, transport=service.transport()) as client:
            assert client.get(f"/sso{CAPTCHA}").status_code == 200
            assert client.get("/sso/health/live").status_code == 200
            assert client.get("/sso/openapi.json").json()["servers"] == [{"url": "/sso"}]
            assert client.get("/sso/.well-known/openid-configuration").json()["issuer"] == service.url
            assert_failure(client.get("/sso/api/v1/nothing"), 404, "C0113")
            outside = client.get(CAPTCHA)
            assert (outside.status_code, outside.headers["content-type"]) == (404, "text/plain; charset=utf-8")


def test_configured_origins_are_answered_and_others_are_not(tmp_path: Path) -> None:
    origin = "https://console.example.com"
    with Local(tmp_path / "data", cors_origins=origin) as service, service.client() as client:
        asked = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        preflight = client.options(LOGIN, headers=asked | {"Access-Control-Request-Headers": "authorization,x-tenant"})
        assert preflight.status_code == 204
        assert preflight.headers["access-control-allow-origin"] == origin
        assert preflight.headers["access-control-allow-headers"] == "authorization,x-tenant"
        assert "POST" in preflight.headers["access-control-allow-methods"]
        for answer in (client.get(CAPTCHA, headers={"Origin": origin}), client.get(ME, headers={"Origin": origin})):
            assert answer.headers["access-control-allow-origin"] == origin
            assert answer.headers["vary"] == "origin"
            assert "access-control-allow-credentials" not in answer.headers
        for other in ("https://evil.example.com", "null", f"{origin}.evil.com", f"{origin}:8443"):
            refused = client.options(LOGIN, headers=asked | {"Origin": other})
            assert_failure(refused, 405, "C0113")
            assert "access-control-allow-origin" not in refused.headers


def test_a_console_of_another_origin_can_read_the_name_of_an_export(tmp_path: Path) -> None:
    """It takes the name of the file from Content-Disposition, and fails if it may not read that header."""
    origin = "https://console.example.com"
    with Local(tmp_path / "data", cors_origins=origin) as service, service.client() as client:
        exported = client.get("/api/v1/users/export", headers=bearer(login(client)) | {"Origin": origin})
        assert exported.headers["content-disposition"] == "attachment; filename=users.xlsx"
        readable = {name.lower() for name in exported.headers["access-control-expose-headers"].split(", ")}
        assert readable == {"content-disposition", "enrolment-ticket", "logout-location", "retry-after", "x-request-id"}


def test_a_trusted_proxy_names_the_request_and_others_do_not(tmp_path: Path) -> None:
    named = {"X-Request-Id": "proxy-4711"}
    with Local(tmp_path / "data", trusted_proxies="127.0.0.1") as service, service.client() as client:
        assert client.get(CAPTCHA, headers=named).headers["x-request-id"] == "proxy-4711"
        forged = client.get(CAPTCHA, headers={"X-Request-Id": 'x"} {"level'})
        assert forged.headers["x-request-id"] != 'x"} {"level'
    with Local(tmp_path / "other") as service, service.client() as client:
        assert client.get(CAPTCHA, headers=named).headers["x-request-id"] != "proxy-4711"


@pytest.mark.full
def test_the_refresh_query_reaches_no_log(tmp_path: Path) -> None:
    with Running(tmp_path / "data", log_level="debug") as service, service.client() as client:
        token = login(client)["refreshToken"]
        assert client.post(REFRESH, params={"refreshToken": token}).status_code == 200
        assert client.post(REFRESH, params={"refreshToken": token + "x"}).status_code == 401
        assert client.post(f"/api/v1/nothing?refreshToken={token}").status_code == 404
        service.stop()
        assert token[-43:] not in service.output()


def test_health(client: httpx.Client) -> None:
    assert client.get("/health/live").json() == {"status": "live"}
    assert client.get("/health/ready").json() == {"status": "ready", "accounts": "up", "state": "up"}
    assert client.head("/health/live").status_code == 200


def test_the_keys_may_be_kept_for_a_while(client: httpx.Client) -> None:
    answer = client.get("/.well-known/jwks.json")
    assert "max-age" in answer.headers["cache-control"]
    assert all(set(key) == {"kty", "crv", "x", "y", "kid", "alg", "use"} for key in answer.json()["keys"])


def test_the_description_names_every_operation_variant_and_failure(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    paths = document["paths"]
    assert set(paths["/api/v1/auth/logout"]) == {"post", "delete"}
    login_schema = document["components"]["schemas"]["LoginBody"]
    assert {"captchaKey", "captchaId"} <= set(login_schema["properties"])
    refresh = paths["/api/v1/auth/refresh-token"]["post"]
    assert refresh["parameters"][0]["name"] == "refreshToken"
    assert "requestBody" in refresh
    described = str(document)
    for code in (
        "00000", "A0400", "A0410", "A0421", "A0240", "A0242", "A0210", "A0211", "A0502", "A0230", "A0231", "C0113",
        "B0210", "C0300", "B0001",
    ):  # fmt: skip
        assert code in described, code


async def test_sigterm_finishes_what_is_in_flight(tmp_path: Path) -> None:
    """Logins wait in the hash queue when the service is told to stop: all of them are answered."""
    service = Running(tmp_path / "data", hash_threads=1).start()
    with service.client() as client:
        bodies = [credentials(client) for _ in range(6)]
    async with httpx.AsyncClient(base_url=service.url, timeout=PATIENCE, verify=TLS) as client:
        running = [asyncio.create_task(client.post(LOGIN, json=body)) for body in bodies]
        # They were sent together, and the event loop goes before the hashes: all are read by then, and most wait.
        await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        assert service.process is not None
        service.process.terminate()
        answers = await asyncio.gather(*running)
    assert {answer.status_code for answer in answers} == {200}
    assert service.stop() == 0
    with service, service.client() as client:
        for answer in answers:
            assert client.get(ME, headers=bearer(answer.json()["data"])).status_code == 200


@pytest.mark.full
def test_a_worker_stays_small(tmp_path: Path) -> None:
    with Running(tmp_path / "data") as service:

        def come_in(_number: int) -> None:
            with service.client() as client:
                client.get(ME, headers=bearer(login(client)))

        [worker] = service.workers()
        for _ in range(3):
            with ThreadPoolExecutor(8) as crowd:
                list(crowd.map(come_in, range(24)))
            # The memory of hashes is given back a moment after the last.
            wait_until(lambda: worker.memory_info().rss < MOST_MEMORY, lambda: f"{worker.memory_info().rss} bytes")


@pytest.mark.full
@pytest.mark.skipif(not hasattr(os, "SCHED_BATCH"), reason="Linux has these policies")
def test_threads_of_a_worker_do_not_preempt_each_other(tmp_path: Path) -> None:
    with Running(tmp_path / "data") as service, service.client() as client:
        login(client)
        [worker] = service.workers()
        policies = Counter(os.sched_getscheduler(thread.id) for thread in worker.threads())
        assert set(policies) == {os.SCHED_BATCH, os.SCHED_IDLE}, "hashes run when nothing else does"
        assert policies[os.SCHED_BATCH] > 2


@pytest.mark.full
def test_changes_by_another_process_show_on_the_next_request(tmp_path: Path) -> None:
    with Running(tmp_path / "data", workers=2) as service, service.client() as client:
        tokens = login(client)
        assert client.get(ME, headers=bearer(tokens)).json()["data"]["nickname"] == "Administrator"
        assert service.cli("user", "edit", "admin", "--nickname", "Chief").returncode == 0
        assert client.get(ME, headers=bearer(tokens)).json()["data"]["nickname"] == "Chief"
        other = service.cli("user", "add", "ann", "--role", "ADMIN", "--password-stdin", stdin=PASSWORD + "\n")
        assert other.returncode == 0, other.stderr  # one enabled administrator must remain
        assert service.cli("user", "disable", "admin").returncode == 0
        assert_failure(client.get(ME, headers=bearer(tokens)), 401, "A0230")


@pytest.mark.parametrize("path", [CAPTCHA, "/health/live"])
def test_a_connection_serves_many_requests(server: Running, path: str) -> None:
    with server.client() as client:
        for _ in range(50):
            assert client.get(path).status_code == 200

"""The examples answer 200, 401 and 403 as they should, in front of a real service."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx
import pytest

from tests.examples.adapters import BY_NAME, started
from tests.examples.conftest import People, outcome
from tests.support.people import service_key
from tests.support.running import TLS, Running
from tests.support.waiting import PATIENCE
from tests.test_docs import DOCS, shell_blocks

pytestmark = pytest.mark.full

get, post = partial(httpx.get, timeout=PATIENCE, verify=TLS), partial(httpx.post, timeout=PATIENCE, verify=TLS)
NOBODY: dict[str, str] = {}
WELCOME, LOG_IN, FORBIDDEN = (200, ""), (401, "A0230"), (403, "A0301")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("examples")


@pytest.fixture(scope="module")
def fastapi_service(server: Running, logs: Path) -> Iterator[str]:
    with started(BY_NAME["fastapi"], server.url, service_key(server), logs) as url:
        yield url


@pytest.fixture(scope="module")
def node_service(server: Running, logs: Path) -> Iterator[str]:
    with started(BY_NAME["node"], server.url, service_key(server), logs) as url:
        yield url


@pytest.fixture(scope="module")
def nginx(server: Running, logs: Path) -> Iterator[str]:
    with started(BY_NAME["nginx"], server.url, service_key(server), logs) as url:
        yield url


def test_fastapi(fastapi_service: str, people: People) -> None:
    hello, report = f"{fastapi_service}/hello", f"{fastapi_service}/report"
    assert get(hello, headers=people.admin).json() == {"userId": 1}
    assert outcome(get(hello, headers=people.guest)) == WELCOME
    assert outcome(get(report, headers=people.admin)) == WELCOME
    assert outcome(get(report, headers=people.guest)) == FORBIDDEN
    for stranger in (NOBODY, people.forged, people.gone):
        assert outcome(get(report, headers=stranger)) == LOG_IN
    assert get(report).headers["www-authenticate"] == "Bearer"


def test_fastapi_shows_in_its_own_docs_that_a_token_is_needed(fastapi_service: str) -> None:
    described = get(f"{fastapi_service}/openapi.json").json()
    assert described["paths"]["/report"]["get"]["security"] == [{"HTTPBearer": []}]


def test_node(node_service: str, people: People) -> None:
    hello, report = f"{node_service}/hello", f"{node_service}/report"
    assert get(hello, headers=people.admin).json()["data"] == {"userId": 1, "roles": ["ADMIN"]}
    assert outcome(get(hello, headers=people.guest)) == WELCOME
    assert outcome(get(report, headers=people.admin)) == WELCOME
    assert outcome(get(report, headers=people.guest)) == FORBIDDEN
    for stranger in (NOBODY, people.forged, people.gone):
        answer = get(report, headers=stranger)
        assert outcome(answer) == LOG_IN
        assert answer.headers["www-authenticate"].startswith("Bearer")


def test_nginx_asks_gatehouse(nginx: str, people: People) -> None:
    page = f"{nginx}/asked/page"
    assert outcome(get(page, headers=people.admin)) == WELCOME
    assert post(page, headers=people.guest, content=b"x" * 1000).status_code == 200
    for stranger in (NOBODY, people.forged, people.gone):
        assert outcome(get(page, headers=stranger)) == LOG_IN
    claimed = get(page, headers={**people.guest, "X-User-Id": "1"})
    assert claimed.text == "hello, user "


def test_nginx_asks_the_sidecar(nginx: str, people: People) -> None:
    page, admin_page = f"{nginx}/page", f"{nginx}/admin/page"
    assert post(page, headers=people.guest, content=b"x" * 1000).status_code == 200
    admin = get(admin_page, headers={**people.admin, "X-User-Id": "99"})
    assert (admin.status_code, admin.text) == (200, "hello, user 1")
    assert outcome(get(admin_page, headers=people.guest)) == FORBIDDEN
    for stranger in (NOBODY, people.forged, people.gone):
        answer = get(page, headers=stranger)
        assert outcome(answer) == LOG_IN
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert outcome(get(admin_page, headers=stranger)) == LOG_IN


@pytest.mark.parametrize("way_round", ["/_asked", "/_may/", "/_may/role/ADMIN", "/admin/../admin/page", "//admin/page"])
def test_nginx_has_no_way_round(nginx: str, people: People, way_round: str) -> None:
    assert get(nginx + way_round).status_code in {401, 404}
    assert get(nginx + way_round, headers=people.guest).status_code in {403, 404}


def test_the_walk_of_the_verify_page_ends_in_a_refusal(tmp_path: Path, logs: Path) -> None:
    _start, walk = shell_blocks(DOCS / "verify.md")
    with (
        Running(tmp_path / "data", workers=1, admin_password="tulip rain lamp") as gatehouse,
        started(BY_NAME["spring-boot"], gatehouse.url, service_key(gatehouse), logs) as spring,
    ):
        script = walk.replace("http://127.0.0.1:8001", gatehouse.url).replace("http://127.0.0.1:8103", spring)
        done = subprocess.run(["bash", "-euc", script], capture_output=True, text=True, timeout=PATIENCE, check=True)
    for printed in done.stdout.splitlines():
        assert f"`{printed}`" in (DOCS / "verify.md").read_text(encoding="utf-8")
    assert [json.loads(line).get("code", "") for line in done.stdout.splitlines()] == ["", "00000", "A0230"]

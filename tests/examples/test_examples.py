"""The examples answer 200, 401 and 403 as they should, in front of a real service."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.examples.conftest import People, outcome
from tests.examples.programs import EXAMPLES, program
from tests.support.people import service_key
from tests.support.running import Running, free_port

NOBODY: dict[str, str] = {}
WELCOME, LOG_IN, FORBIDDEN = (200, ""), (401, "A0230"), (403, "A0301")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("examples")


@pytest.fixture(scope="module")
def fastapi_service(service: Running, logs: Path) -> Iterator[str]:
    port = free_port()
    env = {"GATEHOUSE_URL": service.url, "GATEHOUSE_SERVICE_KEY": service_key(service)}
    words = [sys.executable, "-m", "uvicorn", "app:app", "--port", str(port)]
    with program(words, f"http://127.0.0.1:{port}", logs / "fastapi.log", cwd=EXAMPLES / "fastapi", env=env) as url:
        yield url


@pytest.fixture(scope="module")
def node_service(service: Running, logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if not shutil.which("node") or not shutil.which("npm"):
        pytest.skip("node and npm are not installed: the Node example was left out")
    home = tmp_path_factory.mktemp("node")
    for name in ("package.json", "package-lock.json", ".npmrc", "server.mjs", "sessions.mjs"):
        shutil.copy(EXAMPLES / "node" / name, home)
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=home, check=True, capture_output=True, timeout=120)
    port = free_port()
    env = {"GATEHOUSE_URL": service.url, "GATEHOUSE_SERVICE_KEY": service_key(service), "PORT": str(port)}
    with program(["node", "server.mjs"], f"http://127.0.0.1:{port}", logs / "node.log", cwd=home, env=env) as url:
        yield url


@pytest.fixture(scope="module")
def nginx(service: Running, logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    binary = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/local/bin:/usr/bin")
    if not binary:
        pytest.skip("nginx is not installed: the nginx example was left out")
    sidecar, app, front = free_port(), free_port(), free_port()
    home = tmp_path_factory.mktemp("nginx")
    (home / "temp").mkdir()
    home.chmod(0o755)
    shutil.copy(EXAMPLES / "nginx" / "auth_request.conf", home)
    conf = (EXAMPLES / "nginx" / "nginx.conf").read_text()
    for given, ours in ((8000, service.port), (8001, sidecar), (8002, app), (8080, front)):
        assert f"127.0.0.1:{given}" in conf
        conf = conf.replace(f"127.0.0.1:{given}", f"127.0.0.1:{ours}")
    (home / "nginx.conf").write_text(conf)
    beside = [sys.executable, "-m", "granian", "--interface", "asgi", "--port", str(sidecar), "sidecar:app"]
    words = [binary, "-p", str(home), "-c", "nginx.conf", "-e", "stderr", "-g", "daemon off;"]
    with (
        program(
            beside,
            f"http://127.0.0.1:{sidecar}",
            logs / "sidecar.log",
            cwd=EXAMPLES / "nginx",
            env={"GATEHOUSE_URL": service.url},
        ),
        program(words, f"http://127.0.0.1:{front}", logs / "nginx.log") as url,
    ):
        yield url


def test_fastapi_offline(fastapi_service: str, people: People) -> None:
    hello, report = f"{fastapi_service}/hello", f"{fastapi_service}/report"
    assert httpx.get(hello, headers=people.admin).json() == {"userId": 1}
    assert outcome(httpx.get(hello, headers=people.guest)) == WELCOME
    assert outcome(httpx.get(report, headers=people.admin)) == WELCOME
    assert outcome(httpx.get(report, headers=people.guest)) == FORBIDDEN
    for stranger in (NOBODY, people.forged):
        assert outcome(httpx.get(report, headers=stranger)) == LOG_IN
    assert httpx.get(report).headers["www-authenticate"] == "Bearer"


def test_fastapi_by_introspection(fastapi_service: str, people: People) -> None:
    users = f"{fastapi_service}/users"
    assert httpx.post(users, headers=people.admin).json() == {"addedBy": "admin"}
    assert outcome(httpx.post(users, headers=people.guest)) == FORBIDDEN
    for stranger in (NOBODY, people.forged, people.gone):
        assert outcome(httpx.post(users, headers=stranger)) == LOG_IN


def test_fastapi_shows_in_its_own_docs_that_a_token_is_needed(fastapi_service: str) -> None:
    described = httpx.get(f"{fastapi_service}/openapi.json").json()
    assert described["paths"]["/report"]["get"]["security"] == [{"HTTPBearer": []}]


def test_node(node_service: str, people: People) -> None:
    hello, report = f"{node_service}/hello", f"{node_service}/report"
    assert httpx.get(hello, headers=people.admin).json()["data"] == {"userId": 1, "roles": ["ADMIN"]}
    assert outcome(httpx.get(hello, headers=people.guest)) == WELCOME
    assert outcome(httpx.get(report, headers=people.admin)) == WELCOME
    assert outcome(httpx.get(report, headers=people.guest)) == FORBIDDEN
    for stranger in (NOBODY, people.forged, people.gone):
        answer = httpx.get(report, headers=stranger)
        assert outcome(answer) == LOG_IN
        assert answer.headers["www-authenticate"].startswith("Bearer")


def test_nginx_asks_gatehouse(nginx: str, people: People) -> None:
    assert outcome(httpx.get(f"{nginx}/page", headers=people.admin)) == WELCOME
    assert httpx.post(f"{nginx}/page", headers=people.guest, content=b"x" * 1000).status_code == 200
    for stranger in (NOBODY, people.forged, people.gone):
        answer = httpx.get(f"{nginx}/page", headers=stranger)
        assert outcome(answer) == LOG_IN
        assert answer.headers["www-authenticate"].startswith("Bearer")
    claimed = httpx.get(f"{nginx}/page", headers={**people.guest, "X-User-Id": "1"})
    assert claimed.text == "hello, user "


def test_nginx_asks_the_sidecar_for_a_role(nginx: str, people: People) -> None:
    admin = httpx.get(f"{nginx}/admin/page", headers={**people.admin, "X-User-Id": "99"})
    assert (admin.status_code, admin.text) == (200, "hello, user 1")
    assert outcome(httpx.get(f"{nginx}/admin/page", headers=people.guest)) == FORBIDDEN
    for stranger in (NOBODY, people.forged):
        assert outcome(httpx.get(f"{nginx}/admin/page", headers=stranger)) == LOG_IN


@pytest.mark.parametrize("way_round", ["/_login", "/_role/ADMIN", "/admin/../admin/page", "//admin/page"])
def test_nginx_has_no_way_round(nginx: str, people: People, way_round: str) -> None:
    assert httpx.get(nginx + way_round).status_code in {401, 404}
    assert httpx.get(nginx + way_round, headers=people.guest).status_code in {403, 404}

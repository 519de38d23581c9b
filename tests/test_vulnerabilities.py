"""`make audit` over the real pip-audit: a vulnerability fails it, a service that cannot be reached does not."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.support.running import free_port
from tests.support.vulnerabilities import audit, judge

pytestmark = pytest.mark.full

KNOWN = {
    "id": "GHSA-0000-0000-0000",
    "affected": [
        {
            "package": {"name": "jinja2", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "3.1.6"}]}],
            "versions": ["2.4.1"],
        }
    ],
}


class Vulnerabilities(BaseHTTPRequestHandler):
    """A service that speaks as OSV does, and knows of one."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        found = [KNOWN] if (asked["package"]["name"], asked["version"]) == ("jinja2", "2.4.1") else []
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"vulns": found}).encode())

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def service() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Vulnerabilities) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}/query"
        server.shutdown()


def pinned(folder: Path, *names: str) -> list[Path]:
    path = folder / "requirements.txt"
    path.write_text("".join(f"{name} --hash=sha256:{'0' * 64}\n" for name in names))
    return [path]


def test_a_vulnerable_package_is_named_with_its_fix(service: str, tmp_path: Path) -> None:
    verdict = audit(pinned(tmp_path, "jinja2==2.4.1", "click==8.3.0"), "-s", "osv", "--osv-url", service)
    assert verdict.vulnerable == ["jinja2 2.4.1: GHSA-0000-0000-0000, fixed in 3.1.6"]
    assert str(verdict).startswith("2 packages audited, 1 known vulnerabilities\n")


def test_without_vulnerabilities_there_is_nothing_to_say(service: str, tmp_path: Path) -> None:
    verdict = audit(pinned(tmp_path, "jinja2==3.1.6"), "-s", "osv", "--osv-url", service)
    assert verdict == ([], [], 1, "")


def test_a_service_that_cannot_be_reached_is_said_and_is_no_failure(tmp_path: Path) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}/query"
    verdict = audit(pinned(tmp_path, "jinja2==2.4.1"), "-s", "osv", "--osv-url", nowhere)
    assert verdict.vulnerable == []
    assert str(verdict).startswith("NOT AUDITED: the service that knows of vulnerabilities cannot be asked")


def test_what_pip_audit_cannot_read_is_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "requirements.txt"
    path.write_text("jinja2>=2\n")
    with pytest.raises(RuntimeError, match="pip-audit ended with"):
        audit([path], "-s", "osv", "--osv-url", f"http://127.0.0.1:{free_port()}/query")


def test_a_service_that_knows_no_package_has_audited_nothing() -> None:
    skipped = {"name": "jinja2", "skip_reason": "Dependency not found on PyPI and could not be audited: jinja2 (3.1.6)"}
    verdict = judge([skipped, skipped])
    assert str(verdict) == "NOT AUDITED: the service that knows of vulnerabilities knows none of 1 packages"

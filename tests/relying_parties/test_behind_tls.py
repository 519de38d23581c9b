"""As in production: nginx with the site of deploy/ ends TLS, so cookies are `__Host-` ones; two workers behind it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page

from tests.examples.adapters import SEARCH_PATH
from tests.relying_parties.conftest import at, ready
from tests.relying_parties.journeys import assert_is_asked_to_log_in, log_in, log_out_here, wait_until_out
from tests.relying_parties.parties import OpenidClient, Party
from tests.support.certificates import Authority
from tests.support.engines import Server
from tests.support.running import Running
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.full

SITE = Path(__file__).parents[2] / "deploy/nginx-site.conf"


class Nginx(Server):
    def __init__(self, program: str, behind: int) -> None:
        super().__init__()
        self._program = program
        self.url = f"https://127.0.0.1:{self.port}"
        self.authority = Authority(self.folder)
        certificate, key = self.authority.certificate("127.0.0.1")
        site = SITE.read_text()
        for pattern, here in {
            r"(ssl_certificate) .*;": f"\\1 {certificate};",
            r"(ssl_certificate_key) .*;": f"\\1 {key};",
            r"/var/log/nginx/gatehouse.log": f"{self.folder}/access.log",
            r"127\.0\.0\.1:8000": f"127.0.0.1:{behind}",
            r"listen \[::\].*;": "",
            r"listen 80;": f"listen unix:{self.folder}/unused.sock;",
            r"listen 443 ": f"listen 127.0.0.1:{self.port} ",
        }.items():
            site, changes = re.subn(pattern, here, site)
            assert changes, pattern
        folders = "".join(f"{kind}_temp_path {self.folder}/{kind};\n" for kind in ("client_body", "proxy"))
        (self.folder / "nginx.conf").write_text(
            f"daemon off;\npid {self.folder}/pid;\nevents {{}}\nhttp {{\n{folders}{site}}}\n"
        )
        self.folder.chmod(0o755)  # its workers are not root

    def command(self) -> list[str]:
        return [self._program, "-p", str(self.folder), "-c", "nginx.conf", "-e", "stderr"]

    def answers(self) -> bool:
        try:
            return httpx.get(self.url, verify=False).is_success  # the application checks it
        except httpx.TransportError:
            return False


class TrustingParty(OpenidClient):
    authority: Path

    def settings(self) -> dict[str, str]:
        return {**super().settings(), "NODE_EXTRA_CA_CERTS": str(self.authority)}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    program = shutil.which("nginx", path=SEARCH_PATH)
    if program is None:
        pytest.skip("nginx is not installed")
    running = Running(tmp_path_factory.mktemp("provider") / "data", workers=2, trusted_proxies="127.0.0.1")
    nginx = Nginx(program, running.port)
    TrustingParty.authority = nginx.authority.file
    running.env["GATEHOUSE_ISSUER"] = nginx.url
    try:
        with running:
            nginx.start()
            running.url = nginx.url
            yield running
    finally:
        nginx.stop()
        nginx.remove()


@pytest.fixture(scope="module")
def party(running: Running) -> Iterator[Party]:
    with ready(TrustingParty, at(running)) as party:
        yield party


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(locale="en-GB", java_script_enabled=False, ignore_https_errors=True)
    context.set_default_timeout(PATIENCE * 1000)
    yield context.new_page()
    context.close()


def test_a_login_and_a_logout_here(page: Page, party: Party, running: Running, person: str) -> None:
    log_in(page, party, running, person)
    ours = [cookie for cookie in page.context.cookies() if cookie.get("domain") == "127.0.0.1"]
    assert {cookie["name"] for cookie in ours} >= {"__Host-gatehouse_session"}
    assert all(cookie["name"].startswith("__Host-") and cookie["secure"] and cookie["httpOnly"] for cookie in ours)
    log_out_here(page, running)
    wait_until_out(page, party)
    assert_is_asked_to_log_in(page, party, running)


def test_a_logout_in_the_application(page: Page, party: Party, running: Running, person: str) -> None:
    log_in(page, party, running, person)
    party.log_out(page)
    assert_is_asked_to_log_in(page, party, running)

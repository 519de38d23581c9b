"""The docs as a site: built strictly, every page in the navigation, search works, nothing comes from another host."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Browser, Request

from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.name for path in (ROOT / "docs").glob("*.md"))


def built(site: Path, config: Path = ROOT / "mkdocs.yml") -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site), "-f", str(config)]
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("site")
    done = built(folder)
    assert done.returncode == 0, done.stderr
    for page in PAGES:
        assert (folder / ("index.html" if page == "README.md" else page.replace(".md", ".html"))).exists(), page
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_dead_link_fails_the_build(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "README.md").write_text("# Home\n\nSee [nothing](nothing.md).\n")
    config = {"site_name": "x", "docs_dir": str(docs), "strict": True}
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump(config))
    refused = built(tmp_path / "site", tmp_path / "mkdocs.yml")
    assert refused.returncode != 0
    assert "nothing.md" in refused.stderr


def test_search_finds_a_setting_and_nothing_comes_from_elsewhere(site: str, browser: Browser) -> None:
    page = browser.new_page()
    page.set_default_timeout(PATIENCE * 1000)
    asked: list[str] = []
    faults: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    page.on("request", note)
    page.on("pageerror", lambda problem: faults.append(str(problem)))
    for name in ("index.html", "settings.html", "errors.html"):
        page.goto(f"{site}/{name}", wait_until="networkidle")
    page.locator("input[name=query]").click()
    page.locator("input[name=query]").press_sequentially("GATEHOUSE_TRUSTED_PROXIES")
    page.locator(".md-search-result__link").first.wait_for()
    page.close()
    assert faults == []
    assert [url for url in asked if not url.startswith((site, "data:"))] == []

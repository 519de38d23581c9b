"""How the pages are served: from memory, confined by their headers, right at the first byte. No browser needed."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import gatehouse.api.pages as pages_package
from gatehouse.api.pages.pages import PAGES
from gatehouse.auth.audit import KeyChangeReason, LoginFailure, RefreshFailure, RefreshOutcome, SessionEndReason
from gatehouse.doctor import diagnosis
from gatehouse.messages import section
from tests.support.local import Local
from tests.support.running import Running

STATIC = Path(pages_package.__file__).parent / "static"
ASSET = re.compile(r'(?:href|src)="(assets/[^"]+)"')


@pytest.fixture
def service(embedded_service: Local) -> Local:
    """The pages know no store: one engine is enough."""
    return embedded_service


every_page = pytest.mark.parametrize("path", PAGES)


def assets(client: httpx.Client) -> Iterator[str]:
    for path in PAGES:
        yield from ASSET.findall(client.get(path).text)


@every_page
def test_a_page_confines_itself(client: httpx.Client, path: str) -> None:
    headers = client.get(path).headers
    policy = {rule.split()[0]: rule.split()[1:] for rule in headers["content-security-policy"].split(";")}
    assert policy["default-src"] == ["'none'"]
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == ["'self'"]
    assert policy["img-src"] == ["'self'", "data:"]
    assert policy["base-uri"] == policy["form-action"] == policy["frame-ancestors"] == ["'none'"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "camera=()" in headers["permissions-policy"]


@every_page
def test_a_page_has_no_inline_script_or_style_and_no_foreign_host(client: httpx.Client, path: str) -> None:
    text = client.get(path).text
    assert not re.search(r"<script(?![^>]*\ssrc=)", text)
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", text)
    assert re.findall(r'<script type="module" src="[^"]+"></script>', text)
    assert not re.findall(r"(?:https?:)?//[a-z]", text.replace("http://www.w3.org/", ""))


def test_every_asset_is_there_and_may_be_kept_for_ever(client: httpx.Client) -> None:
    found = set(assets(client))
    assert found
    for path in found:
        answer = client.get(path)
        assert answer.status_code == 200, path
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_every_module_is_preloaded_by_the_pages_that_need_it(client: httpx.Client) -> None:
    for path in PAGES:
        text = client.get(path).text
        preloaded = {name.rpartition("/")[2] for name in ASSET.findall(text) if name.endswith(".js")}
        needed: set[str] = set()
        waiting = re.findall(r'script type="module" src="[^"]*/([\w.-]+)"', text)
        while waiting:
            name = waiting.pop()
            if name not in needed:
                needed.add(name)
                waiting += re.findall(r'(?:from|import) "\./([\w.-]+)"', (STATIC / name).read_text())
        assert preloaded == needed, path


def test_an_unchanged_page_is_not_sent_twice(client: httpx.Client) -> None:
    first = client.get("/")
    again = client.get("/", headers={"If-None-Match": f'"other", {first.headers["etag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert client.get("/", headers={"If-None-Match": '"other"'}).status_code == 200


def test_a_page_is_compressed_for_those_who_take_it(client: httpx.Client) -> None:
    plain = client.get("/", headers={"Accept-Encoding": "identity"})
    with client.stream("GET", "/", headers={"Accept-Encoding": "br, gzip;q=0.8"}) as packed:
        body = b"".join(packed.iter_raw())
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(body) == plain.content
    assert packed.headers["etag"] != plain.headers["etag"]
    refused = client.get("/", headers={"Accept-Encoding": "gzip;q=0"})
    assert "content-encoding" not in refused.headers


def test_head_answers_like_get_without_the_body(server: Running) -> None:
    with server.client() as client:
        answer = client.head("/", headers={"Accept-Encoding": "identity"})
    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["content-length"]) > 1000


@pytest.mark.parametrize(
    ("headers", "language"),
    [
        ({}, "en"),
        ({"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"}, "zh-CN"),
        ({"Accept-Language": "en-GB,en"}, "en"),
        ({"Accept-Language": "zh", "Cookie": "gatehouse_language=en"}, "en"),
        ({"Cookie": "other=1; gatehouse_language=zh"}, "zh-CN"),
        ({"Cookie": 'gatehouse_language=zh"><script>'}, "en"),
    ],
)
def test_the_page_arrives_in_the_readers_language(client: httpx.Client, headers: dict[str, str], language: str) -> None:
    answer = client.get("/", headers=headers)
    assert f'<html lang="{language}"' in answer.text
    assert ("用户名" in answer.text) == (language == "zh-CN")
    assert {"accept-language", "cookie"} <= {part.strip() for part in answer.headers["vary"].split(",")}


@pytest.mark.parametrize(
    ("cookie", "theme"), [("", "auto"), ("gatehouse_theme=dark", "dark"), ("a=b; gatehouse_theme=light", "light")]
)
def test_the_page_arrives_in_the_readers_theme(client: httpx.Client, cookie: str, theme: str) -> None:
    assert f'data-theme="{theme}"' in client.get("/", headers={"Cookie": cookie}).text


def test_every_reason_of_the_audit_and_every_check_has_words() -> None:
    words = section("pages")
    reasons = {*LoginFailure, *RefreshOutcome, *RefreshFailure, *KeyChangeReason, *SessionEndReason}
    assert {key for key in words if key.startswith("reason.")} == {f"reason.{reason}" for reason in reasons}
    sources = "".join(file.read_text() for file in Path(diagnosis.__file__).parent.glob("*.py"))
    checks = set(re.findall(r'(?:ok|warn|fail)\(\s*"([\w ]+)"', sources))
    assert {key for key in words if key.startswith("check.")} == {f"check.{check}" for check in checks}


def test_pages_live_under_the_base_path(tmp_path: Path) -> None:
    with Local(tmp_path / "data", base_path="/auth") as running, running.client() as client:
        bare = client.get(f"http://127.0.0.1:{running.port}/auth")
        assert (bare.status_code, bare.headers["location"]) == (308, "auth/")
        assert client.get("/").status_code == client.get("/account").status_code == 200
        assert all(client.get(path).status_code == 200 for path in assets(client))
        assert client.get(f"http://127.0.0.1:{running.port}/").status_code == 404


def test_pages_can_be_switched_off(tmp_path: Path, client: httpx.Client) -> None:
    with Local(tmp_path / "data", pages="off") as running, running.client() as without:
        assert {without.get(path).status_code for path in PAGES} == {404}
        # The plain pages of a login for applications stay, and need them.
        assert {without.get(path).status_code for path in assets(client)} == {200}
        assert without.get("/openapi.json").status_code == 200

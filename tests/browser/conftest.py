"""Fixtures of the browser tests. Without Chromium they are left out, and the end of the run says so.

`visit` comes in every size with --all, and at a desktop without; a test whose page differs most on a phone names both
sizes with `parametrize`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.chromium import MISSING, SIZES, executable, launched
from tests.browser.visits import Visit
from tests.support.conversation import LOGOUT, ME, bearer, login
from tests.support.running import PASSWORD, Running
from tests.support.waiting import PATIENCE

Visiting = Callable[..., Visit]
Serving = Callable[..., Running]

expect.set_options(timeout=PATIENCE * 1000)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    named = [mark for mark in metafunc.definition.iter_markers("parametrize") if "size" in mark.args[0]]
    if "size" in metafunc.fixturenames and not named:
        metafunc.parametrize("size", SIZES if metafunc.config.getoption("all") else ["desktop"], indirect=True)


# Both end with this package: while Playwright is there, its event loop keeps others from running.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    if executable() is None:
        pytest.skip(MISSING)
    with launched() as browser:
        yield browser


@pytest.fixture(scope="package")
def axe() -> str:
    script = Path(__file__).parent / "node_modules/axe-core/axe.min.js"
    if not script.exists():
        pytest.skip("axe-core is not installed; with npm on the PATH `make test` installs it")
    return script.read_text()


@pytest.fixture(scope="package")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with Running(tmp_path_factory.mktemp("browser") / "data") as running:
        yield running


@pytest.fixture
def size(request: pytest.FixtureRequest) -> dict[str, Any]:
    return SIZES[request.param]


@pytest.fixture(scope="package")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Two failures lock a name, and nothing else is limited: all tests come from one address."""
    many = "1000000/minute"
    settings = {"limit_login_name": "2/minute", "limit_login_address": many, "limit_captcha_address": many}
    with Running(tmp_path_factory.mktemp("strict") / "data", limits="on", **settings) as running:
        yield running


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    """Starts services with settings of their own."""
    with ExitStack() as services:
        yield lambda **settings: services.enter_context(Running(tmp_path / secrets.token_hex(4), **settings))


# After `serving`, so that visits end before the services do: a page that asks in vain would complain.
@pytest.fixture
def visiting(browser: Browser, serving: Serving) -> Iterator[Visiting]:
    """Opens visits, and asks each of them at the end whether all went as it should."""
    visits: list[Visit] = []

    def visit(running: Running, **options: Any) -> Visit:
        visits.append(Visit(browser, running, **options))
        return visits[-1]

    yield visit
    for visited in visits:
        visited.close()


@pytest.fixture
def visit(visiting: Visiting, running: Running, size: dict[str, Any]) -> Visit:
    return visiting(running, **size)


@pytest.fixture
def desk(visiting: Visiting, running: Running) -> Visit:
    """At a desktop alone, for what does not depend on the size."""
    return visiting(running, **SIZES["desktop"])


@pytest.fixture
def admin(visit: Visit) -> Page:
    """The administration, opened by the administrator."""
    page = visit.logged_in()
    page.get_by_role("link", name="Administration").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    return page


@pytest.fixture(scope="package")
def _somebody(running: Running) -> str:
    return add_person(running)


@pytest.fixture
def person(running: Running, _somebody: str) -> str:
    """A user without a session."""
    with running.client() as client:
        tokens = bearer(login(client, username=_somebody))
        client.delete(f"{ME}/sessions", headers=tokens)
        client.post(LOGOUT, headers=tokens)
    return _somebody


def add_person(running: Running, *options: str) -> str:
    name = f"person-{secrets.token_hex(4)}"
    done = running.cli("user", "add", name, "--password-stdin", *options, stdin=PASSWORD + "\n")
    assert done.returncode == 0, done.stderr
    return name

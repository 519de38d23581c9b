"""Fixtures of the browser tests. Without Chromium they are left out, and the end of the run says so."""

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

Visiting = Callable[..., Visit]
Serving = Callable[..., Running]

# As long as the other waits: a busy machine may need more than the five seconds that Playwright gives.
expect.set_options(timeout=15_000)


# Both end with this package: while Playwright is there, its event loop keeps others from running.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    if executable() is None:
        pytest.skip(MISSING)
    with launched() as browser:
        yield browser


@pytest.fixture(scope="package")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with Running(tmp_path_factory.mktemp("browser") / "data") as running:
        yield running


@pytest.fixture(params=SIZES)
def size(request: pytest.FixtureRequest) -> dict[str, Any]:
    return SIZES[request.param]


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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    left_out = {
        reason
        for report in terminalreporter.getreports("skipped")
        if "browser" in report.nodeid
        for reason in [str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)]
    }
    for reason in sorted(left_out):
        terminalreporter.write_line(f"Browser tests were LEFT OUT: {reason.removeprefix('Skipped: ')}", yellow=True)

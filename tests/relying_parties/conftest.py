"""A provider, a person, and a browser without scripts for the applications of this folder."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import add_person, browser
from tests.examples.conftest import _shared_builds
from tests.relying_parties.parties import Party, Registration
from tests.support.engines import NotInstalled
from tests.support.running import Running
from tests.support.waiting import PATIENCE

__all__ = ["_shared_builds", "browser"]


@pytest.fixture(scope="package")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with Running(tmp_path_factory.mktemp("provider") / "data", workers=2) as running:
        yield running


@pytest.fixture
def person(running: Running) -> str:
    """With what Gitea and Keycloak want to know of their users; they would ask for what is missing."""
    email = f"{secrets.token_hex(4)}@example.org"
    return add_person(running, "--role", "ADMIN", "--nickname", "Anna Person", "--email", email)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(locale="en-GB", java_script_enabled=False)
    context.set_default_timeout(PATIENCE * 1000)
    yield context.new_page()
    context.close()


def register(running: Running, name: str, *options: str) -> Registration:
    """With the command that an operator uses."""
    added = running.cli("client", "add", name, *options, "--json")
    assert added.returncode == 0, added.stderr
    told = json.loads(added.stdout)
    return Registration(told["issuer"], told["client_id"], told["client_secret"], told["text"])


@contextmanager
def ready(kind: Callable[[], Party], register: Callable[[Party], Registration]) -> Iterator[Party]:
    """An application that is registered and runs."""
    try:
        party = kind()
    except NotInstalled as missing:
        pytest.skip(str(missing))
    try:
        party.registration = register(party)
        party.start()
        yield party
    finally:
        party.remove()


def at(running: Running) -> Callable[[Party], Registration]:
    """Registers applications at this provider."""
    return lambda party: register(running, f"{type(party).__name__.lower()}-{party.port}", *party.options())

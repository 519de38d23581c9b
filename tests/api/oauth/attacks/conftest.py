"""A provider behind https, an application that people log in to, and one that is registered too and means harm."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.api.oauth.application import Application
from tests.api.oauth.attacks.parties import ISSUER
from tests.api.oauth.flow import Browser
from tests.support.inprocess import InProcess


@pytest.fixture(scope="module")
def gatehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    """Of one file: its tests leave nothing that the others would notice."""
    with InProcess(tmp_path_factory.mktemp("provider") / "data", issuer=ISSUER) as running:
        yield running


@pytest.fixture(scope="module")
def app(gatehouse: InProcess) -> Application:
    return Application(gatehouse)


@pytest.fixture(scope="module")
def hostile(gatehouse: InProcess) -> Application:
    """Not the company's own."""
    uris = ("https://hostile.example/callback",)
    return Application(gatehouse, "hostile", redirect_uris=uris, post_logout_redirect_uris=uris, first_party=False)


@pytest.fixture
def browser(gatehouse: InProcess) -> Browser:
    """Nobody is logged in."""
    return Browser(gatehouse)

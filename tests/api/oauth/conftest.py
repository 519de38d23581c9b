"""A service with an application, and a browser that comes from it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.oauth.application import Application
from tests.api.oauth.flow import Browser
from tests.support.inprocess import InProcess

ISSUER = "https://gatehouse.localhost"


@pytest.fixture
def gatehouse(tmp_path: Path) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data", issuer=ISSUER) as running:
        yield running


@pytest.fixture
def app(gatehouse: InProcess) -> Application:
    return Application(gatehouse, post_logout_redirect_uris=("https://app.example/bye",))


@pytest.fixture
def browser(gatehouse: InProcess, app: Application) -> Browser:
    return Browser(gatehouse)

"""Fixtures: one running service is shared by the tests that only talk to it."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.running import Running


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The embedded default with two workers, limits off and a fixed captcha answer."""
    with Running(tmp_path_factory.mktemp("service") / "data", workers=2) as running:
        yield running


@pytest.fixture
def client(service: Running) -> Iterator[httpx.Client]:
    with service.client() as client:
        yield client

"""A provider of the tests' own for each test."""

from __future__ import annotations

import ssl
from collections.abc import Iterator

import pytest

from tests.identity_sources.provider.hostile_provider import HostileProvider
from tests.support.running import TLS

_created = ssl.create_default_context


def _default_context(*, cafile: str | None = None) -> ssl.SSLContext:
    return TLS if cafile is None else _created(cafile=cafile)


@pytest.fixture(autouse=True)
def _authorities_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading all authorities of the machine takes longer than a test, and no test changes them."""
    monkeypatch.setattr(ssl, "create_default_context", _default_context)


@pytest.fixture
def hostile() -> Iterator[HostileProvider]:
    with HostileProvider() as provider:
        yield provider

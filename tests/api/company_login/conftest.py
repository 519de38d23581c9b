"""A service in this process with one provider, and a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.company_login.browser import Browser, Company
from tests.identity_sources.provider.conftest import _authorities_read_once, hostile  # noqa: F401 - fixtures
from tests.identity_sources.provider.hostile_provider import HostileProvider
from tests.support.inprocess import InProcess

CONSOLE = "https://console.example/app"


@pytest.fixture
def company(tmp_path: Path, hostile: HostileProvider) -> Iterator[Company]:  # noqa: F811 - the fixture
    with InProcess(tmp_path / "data", console_url=CONSOLE) as service:
        hostile.clock = service.clock  # type: ignore[assignment]
        company = Company(service, hostile)
        service.run(service.accounts.add_role("STAFF", "Staff"))
        company.add()
        yield company


@pytest.fixture
def browser(company: Company) -> Browser:
    return Browser(company)

"""Directories of the tests: what they open is closed, and nothing of it stays."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio

pytest.importorskip("ldap", reason="python-ldap is not installed (pip install 'gatehouse[ldap]')")

from gatehouse.identity_sources.definitions import DirectoryConfig
from gatehouse.identity_sources.directory.ldap_directory import LdapDirectory
from tests.support.engines import NotInstalled
from tests.support.samba_dc import SambaDC, from_description
from tests.support.shared import shared
from tests.support.slapd import PASSWORD, Slapd, slapd

__all__ = ["slapd"]

Open = Callable[..., LdapDirectory]


@pytest_asyncio.fixture
async def open_directory(slapd: Slapd) -> AsyncIterator[Open]:
    """With settings that differ from the usual ones of `slapd`."""
    opened: list[LdapDirectory] = []

    def opener(password: str = PASSWORD, **settings: Any) -> LdapDirectory:
        opened.append(LdapDirectory(DirectoryConfig(**slapd.settings(**({"timeout": 30.0} | settings))), password))
        return opened[-1]

    yield opener
    for directory in opened:
        await directory.close()


@pytest.fixture(scope="session")
def samba_dc() -> SambaDC:
    try:
        return from_description(shared().get("samba"))
    except NotInstalled as missing:
        pytest.skip(str(missing))


@pytest.fixture
def directory(open_directory: Open) -> LdapDirectory:
    return open_directory()

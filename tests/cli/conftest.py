"""A terminal beside a running service, and users that no other test knows."""

from __future__ import annotations

import itertools

import httpx
import pytest

from tests.cli.terminal import Terminal
from tests.support.conversation import login
from tests.support.local import Local

PASSPHRASE = "quite a passphrase"
_numbers = itertools.count(1)


@pytest.fixture
def typed(service: Local) -> Terminal:
    return Terminal(service.env)


@pytest.fixture
def somebody(typed: Terminal) -> str:
    """The name of a fresh user without roles; the password is PASSPHRASE."""
    name = f"somebody{next(_numbers)}"
    typed("user", "add", name, "--password-stdin", stdin=PASSPHRASE + "\n").done()
    return name


@pytest.fixture
def tokens(client: httpx.Client, somebody: str) -> dict[str, object]:
    """Of a session of that user."""
    return login(client, username=somebody, password=PASSPHRASE)

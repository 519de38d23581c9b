"""The people of the examples: an administrator and somebody without any role."""

from __future__ import annotations

import os
from typing import NamedTuple

import httpx
import pytest

from tests.examples.shared_builds import Shared
from tests.support.conversation import LOGOUT, bearer, login
from tests.support.people import add_user
from tests.support.running import Running

Headers = dict[str, str]


class People(NamedTuple):
    """What each sends along; `gone` has logged out."""

    admin: Headers
    guest: Headers
    forged: Headers
    gone: Headers


@pytest.fixture(scope="session", autouse=True)
def _shared_builds(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> None:
    own = tmp_path_factory.getbasetemp()
    Shared.folder = own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        Shared.uncaptured = capture.global_and_fixture_disabled


@pytest.fixture(scope="session")
def people(server: Running) -> People:
    add_user(server, "guest-of-the-examples")
    with server.client() as client:
        admin = login(client)
        guest = login(client, username="guest-of-the-examples")
        gone = login(client)
        assert client.post(LOGOUT, headers=bearer(gone)).status_code == 200
    head, body, mark = admin["accessToken"].split(".")
    forged = f"{head}.{body}.{mark[::-1]}"
    return People(bearer(admin), bearer(guest), bearer(forged), bearer(gone))


def outcome(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json().get("code", "") if answer.status_code >= 400 else ""

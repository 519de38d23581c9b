"""Logins from new places: noticed once, listed for their owner, on every engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gatehouse.auth.audit import ClientInfo
from gatehouse.auth.login.login_history import login_place
from gatehouse.stores.database import login_places
from gatehouse.stores.database.login_places import LoginPlaces
from tests.support.inprocess import InProcess
from tests.support.waiting import async_wait_until

pytestmark = [pytest.mark.usefixtures("engines"), pytest.mark.every_engine]

FIREFOX = {"User-Agent": "Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0"}
NEWER = {"User-Agent": "Mozilla/5.0 (Windows NT 10.0; rv:141.0) Gecko/20100101 Firefox/141.0"}
CHROME = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0.0.0 Safari/537.36"}


@pytest.fixture
def gatehouse(tmp_path: Path) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data") as running:
        yield running


def notices(gatehouse: InProcess) -> int:
    return gatehouse.service.audit.counts["login.new_place", ""]


async def written(gatehouse: InProcess) -> None:
    """Events are stored a moment after the login."""

    async def is_written() -> bool:
        return not gatehouse.service.audit.queued

    await async_wait_until(is_written, "the events are written")


def recent(gatehouse: InProcess, token: str) -> list[dict[str, Any]]:
    gatehouse.run(written(gatehouse))
    return list(gatehouse.request("GET", "/api/v1/users/me/logins", token=token).data["logins"])


def test_a_new_network_and_a_new_browser_are_noticed_once(gatehouse: InProcess) -> None:
    visits = [
        ("192.0.2.7", FIREFOX, 0),  # the first of all: nothing to compare it with
        ("192.0.2.7", FIREFOX, 0),
        ("192.0.2.200", NEWER, 0),  # the same network, the same browser updated
        ("198.51.100.1", FIREFOX, 1),
        ("192.0.2.7", CHROME, 2),
        ("198.51.100.1", FIREFOX, 2),
        ("2001:db8:1:2::1", CHROME, 3),
        ("2001:db8:1:3::9", CHROME, 3),
    ]
    for address, headers, expected in visits:
        assert gatehouse.login(address=address, headers=headers).status == 200
        assert notices(gatehouse) == expected, (address, headers)


def test_a_refused_login_leaves_no_place(gatehouse: InProcess) -> None:
    gatehouse.login(address="192.0.2.7", headers=FIREFOX)
    gatehouse.login(password="wrong", address="198.51.100.1", headers=CHROME)
    assert notices(gatehouse) == 0
    gatehouse.login(address="198.51.100.1", headers=CHROME)
    assert notices(gatehouse) == 1


def test_recent_logins_are_listed_newest_first(gatehouse: InProcess) -> None:
    first = gatehouse.login(address="192.0.2.7", headers=FIREFOX).data["accessToken"]
    gatehouse.clock.move(60)
    second = gatehouse.login(address="198.51.100.1", headers=CHROME).data["accessToken"]
    newer, older = recent(gatehouse, first)
    assert (newer["browser"], newer["address"], newer["newPlace"]) == ("Chrome on Linux", "198.51.100.1", True)
    assert (older["browser"], older["address"], older["newPlace"]) == ("Firefox on Windows", "192.0.2.7", False)
    assert newer["at"] > older["at"]
    assert (newer["active"], older["active"]) == (True, True)
    path = f"/api/v1/users/me/sessions/{newer['session']}"
    assert gatehouse.request("DELETE", path, token=first).status == 200
    assert gatehouse.me(second).code == "A0230"
    assert recent(gatehouse, first)[0]["active"] is False


def test_a_place_is_stored_as_a_digest() -> None:
    place = login_place(ClientInfo("192.0.2.7", FIREFOX["User-Agent"]))
    assert len(place) == 64
    assert place == login_place(ClientInfo("192.0.2.99", NEWER["User-Agent"]))
    assert login_place(ClientInfo("", "")) == login_place(ClientInfo("unix", ""))


def test_places_of_a_user_are_bounded(gatehouse: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login_places, "PLACES_PER_USER", 3)
    store = LoginPlaces(gatehouse.service.database)
    seen = [gatehouse.run(store.record(1, f"place {number}", float(number))) for number in range(6)]
    assert seen == [False, True, True, True, True, True]
    assert gatehouse.run(store.record(1, "place 5", 6.0)) is False
    assert gatehouse.run(store.record(1, "place 0", 6.0)) is True, "the oldest was forgotten"

"""The log page, and the figures of the dashboard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from gatehouse.auth.audit import Event
from gatehouse.management.activity_log import TITLES
from gatehouse.management.authority import OPERATOR
from gatehouse.stores.database import audit_trail
from gatehouse.stores.database.users import NewUser
from tests.api.console.conftest import HASH, Console
from tests.support.inprocess import Clock, InProcess

DAY = 86_400
NOON = 1_900_000_000.0 // DAY * DAY + DAY / 2
CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36"


@pytest.fixture
def gatehouse(engines: None, tmp_path: Path) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data", Clock(NOON)) as running:
        yield running


def settled(gatehouse: InProcess) -> None:
    """The audit trail is written a moment after the request."""
    gatehouse.run(gatehouse.service.audit.stop())


def test_every_event_has_a_title() -> None:
    assert set(TITLES) >= set(Event)


def test_the_log_says_who_did_what_from_where(gatehouse: InProcess, user: Callable[..., Console]) -> None:
    gatehouse.login(password="wrong", headers={"user-agent": CHROME})
    user("clerk")
    console = Console(gatehouse)
    console.done("POST", "depts", {"name": "Sales", "parentId": 1})
    settled(gatehouse)
    page = console.get("logs", pageNum=1, pageSize=10)
    assert page["total"] == len(page["list"])
    made, failed = (
        next(row for row in page["list"] if row["title"] == title) for title in ("Department added", "Failed login")
    )
    assert (made["title"], made["module"], made["actionType"]) == ("Department added", "department", "added")
    assert (made["operatorName"], made["operator"], made["operatorId"]) == ("admin", "admin", "1")
    assert (made["status"], made["ip"]) == (1, "127.0.0.1")
    assert made["createTime"] == "2030-03-17 12:00:00"
    assert (failed["title"], failed["status"], failed["errorMsg"]) == ("Failed login", 0, "password")
    assert made["content"].startswith("Department added ")
    assert (failed["browser"], failed["os"]) == ("Chrome", "Linux")
    assert console.get("logs/page", pageNum=2, pageSize=1)["list"] == [page["list"][1]]


def test_a_refused_escalation_is_in_the_log(gatehouse: InProcess, user: Callable[..., Console]) -> None:
    clerk = user("clerk", "sys:user:update", "sys:user:reset-password")
    assert clerk.call("PUT", "users/1/password/reset", None, password="a quite new password").code == "A0301"
    settled(gatehouse)
    [refused] = Console(gatehouse).get("logs", keywords="escalation.refused")["list"]
    assert (refused["operatorName"], refused["status"]) == ("clerk", 0)
    assert "/api/v1/users/1/password/reset" in refused["content"]


def test_the_log_says_who_ended_a_session(gatehouse: InProcess, user: Callable[..., Console]) -> None:
    user("clerk")
    console = Console(gatehouse)
    clerk = gatehouse.run(gatehouse.service.accounts.user("clerk")).user.id
    assert console.call("DELETE", f"users/{clerk}/sessions").status == 200
    settled(gatehouse)
    ended = console.get("logs", keywords="session.ended")["list"][0]
    assert (ended["operatorName"], ended["operatorId"]) == ("admin", "1")


@pytest.mark.parametrize(("language", "name"), [("en", "command line"), ("zh", "命令行")])
def test_what_was_typed_as_a_command_was_not_done_by_the_user_it_is_about(
    gatehouse: InProcess, language: str, name: str
) -> None:
    clerk = NewUser("clerk", "clerk", HASH, 1, 0)
    gatehouse.run(gatehouse.service.accounts.user_changes.add(OPERATOR, clerk, []))
    settled(gatehouse)
    answer = gatehouse.request(
        "GET", "/api/v1/logs", query={"keywords": "user.added"}, token=Console(gatehouse).token,
        headers={"accept-language": language},
    )  # fmt: skip
    added = answer.data["list"][0]
    assert (added["operatorName"], added["operator"], added["operatorId"]) == (name, name, "")
    assert "clerk" in added["content"]
    assert added["ip"] == "cli"


def test_the_log_is_searched_by_words_people_addresses_and_days(
    gatehouse: InProcess, user: Callable[..., Console]
) -> None:
    user("clerk")
    gatehouse.clock.move(DAY)
    console = Console(gatehouse)
    gatehouse.login(address="203.0.113.9")
    settled(gatehouse)

    def found(**query: Any) -> list[str]:
        path = "/api/v1/logs?"
        query_string = urlencode({"pageNum": 1, "pageSize": 50, **query}, doseq=True)
        answer = gatehouse.request("GET", path[:-1], raw_query=query_string, token=console.token)
        assert answer.status == 200, answer.content
        data = answer.json["data"]
        assert data["total"] == len(data["list"])
        return [row["title"] for row in data["list"]]

    assert found(keywords="user add") == ["User added"]
    assert found(keywords="新增用户") == ["User added"]
    assert set(found(keywords="clerk")) == {"Login", "User added"}
    assert found(keywords="203.0.113.9") == ["Login from a new place", "Login"]
    assert found(keywords="nothing like it") == []
    assert found(createTime=["2030-03-18", "2030-03-18"]) == ["Login from a new place", "Login", "Login"]
    assert found(**{"createTime[0]": "2030-03-17", "createTime[1]": "2030-03-17"}) == ["Login", "User added"]
    assert found(**{"createTime[0]": "", "createTime[1]": ""}) == found()
    assert found(createTime=["0001-01-01", "9999-12-31"]) == found(), "the first and the last day there are"
    console.refused("A0421", "GET", "logs", createTime="yesterday")


def test_logins_are_counted_by_day_and_person(gatehouse: InProcess, user: Callable[..., Console]) -> None:
    user("clerk")
    gatehouse.login()
    gatehouse.login(password="wrong")
    gatehouse.clock.move(DAY)
    console = Console(gatehouse)
    settled(gatehouse)
    assert console.get("logs/analytics/overview") == {
        "todayUvCount": 1,
        "totalUvCount": 2,
        "uvGrowthRate": -0.5,
        "todayPvCount": 1,
        "totalPvCount": 3,
        "pvGrowthRate": -0.5,
    }
    trend = console.get("logs/analytics/trend", startDate="2030-03-16", endDate="2030-03-18")
    assert trend["dates"] == ["2030-03-16", "2030-03-17", "2030-03-18"]
    assert (trend["pvList"], trend["uvList"]) == ([0, 2, 1], [0, 2, 1])
    assert console.get("logs/visit-trend", startDate="2030-03-16", endDate="2030-03-18") == trend
    assert len(console.get("logs/analytics/trend")["dates"]) == 7
    assert len(console.get("logs/analytics/trend", startDate="1980-01-01", endDate="2030-03-18")["dates"]) == 366
    assert console.get("logs/views/trend", startDate="2030-03-16", endDate="2030-03-18") == trend
    assert console.get("logs/views") == console.get("logs/analytics/overview")


def test_words_are_looked_for_among_the_newest_events_of_the_days(
    gatehouse: InProcess, user: Callable[..., Console], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_trail, "SEARCH_LIMIT", 2)
    user("clerk")  # added, and logged in
    gatehouse.clock.move(DAY)
    console = Console(gatehouse)
    gatehouse.clock.move(1)
    gatehouse.login()
    settled(gatehouse)
    assert console.get("logs", keywords="user added")["list"] == []
    assert console.get("logs", keywords="login")["total"] == 2


def test_the_log_is_filtered_by_the_kind_of_event(gatehouse: InProcess, console: Console) -> None:
    gatehouse.login(password="wrong")
    settled(gatehouse)
    kinds = console.get("logs/events")
    assert {"value": "login.failed", "label": "Failed login"} in kinds
    assert [each["value"] for each in kinds] == list(TITLES)
    failed = console.get("logs", event="login.failed")
    assert {f"{row['module']}.{row['actionType']}" for row in failed["list"]} == {"login.failed"}
    assert 0 < failed["total"] < console.get("logs")["total"]
    assert console.get("logs", event="login.failed", keywords="admin")["total"] == failed["total"]
    assert console.get("logs", event="login.failed", keywords="nobody")["total"] == 0
    assert console.get("logs", event="no.such.event")["total"] == 0
    assert all(row["requestId"] for row in failed["list"])

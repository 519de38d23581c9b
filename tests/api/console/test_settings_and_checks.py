"""What administrators see of the service itself: settings without secrets, checks, names that must wait."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from gatehouse.settings import Settings, effective_settings, load
from tests.api.console.conftest import Console
from tests.support.inprocess import InProcess

SECRET = "x7" * 20


def test_settings_say_their_value_and_source(console: Console) -> None:
    shown = {each["name"]: each for each in console.get("settings")["settings"]}
    assert shown["GATEHOUSE_LIMITS"] == {
        "name": "GATEHOUSE_LIMITS",
        "value": "off",
        "default": "on",
        "source": "--limits",
        "meaning": "For tests, on loopback only: off removes every limit.",
        "secret": False,
    }
    assert (shown["GATEHOUSE_ACCESS_TTL"]["value"], shown["GATEHOUSE_ACCESS_TTL"]["source"]) == ("2h", "")
    assert len(shown) > 40


def test_sources_are_flags_environment_and_file(tmp_path: Path) -> None:
    file = tmp_path / "gatehouse.toml"
    file.write_text(
        'port = 9000\nworkers = 2\nhost = "127.0.0.2"\ncors_origins = ["https://a.example", "https://b.example"]\n'
    )
    environ = {"GATEHOUSE_WORKERS": "3", "GATEHOUSE_HOST": "127.0.0.3", "GATEHOUSE_AUDIENCE": ""}
    settings = load({"host": "127.0.0.4"}, environ, file)
    shown = {each.variable: (each.value, each.source) for each in effective_settings(settings, "en")}
    assert shown["GATEHOUSE_PORT"] == ("9000", "port in the settings file")
    assert "设置文件中的 port" in [each.source for each in effective_settings(settings, "zh")]
    assert shown["GATEHOUSE_WORKERS"] == ("3", "GATEHOUSE_WORKERS")
    assert shown["GATEHOUSE_HOST"] == ("127.0.0.4", "--host")
    assert shown["GATEHOUSE_AUDIENCE"] == ("gatehouse", "")
    assert shown["GATEHOUSE_CORS_ORIGINS"][0] == "https://a.example, https://b.example"


def test_no_secret_is_ever_shown() -> None:
    environ = {
        "GATEHOUSE_SECRET": SECRET,
        "GATEHOUSE_ADMIN_PASSWORD": SECRET,
        "GATEHOUSE_DATABASE_URL": f"postgresql://u:{SECRET}@h/n",
        "GATEHOUSE_STATE_URL": f"redis://:{SECRET}@h",
        "GATEHOUSE_SECRET_PREVIOUS": SECRET,
        "GATEHOUSE_TRACES": f"https://u:{SECRET}@collector.example:4318/v1/traces",
    }
    settings = load({}, environ)
    shown = list(effective_settings(settings, "en"))
    assert SECRET not in repr(shown)
    assert "https://collector.example:4318/v1/traces" in [each.value for each in shown]
    assert [each.source for each in shown if each.secret] == [each.variable for each in shown if each.secret]
    assert SECRET not in repr(dataclasses.replace(settings, traces=""))


def test_where_a_setting_came_from_makes_no_difference_to_it() -> None:
    assert load({"port": "9000"}, {}) == load({}, {"GATEHOUSE_PORT": "9000"}) == Settings(port=9000)


def test_the_checks_are_those_of_doctor(console: Console) -> None:
    checks = console.get("settings/checks")["checks"]
    levels = {each["check"]: each["level"] for each in checks}
    assert levels["test switches"] == "warn"
    assert {"secret", "accounts", "state", "signing keys", "clock", "users", "proxies"} <= set(levels)
    advice = {each["check"]: each["advice"] for each in checks}
    assert advice["test switches"].startswith("unset GATEHOUSE_")


@pytest.fixture
def limited(engines: None, tmp_path: Path) -> InProcess:
    return InProcess(tmp_path / "data", limits="on", limit_login_name="2/minute")


def test_names_that_must_wait_are_listed_and_let_in(limited: InProcess) -> None:
    with limited as gatehouse:
        console = Console(gatehouse)
        assert console.get("lockouts") == {"lockouts": []}
        for _ in range(3):
            gatehouse.login("ghost", "wrong password")
        [one] = console.get("lockouts")["lockouts"]
        assert (one["name"], one["place"]) == ("ghost", "elsewhere")
        assert one["until"].startswith("2030-03-17T17:47:")
        assert gatehouse.login("ghost", "wrong password").code == "A0211"
        console.done("DELETE", "lockouts", {"name": "Ghost"})
        assert console.get("lockouts") == {"lockouts": []}
        assert gatehouse.login("ghost", "wrong password").code == "A0210"
        console.done("DELETE", "lockouts", {"name": "nobody waits here"})
        gatehouse.run(gatehouse.service.audit.stop())
        lifted = gatehouse.run(gatehouse.service.stores.audit_trail.read(events=["limit.lifted"]))
        assert [(event.actor, event.detail) for event in lifted] == [(1, '{"name":"Ghost"}')]


def test_nobody_unlocks_the_name_of_somebody_who_holds_more(gatehouse: InProcess, user: Callable[..., Console]) -> None:
    """Else a clerk could try the administrator's passwords without ever waiting."""
    clerk = user("clerk", "sys:user:update", "sys:user:list")
    clerk.refused("A0301", "DELETE", "lockouts", {"name": "admin"})
    clerk.done("DELETE", "lockouts", {"name": "clerk"})
    clerk.done("DELETE", "lockouts", {"name": "nobody"})


def test_failed_logins_are_counted_by_day(gatehouse: InProcess) -> None:
    for _ in range(3):
        gatehouse.login("admin", "wrong password")
    gatehouse.clock.move(86_400)
    gatehouse.login("admin", "wrong password")
    made_up = {"captchaId": "00000000-0000-4000-8000-000000000000", "captchaCode": "abcd"}
    for _ in range(2):  # these cost an attacker nothing and are stored as one event
        gatehouse.request("POST", "/api/v1/auth/login", body={"username": "a", "password": "b", **made_up})
    gatehouse.run(gatehouse.service.audit.stop())
    trend = Console(gatehouse).get("logs/analytics/trend", startDate="2030-03-16", endDate="2030-03-18")
    assert (trend["dates"], trend["failedList"]) == (["2030-03-16", "2030-03-17", "2030-03-18"], [0, 3, 3])


def test_the_administration_answers_in_chinese(console: Console) -> None:
    headers = {"accept-language": "zh-CN"}
    for path, rows in (("settings", "settings"), ("settings/checks", "checks")):
        data = console.gatehouse.request("GET", f"/api/v1/{path}", token=console.token, headers=headers).data[rows]
        said = [each.get("meaning") or each["found"] + each["advice"] for each in data]
        plain = [each for each in said if not re.search(r"[\u4e00-\u9fff]", each)]
        # The address of the service is all that is said of the issuer.
        assert all(each.startswith("http://127.0.0.1") for each in plain), plain

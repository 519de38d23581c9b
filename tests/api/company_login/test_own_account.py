"""What people see of their company accounts on the account page, as the API tells it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.api.company_login.browser import Browser, Company
from tests.support.inprocess import InProcess
from tests.support.slapd import PASSWORD, Slapd, slapd  # noqa: F401 - the fixture
from tests.support.sources import add_directory, add_roles


def told(service: InProcess, token: str) -> tuple[Any, Any]:
    """Where the password is kept, and by which source the session was opened."""
    factor = service.request("GET", "/api/v1/users/me/second-factor", token=token).data
    sessions = service.request("GET", "/api/v1/users/me/sessions", token=token).data["sessions"]
    return factor["password"], sessions[0]["source"]


def test_whose_password_it_is_and_by_which_source_the_session_was_opened(company: Company, browser: Browser) -> None:
    assert told(company.service, company.service.login().data["accessToken"]) == ("here", "")
    tokens = browser.login()
    assert told(company.service, tokens["accessToken"]) == ("none", "corp")
    company.service.run(company.service.service.audit.stop())  # a login is in the list when its event is stored
    logins = company.service.request("GET", "/api/v1/users/me/logins", token=tokens["accessToken"]).data["logins"]
    assert [each["source"] for each in logins] == ["corp"]


def test_a_password_that_a_directory_keeps(tmp_path: Path, slapd: Slapd) -> None:  # noqa: F811 - the fixture
    with InProcess(tmp_path / "data") as gatehouse:
        add_roles(gatehouse, "STAFF", "AUDITOR")
        add_directory(gatehouse, slapd)
        token = gatehouse.login("carol", PASSWORD).data["accessToken"]
        assert told(gatehouse, token) == ("directory", "corp")


def test_whoever_has_no_password_sets_up_an_app_within_minutes_of_the_login(company: Company, browser: Browser) -> None:
    token, begin = browser.login()["accessToken"], ("POST", "/api/v1/users/me/totp")
    assert company.service.request(*begin, body={}, token=token).status == 200
    company.service.clock.move(301)
    late = company.service.request(*begin, body={}, token=token)
    assert (late.status, late.code) == (400, "A0220")
    assert "log in again" in late.json["msg"].lower()
    admin = company.service.login().data["accessToken"]
    assert company.service.request(*begin, body={}, token=admin).code == "A0410"  # who has a password shows it

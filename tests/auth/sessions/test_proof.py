"""A session knows how it was proven, and a required second factor holds for every session, on every engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest

from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.stores.database.users import NewUser
from tests.support.factors import App, enrol
from tests.support.inprocess import Answer, InProcess
from tests.support.running import PASSWORD

pytestmark = [pytest.mark.usefixtures("engines"), pytest.mark.every_engine]

NEEDS_FACTOR: dict[str, Any] = {"second_factor_roles": "ADMIN"}
DESK = {"address": "192.0.2.7"}


@pytest.fixture
def gatehouse(tmp_path: Path) -> Iterator[InProcess]:
    """The role ADMIN needs a second factor; ann holds no role yet."""
    with InProcess(tmp_path / "data", **NEEDS_FACTOR) as running:
        running.run(running.accounts.add_user(NewUser("ann", "Ann", hash_password(PASSWORD), 1, 0)))
        yield running


def claims(tokens: dict[str, Any]) -> dict[str, Any]:
    return dict(jwt.decode(tokens["accessToken"], options={"verify_signature": False}))


def enrol_ann(gatehouse: InProcess) -> App:
    token = gatehouse.login("ann").data["accessToken"]
    app, _ = enrol(
        lambda method, path, body: gatehouse.request(method, path, body=body, token=token).data, gatehouse.clock
    )
    gatehouse.clock.move(30)
    return app


def by_qr_code(gatehouse: InProcess, phone: str) -> Answer:
    path = "/api/v1/auth/qr-code"
    ticket = {"ticket": gatehouse.request("POST", f"{path}/generate", **DESK).data["ticket"]}
    gatehouse.request("POST", f"{path}/scan", body=ticket, token=phone)
    gatehouse.request("POST", f"{path}/confirm", body=ticket, token=phone)
    return gatehouse.request("POST", f"{path}/login", body=ticket, **DESK)


def test_tokens_and_sessions_say_how_they_were_proven(gatehouse: InProcess) -> None:
    opened = gatehouse.clock()
    by_password = gatehouse.login("ann").data
    assert (claims(by_password)["amr"], claims(by_password)["auth_time"]) == (["pwd"], opened)
    app = enrol_ann(gatehouse)
    by_code = gatehouse.login("ann", changes={"otpCode": app.code()}).data
    assert claims(by_code)["amr"] == ["pwd", "otp"]
    gatehouse.clock.move(60)
    refreshed = gatehouse.refresh(by_code["refreshToken"]).data
    assert claims(refreshed)["amr"] == ["pwd", "otp"]
    assert claims(refreshed)["auth_time"] == gatehouse.clock() - 60
    assert claims(by_qr_code(gatehouse, refreshed["accessToken"]).data)["amr"] == ["pwd", "otp", "qr"]
    path = "/api/v1/users/me/sessions"
    listed = gatehouse.request("GET", path, token=refreshed["accessToken"]).data["sessions"]
    assert sorted(session["amr"] for session in listed) == [["pwd"], ["pwd"], ["pwd", "otp"], ["pwd", "otp", "qr"]]


def test_a_role_that_needs_a_factor_ends_a_session_without_one_on_the_next_request(gatehouse: InProcess) -> None:
    tokens = gatehouse.login("ann").data
    gatehouse.run(gatehouse.accounts.grant("ann", ["ADMIN"]))
    refused = gatehouse.me(tokens["accessToken"])
    assert (refused.status, refused.code) == (401, "A0230")
    assert "second factor" in refused.json["msg"]
    assert gatehouse.refresh(tokens["refreshToken"]).code == "A0231"
    assert gatehouse.service.audit.counts["session.ended", "second_factor"] == 1


def test_at_a_refresh_as_well(gatehouse: InProcess) -> None:
    tokens = gatehouse.login("ann").data
    gatehouse.run(gatehouse.accounts.grant("ann", ["ADMIN"]))
    refused = gatehouse.refresh(tokens["refreshToken"])
    assert (refused.status, refused.code) == (401, "A0231")
    assert "second factor" in refused.json["msg"]
    assert gatehouse.me(tokens["accessToken"]).code == "A0230"
    assert gatehouse.service.audit.counts["refresh.failed", "second_factor"] == 1


def test_a_qr_code_carries_no_further_than_the_session_that_confirms_it(gatehouse: InProcess) -> None:
    """Confirmed before the grant, exchanged after it."""
    path, phone = "/api/v1/auth/qr-code", gatehouse.login("ann").data["accessToken"]
    ticket = {"ticket": gatehouse.request("POST", f"{path}/generate", **DESK).data["ticket"]}
    gatehouse.request("POST", f"{path}/scan", body=ticket, token=phone)
    gatehouse.request("POST", f"{path}/confirm", body=ticket, token=phone)
    gatehouse.run(gatehouse.accounts.grant("ann", ["ADMIN"]))
    refused = gatehouse.request("POST", f"{path}/login", body=ticket, **DESK)
    assert (refused.status, refused.code) == (400, "A0220")
    assert "second factor" in refused.json["msg"]
    ann = gatehouse.run(gatehouse.accounts.user("ann")).user.id
    assert len(gatehouse.run(gatehouse.service.sessions.of_user(ann))) == 1, "only the phone's own"


def test_a_session_with_a_factor_keeps_its_rights(gatehouse: InProcess) -> None:
    app = enrol_ann(gatehouse)
    tokens = gatehouse.login("ann", changes={"otpCode": app.code()}).data
    gatehouse.run(gatehouse.accounts.grant("ann", ["ADMIN"]))
    assert gatehouse.me(tokens["accessToken"]).data["roles"] == ["ADMIN"]
    tokens = gatehouse.refresh(tokens["refreshToken"]).data
    desk = by_qr_code(gatehouse, tokens["accessToken"]).data
    assert gatehouse.me(desk["accessToken"]).data["roles"] == ["ADMIN"]


def test_a_setting_that_requires_a_factor_holds_for_sessions_from_before(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data") as before:
        stores = {name: getattr(before.settings, name) for name in ("database_url", "state_url", "secret")}
        tokens = before.login().data
        assert before.me(tokens["accessToken"]).status == 200
        clock = before.clock
    stores = {name: value for name, value in stores.items() if value}
    with InProcess(tmp_path / "data", clock, second_factor="required", **stores) as after:
        assert after.me(tokens["accessToken"]).code == "A0230"
        assert after.refresh(tokens["refreshToken"]).code == "A0231"


@pytest.mark.parametrize("has_factor", [False, True])
def test_a_session_of_the_first_release_counts_by_the_factor_of_its_user(
    gatehouse: InProcess, monkeypatch: pytest.MonkeyPatch, has_factor: bool
) -> None:
    """0.1.0 kept no methods: they are left out where sessions are stored."""
    changes = {"otpCode": enrol_ann(gatehouse).code()} if has_factor else {}
    monkeypatch.setattr("gatehouse.auth.sessions.sessions.pack_methods", lambda _methods: "")
    tokens = gatehouse.login("ann", changes=changes).data
    gatehouse.run(gatehouse.accounts.grant("ann", ["ADMIN"]))
    assert gatehouse.me(tokens["accessToken"]).status == (200 if has_factor else 401)
    assert gatehouse.refresh(tokens["refreshToken"]).status == (200 if has_factor else 401)

"""The rules of a session, walked at random against a model, with the clock in our hand."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import AsyncMock

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.auth.sessions.profile_cache import CACHE_TTL_SECONDS
from gatehouse.management.authority import OPERATOR
from gatehouse.stores.database.roles import RoleChange
from gatehouse.stores.database.users import NewUser, Users
from gatehouse.stores.errors import StoreUnavailable
from tests.support.factors import App
from tests.support.inprocess import Answer, InProcess
from tests.support.people import change_user
from tests.support.running import PASSWORD
from tests.support.selection import cases

pytestmark = [pytest.mark.usefixtures("engines"), pytest.mark.every_engine]

ACCESS, IDLE, LONGEST, GRACE = 7200, 604_800, 2_592_000, 10
NAMES = ("ann", "bob")
HASHED = hash_password(PASSWORD)


@dataclass
class Model:
    """What a session must look like from outside."""

    name: str
    opened: float
    rotated: float
    ends: float
    absolute_end: float
    refresh_tokens: list[str]  # one a generation, oldest first
    access_tokens: list[tuple[str, float]] = field(default_factory=list)
    ended: bool = False

    def live(self, now: float) -> bool:
        return not self.ended and now < self.ends

    def take(self, answer: Answer, now: float) -> None:
        """Its access token counts whole seconds, from the one in which it was issued."""
        self.access_tokens.append((answer.data["accessToken"], int(now) + answer.data["expiresIn"]))


class SessionRules(RuleBasedStateMachine):
    sessions = Bundle("sessions")

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.gatehouse = InProcess(Path(self.folder.name) / "data")
        self.clock = self.gatehouse.clock
        self.enabled = dict.fromkeys(NAMES, True)
        self.models: list[Model] = []
        self.apps: dict[str, App] = {}  # of those who have a second factor
        self.used: set[str] = set()  # codes that were accepted; of one app no two near each other are equal
        for name in NAMES:
            new = NewUser(name, name, HASHED, 1, self.clock())
            self.gatehouse.run(self.gatehouse.accounts.add_user(new))

    def teardown(self) -> None:
        if hasattr(self, "gatehouse"):
            self.gatehouse.close()
            self.folder.cleanup()

    @rule(target=sessions, name=st.sampled_from(NAMES), place=st.sampled_from(["captchaCode", "otpCode", "nowhere"]))
    def login(self, name: str, place: str) -> Model | None:
        app = self.apps.get(name)
        code = app.code() if app else "000000"
        answer = self.gatehouse.login(name, changes={} if place == "nowhere" else {place: code})
        expected = self.refusal(name, place, code)
        if expected:
            assert (answer.status, answer.code) == (400, expected)
            return None
        if app:
            self.used.add(name + code)
        now = self.clock()
        model = Model(name, now, now, now + IDLE, now + LONGEST, [answer.data["refreshToken"]])
        model.take(answer, now)
        self.models.append(model)
        return model

    def refusal(self, name: str, place: str, code: str) -> str | None:
        """What a login with the right password is refused with, if it is."""
        if not self.enabled[name]:
            return "A0210"
        if name not in self.apps:
            return "A0210" if place == "captchaCode" else None
        if place == "nowhere":
            return "A0220"
        if name + code in self.used:
            return "A0210" if place == "captchaCode" else "A0220"
        return None

    @rule(session=sessions)
    def enrol(self, session: Model | None) -> None:
        if session is None:
            return
        token, expires = session.access_tokens[-1]
        body = {"currentPassword": PASSWORD}
        begun = self.gatehouse.request("POST", "/api/v1/users/me/totp", token=token, body=body)
        if not (session.live(self.clock()) and self.clock() < expires):
            assert begun.code == "A0230"
        elif session.name in self.apps:
            assert begun.code == "A0440"
        else:
            app = App(begun.data["secret"], self.clock)
            body = {"code": app.code()}
            assert self.gatehouse.request("PUT", "/api/v1/users/me/totp", token=token, body=body).status == 200
            self.apps[session.name] = app
            self.used.add(session.name + app.code())

    @rule(name=st.sampled_from(NAMES))
    def reset_the_factor(self, name: str) -> None:
        number = self.gatehouse.run(self.gatehouse.accounts.user(name)).user.id
        removed = self.gatehouse.run(self.gatehouse.service.management.user_factors.reset(OPERATOR, number))
        assert removed == (["totp"] if self.apps.pop(name, None) else [])

    @rule(session=sessions, behind=st.sampled_from([0, 0, 0, 1, 1, 2, 5]))
    def refresh(self, session: Model | None, behind: int) -> None:
        if session is None or behind >= len(session.refresh_tokens):
            return
        now = self.clock()
        alive = session.live(now)
        answer = self.gatehouse.refresh(session.refresh_tokens[-1 - behind])
        if alive and behind == 0:
            assert answer.data["refreshToken"] not in session.refresh_tokens
            session.refresh_tokens.append(answer.data["refreshToken"])
            session.rotated = now
            session.ends = min(now + IDLE, session.absolute_end)
        elif alive and behind == 1 and now < session.rotated + GRACE:
            assert answer.data["refreshToken"] == session.refresh_tokens[-1]
        else:
            assert (answer.status, answer.code) == (401, "A0231")
            session.ended = True
            return
        assert answer.data["expiresIn"] == min(ACCESS, int(session.ends) - int(now))
        session.take(answer, now)

    @rule(session=sessions)
    def logout(self, session: Model | None) -> None:
        if session is None:
            return
        token, expires = session.access_tokens[-1]
        answer = self.gatehouse.logout(token)
        if session.live(self.clock()) and self.clock() < expires:
            assert answer.code == "00000"
            session.ended = True
        else:
            assert (answer.status, answer.code) == (401, "A0230")

    @rule(session=sessions)
    def end_the_others(self, session: Model | None) -> None:
        if session is None:
            return
        token, expires = session.access_tokens[-1]
        answer = self.gatehouse.request("DELETE", "/api/v1/users/me/sessions", token=token)
        if session.live(self.clock()) and self.clock() < expires:
            assert answer.code == "00000"
            for other in self.models:
                other.ended |= other.name == session.name and other is not session
        else:
            assert answer.code == "A0230"

    @rule(name=st.sampled_from(NAMES))
    def disable(self, name: str) -> None:
        self.gatehouse.run(self.gatehouse.accounts.disable_user(name))
        self.enabled[name] = False
        for session in self.models:
            session.ended |= session.name == name

    @rule(name=st.sampled_from(NAMES))
    def enable(self, name: str) -> None:
        self.gatehouse.run(self.gatehouse.accounts.enable_user(name))
        self.enabled[name] = True

    @rule(name=st.sampled_from(NAMES))
    def set_the_password(self, name: str) -> None:
        self.gatehouse.run(self.gatehouse.accounts.set_password(name, HASHED))
        for session in self.models:
            session.ended |= session.name == name

    @rule(seconds=st.sampled_from([0.5, 5, 9.5, 10, 11, 3600, 7199, 7200, 86_400, 604_799, 604_800, 2_000_000]))
    def time_passes(self, seconds: float) -> None:
        self.clock.move(seconds)

    @rule()
    def sweep(self) -> None:
        self.gatehouse.run(self.gatehouse.service.sessions.sweep())

    @invariant()
    def every_access_token_opens_what_it_should(self) -> None:
        for session in getattr(self, "models", ())[-4:]:
            for token, expires in session.access_tokens[-2:]:
                good = session.live(self.clock()) and self.clock() < expires
                answer = self.gatehouse.me(token)
                assert answer.code == ("00000" if good else "A0230")
                if good:
                    assert answer.data["username"] == session.name


def test_any_walk_through_the_rules() -> None:
    run_state_machine_as_test(
        SessionRules,
        settings=settings(
            max_examples=cases(20), stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


@pytest.fixture
def gatehouse(tmp_path: Path) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data") as running:
        yield running


def test_the_grace_window_does_not_slide(gatehouse: InProcess) -> None:
    first = gatehouse.login().data
    second = gatehouse.refresh(first["refreshToken"]).data
    for _ in range(4):
        gatehouse.clock.move(2.4)
        assert gatehouse.refresh(first["refreshToken"]).data["refreshToken"] == second["refreshToken"]
    gatehouse.clock.move(0.4)
    assert gatehouse.refresh(first["refreshToken"]).code == "A0231"
    assert gatehouse.refresh(second["refreshToken"]).code == "A0231"


def test_a_reused_token_ends_its_session_even_if_the_worker_dies_right_after(
    gatehouse: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if it were killed between two steps: after the rotation was refused, it reaches the store no more."""
    first = gatehouse.login().data
    second = gatehouse.refresh(first["refreshToken"]).data
    gatehouse.clock.move(GRACE + 1)
    with monkeypatch.context() as killed:
        for operation in ("end_session", "end_sessions_of"):
            killed.setattr(gatehouse.service.stores.state, operation, AsyncMock(side_effect=StoreUnavailable("killed")))
        gatehouse.refresh(first["refreshToken"])
    assert gatehouse.me(second["accessToken"]).code == "A0230"
    assert gatehouse.refresh(second["refreshToken"]).code == "A0231"


@pytest.mark.parametrize("lost", ["accounts", "signing keys"])
def test_a_refresh_that_cannot_be_answered_uses_nothing_up(
    gatehouse: InProcess, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    tokens = gatehouse.login().data
    gatehouse.clock.move(CACHE_TTL_SECONDS + 1)
    with monkeypatch.context() as outage:
        if lost == "accounts":
            outage.setattr(Users, "profile", AsyncMock(side_effect=StoreUnavailable("lost")))
        else:
            outage.setattr(gatehouse.service.key_ring, "_signer", None)
        assert gatehouse.refresh(tokens["refreshToken"]).status == 503
    gatehouse.clock.move(GRACE + 1)
    assert gatehouse.refresh(tokens["refreshToken"]).status == 200


def test_roles_and_perms_are_read_anew_and_show_on_the_next_request(gatehouse: InProcess) -> None:
    tokens = gatehouse.login().data
    accounts = gatehouse.accounts
    gatehouse.run(accounts.add_role("AUDITOR", "Auditor", ["sys:trail:read"]))
    assert "sys:trail:read" not in gatehouse.me(tokens["accessToken"]).data["perms"]
    gatehouse.run(accounts.grant("admin", ["AUDITOR"]))
    user = gatehouse.me(tokens["accessToken"]).data
    assert user["roles"] == ["ADMIN", "AUDITOR"]
    assert "sys:trail:read" in user["perms"]
    gatehouse.run(accounts.deny("AUDITOR", ["sys:trail:read"]))
    assert "sys:trail:read" not in gatehouse.me(tokens["accessToken"]).data["perms"]
    gatehouse.run(accounts.edit_role("AUDITOR", RoleChange(enabled=False)))
    assert gatehouse.me(tokens["accessToken"]).data["roles"] == ["ADMIN"]


def test_a_lost_raise_of_the_epoch_is_caught_by_the_time_limit(gatehouse: InProcess) -> None:
    """As if the process had been killed between the commit and the raise."""
    tokens = gatehouse.login().data
    assert gatehouse.me(tokens["accessToken"]).status == 200
    gatehouse.run(change_user(gatehouse.service.stores.database, 1, enabled=False))
    gatehouse.clock.move(61)
    assert gatehouse.me(tokens["accessToken"]).code == "A0230"
    gatehouse.run(change_user(gatehouse.service.stores.database, 1, enabled=True))
    assert gatehouse.me(tokens["accessToken"]).code == "A0230", "its session has ended with it"


def test_one_session_too_many_ends_the_oldest(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", sessions_per_user=3) as gatehouse:
        opened = []
        for _ in range(4):
            opened.append(gatehouse.login().data["accessToken"])
            gatehouse.clock.move(1)
        assert [gatehouse.me(token).status for token in opened] == [401, 200, 200, 200]


def test_a_captcha_expires(gatehouse: InProcess) -> None:
    captcha = gatehouse.request("GET", "/api/v1/auth/captcha").data["captchaId"]
    gatehouse.clock.move(119)
    assert gatehouse.login(changes={"captchaId": captcha}).status == 200
    captcha = gatehouse.request("GET", "/api/v1/auth/captcha").data["captchaId"]
    gatehouse.clock.move(120)
    assert gatehouse.login(changes={"captchaId": captcha}).code == "A0242"


def test_changing_the_password_needs_the_current_one_and_ends_the_other_sessions(gatehouse: InProcess) -> None:
    mine, other = gatehouse.login().data["accessToken"], gatehouse.login().data["accessToken"]

    def change(current: str, new: str) -> str:
        body = {"currentPassword": current, "newPassword": new}
        return gatehouse.request("PUT", "/api/v1/users/me/password", token=mine, body=body).code

    assert change("not it", "a quite new password") == "A0210"
    assert change(PASSWORD, "short") == "A0421"
    assert change(PASSWORD, "password1") == "A0421"
    assert change(PASSWORD, "Admin-and-more") == "A0421"
    assert gatehouse.me(other).status == 200
    assert change(PASSWORD, "a quite new password") == "00000"
    assert gatehouse.me(mine).status == 200
    assert gatehouse.me(other).code == "A0230"
    assert gatehouse.login().code == "A0210"
    assert gatehouse.login(password="a quite new password").status == 200


def test_nobody_ends_the_session_of_another(gatehouse: InProcess) -> None:
    gatehouse.run(gatehouse.accounts.add_user(NewUser("ann", "Ann", HASHED, 1, 0)))
    hers, mine = gatehouse.login("ann").data["accessToken"], gatehouse.login().data["accessToken"]
    [her_session] = gatehouse.request("GET", "/api/v1/users/me/sessions", token=hers).data["sessions"]
    path = f"/api/v1/users/me/sessions/{her_session['id']}"
    refused = gatehouse.request("DELETE", path, token=mine)
    assert (refused.status, refused.code) == (404, "C0113")
    assert refused.content == gatehouse.request("DELETE", path + "x", token=mine).content
    assert gatehouse.me(hers).status == 200

"""Enrolling, removing and renewing one's own second factor, with the clock in our hand."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gatehouse.auth.keys.sealing import WrongSecret
from tests.support.factors import App, enrol
from tests.support.inprocess import Answer, InProcess
from tests.support.running import PASSWORD

pytestmark = pytest.mark.usefixtures("engines")

TOTP = "/api/v1/users/me/totp"
CODES = "/api/v1/users/me/recovery-codes"
STATUS = "/api/v1/users/me/second-factor"
NONE = {"totp": False, "passkeys": [], "recoveryCodesLeft": 0, "passwordLogin": True, "password": "here"}


class Person:
    """Somebody who is logged in."""

    def __init__(self, gatehouse: InProcess) -> None:
        self.gatehouse = gatehouse
        self.token = gatehouse.login().data["accessToken"]

    def ask(self, method: str, path: str, body: object = None) -> Answer:
        return self.gatehouse.request(method, path, body=body, token=self.token)

    def enrol(self) -> tuple[App, list[str]]:
        return enrol(lambda *words: self.ask(*words).data, self.gatehouse.clock)

    def status(self) -> dict[str, Any]:
        return self.ask("GET", STATUS).data


@pytest.fixture
def gatehouse(tmp_path: Path) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data") as running:
        yield running


@pytest.fixture
def person(gatehouse: InProcess) -> Person:
    return Person(gatehouse)


def test_nothing_is_on_until_a_code_has_been_shown_to_work(person: Person) -> None:
    assert person.status() == NONE
    begun = person.ask("POST", TOTP, {"currentPassword": PASSWORD}).data
    assert begun["uri"].startswith("otpauth://totp/")
    assert begun["secret"] in begun["uri"]
    assert begun["qrCode"].startswith("data:image/svg+xml")
    app = App(begun["secret"], person.gatehouse.clock)
    assert person.status() == NONE
    assert person.gatehouse.login().status == 200, "not asked for yet"
    wrong = person.ask("PUT", TOTP, {"code": app.wrong()})
    assert (wrong.status, wrong.code) == (400, "A0220")
    assert person.status() == NONE
    codes = person.ask("PUT", TOTP, {"code": app.code()}).data["recoveryCodes"]
    assert len(codes) == 10
    assert person.status() == NONE | {"totp": True, "recoveryCodesLeft": 10}


def test_enrolment_shows_to_nobody_without_the_password(person: Person) -> None:
    assert person.ask("POST", TOTP, {"currentPassword": "not it"}).code == "A0210"
    assert person.ask("POST", TOTP, {}).code == "A0410"
    assert person.ask("PUT", TOTP, {"code": "123456"}).code == "C0113"
    assert person.gatehouse.request("POST", TOTP, body={"currentPassword": PASSWORD}).code == "A0230"


def test_an_enrolment_that_is_not_confirmed_expires(person: Person) -> None:
    app = App(person.ask("POST", TOTP, {"currentPassword": PASSWORD}).data["secret"], person.gatehouse.clock)
    person.gatehouse.clock.move(600)
    assert person.ask("PUT", TOTP, {"code": app.code()}).code == "C0113"
    person.enrol()
    assert person.status()["totp"] is True


def test_five_wrong_codes_end_an_enrolment(person: Person) -> None:
    app = App(person.ask("POST", TOTP, {"currentPassword": PASSWORD}).data["secret"], person.gatehouse.clock)
    guesses = [person.ask("PUT", TOTP, {"code": guess}) for guess in (app.wrong(), "abcd", *[app.wrong()] * 3)]
    assert [answer.code for answer in guesses] == ["A0220"] * 5
    assert "begin again" in guesses[4].json["msg"]
    assert "begin again" not in guesses[3].json["msg"]
    assert person.ask("PUT", TOTP, {"code": app.code()}).code == "C0113", "even the right one"
    person.enrol()
    service = person.gatehouse.service
    person.gatehouse.run(service.audit.stop())
    told = [
        event for event in person.gatehouse.run(service.stores.audit_trail.read(newest=9)) if "enrolment" in event.event
    ]
    assert [(event.event, event.user, event.detail) for event in told] == [
        ("enrolment.failed", 1, f'{{"left":{left}}}') for left in (4, 3, 2, 1, 0)
    ]


def test_guesses_at_once_are_no_more_than_guesses_in_a_row(person: Person) -> None:
    app = App(person.ask("POST", TOTP, {"currentPassword": PASSWORD}).data["secret"], person.gatehouse.clock)

    async def guess() -> list[Answer]:
        body = {"code": app.wrong()}
        send = person.gatehouse.send
        return list(await asyncio.gather(*(send("PUT", TOTP, body=body, token=person.token) for _ in range(30))))

    answers = person.gatehouse.run(guess())
    assert sorted(answer.code for answer in answers) == ["A0220"] * 5 + ["C0113"] * 25
    assert person.ask("PUT", TOTP, {"code": app.code()}).code == "C0113"


def test_only_the_newest_secret_can_be_confirmed(person: Person) -> None:
    first, second = (
        App(person.ask("POST", TOTP, {"currentPassword": PASSWORD}).data["secret"], person.gatehouse.clock)
        for _ in range(2)
    )
    assert person.ask("PUT", TOTP, {"code": first.code()}).code == "A0220"
    assert person.ask("PUT", TOTP, {"code": second.code()}).status == 200


def test_one_that_is_on_is_not_replaced_without_being_removed(person: Person) -> None:
    app, _ = person.enrol()
    again = person.ask("POST", TOTP, {"currentPassword": PASSWORD})
    assert (again.status, again.code) == (409, "A0440")
    person.gatehouse.clock.move(30)
    assert person.ask("DELETE", TOTP, {"currentPassword": PASSWORD, "code": app.code()}).status == 200
    person.enrol()


def test_removing_it_takes_password_and_code(person: Person) -> None:
    app, codes = person.enrol()
    assert person.ask("DELETE", TOTP, {"currentPassword": PASSWORD, "code": app.code()}).code == "A0220", "used"
    person.gatehouse.clock.move(30)
    assert person.ask("DELETE", TOTP, {"currentPassword": "not it", "code": app.code()}).code == "A0210"
    assert person.ask("DELETE", TOTP, {"currentPassword": PASSWORD, "code": app.wrong()}).code == "A0220"
    assert person.ask("DELETE", TOTP, {"currentPassword": PASSWORD, "code": "abcd"}).code == "A0220"
    assert person.ask("DELETE", TOTP, {"currentPassword": PASSWORD}).code == "A0410"
    assert person.ask("DELETE", TOTP, {"currentPassword": PASSWORD, "code": codes[0]}).status == 200
    assert person.status() == NONE
    assert person.ask("DELETE", TOTP, {"currentPassword": PASSWORD, "code": codes[1]}).code == "C0113"


def test_new_recovery_codes_replace_all_old_ones(person: Person) -> None:
    app, old = person.enrol()
    person.gatehouse.clock.move(30)
    new = person.ask("POST", CODES, {"currentPassword": PASSWORD, "code": app.code()}).data["recoveryCodes"]
    assert len(new) == 10
    assert not set(new) & set(old)
    assert person.ask("POST", CODES, {"currentPassword": PASSWORD, "code": old[0]}).code == "A0220"
    assert person.ask("POST", CODES, {"currentPassword": PASSWORD, "code": new[0]}).status == 200
    assert person.status()["recoveryCodesLeft"] == 10


@pytest.mark.parametrize("method", ["password", "code"])
def test_guessing_here_is_guessing_at_the_login(tmp_path: Path, method: str) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_name="3/minute") as gatehouse:
        person = Person(gatehouse)
        app, _ = person.enrol()
        gatehouse.clock.move(30)
        body = {"currentPassword": PASSWORD, "code": app.code()}
        guess = body | ({"currentPassword": "guess"} if method == "password" else {"code": app.wrong()})
        assert [person.ask("DELETE", TOTP, guess).code for _ in range(3)] == [
            "A0210" if method == "password" else "A0220"
        ] * 3
        assert person.ask("DELETE", TOTP, body).code == "A0211"
        assert gatehouse.login().code == "A0211"


def test_what_is_stored_opens_nothing_without_the_master_secret(person: Person) -> None:
    person.enrol()
    stored = person.gatehouse.run(person.gatehouse.service.factors.enrolment._factors.totp(1))
    assert stored is not None
    vault = person.gatehouse.service.factors.totp_secrets
    assert len(vault.open(1, stored.sealed)) == 20
    person.gatehouse.service.key_ring.secrets = (b"x" * 32,)
    with pytest.raises(WrongSecret):
        vault.open(1, stored.sealed)


def test_events_tell_what_happened(person: Person) -> None:
    app, _ = person.enrol()
    person.gatehouse.clock.move(30)
    person.ask("POST", CODES, {"currentPassword": PASSWORD, "code": app.code()})
    person.gatehouse.clock.move(30)
    person.ask("DELETE", TOTP, {"currentPassword": PASSWORD, "code": app.code()})
    counted = {event for event, _ in person.gatehouse.service.audit.counts}
    assert {"factor.added", "recovery_codes.renewed", "factor.removed"} <= counted

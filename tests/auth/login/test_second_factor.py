"""Login with a second factor, with the clock in our hand, on every engine."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gatehouse.auth.audit import ClientInfo
from gatehouse.auth.factors.totp_secrets import TotpSecrets
from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.management.authority import OPERATOR
from gatehouse.settings import SettingsError, load
from gatehouse.stores.database.users import NewUser
from tests.support.factors import App, enrol
from tests.support.inprocess import Answer, InProcess
from tests.support.meanwhile import during
from tests.support.people import change_user
from tests.support.running import ANSWER, PASSWORD

pytestmark = pytest.mark.usefixtures("engines")

HASHED = hash_password(PASSWORD)


@pytest.fixture
def gatehouse(tmp_path: Path) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data") as running:
        running.run(running.accounts.add_user(NewUser("plain", "Plain", HASHED, 1, 0)))
        yield running


def add_administrator(gatehouse: InProcess) -> None:
    """A second one, so that the first can be disabled."""
    gatehouse.run(gatehouse.accounts.add_user(NewUser("second", "Second", HASHED, 1, 0), ["ADMIN"]))


def enrolled(gatehouse: InProcess) -> tuple[App, list[str]]:
    token = gatehouse.login().data["accessToken"]

    def call(method: str, path: str, body: object) -> dict[str, object]:
        return gatehouse.request(method, path, body=body, token=token).data

    app, codes = enrol(call, gatehouse.clock)
    gatehouse.clock.move(30)  # the code of the enrolment is used up
    return app, codes


def in_captcha_field(gatehouse: InProcess, code: str, username: str = "admin", password: str = PASSWORD) -> Answer:
    return gatehouse.login(username, password, changes={"captchaCode": code})


def beside_picture(gatehouse: InProcess, code: str) -> Answer:
    return gatehouse.login(changes={"otpCode": code})


def test_the_code_goes_where_the_captcha_goes(gatehouse: InProcess) -> None:
    app, codes = enrolled(gatehouse)
    assert in_captcha_field(gatehouse, app.code()).status == 200
    gatehouse.clock.move(30)
    code = app.code()
    assert in_captcha_field(gatehouse, f" {code[:3]} {code[3:]} ").status == 200
    assert in_captcha_field(gatehouse, codes[0]).status == 200
    assert in_captcha_field(gatehouse, codes[1].upper().replace("-", "")).status == 200


def test_or_beside_a_solved_picture(gatehouse: InProcess) -> None:
    app, codes = enrolled(gatehouse)
    assert beside_picture(gatehouse, app.code()).status == 200
    assert beside_picture(gatehouse, codes[0]).status == 200


def test_without_a_code_the_message_says_where_to_type_it(gatehouse: InProcess) -> None:
    enrolled(gatehouse)
    asked = gatehouse.login()
    assert (asked.status, asked.code) == (400, "A0220")
    assert "captcha field" in asked.json["msg"]
    assert "data" not in asked.json
    chinese = gatehouse.login(headers={"Accept-Language": "zh-CN"})
    assert "验证码" in chinese.json["msg"]


def test_it_is_asked_for_only_when_password_and_picture_are_right(gatehouse: InProcess) -> None:
    app, _ = enrolled(gatehouse)
    assert gatehouse.login(password="not it").code == "A0210"
    assert gatehouse.login(changes={"captchaCode": "none"}).code == "A0240"
    assert gatehouse.login(changes={"captchaCode": "none", "otpCode": app.code()}).code == "A0240"
    assert gatehouse.login(password="not it", changes={"otpCode": app.code()}).code == "A0210"
    assert beside_picture(gatehouse, app.code()).status == 200, "none of those used it up"


@pytest.mark.parametrize("wrong", ["wrong", "zzzzz-zzzzz", "12345"])
def test_a_wrong_otp_code(gatehouse: InProcess, wrong: str) -> None:
    app, _ = enrolled(gatehouse)
    assert beside_picture(gatehouse, app.wrong() if wrong == "wrong" else wrong).code == "A0220"


def test_a_code_in_the_captcha_field_fails_like_a_wrong_password(gatehouse: InProcess) -> None:
    app, codes = enrolled(gatehouse)
    expected = gatehouse.login(password="not it")
    for answer in (
        in_captcha_field(gatehouse, app.wrong()),
        in_captcha_field(gatehouse, "zzzzz-zzzzz"),
        in_captcha_field(gatehouse, app.code(), password="not it"),
        in_captcha_field(gatehouse, codes[0], password="not it"),
        in_captcha_field(gatehouse, app.code(), "plain"),
        in_captcha_field(gatehouse, codes[0], "plain"),
        in_captcha_field(gatehouse, app.code(), "nobody"),
        in_captcha_field(gatehouse, codes[0], "nobody"),
    ):
        assert (answer.status, answer.content) == (expected.status, expected.content)
    assert in_captcha_field(gatehouse, app.code()).status == 200
    assert in_captcha_field(gatehouse, codes[0]).status == 200


def test_the_captcha_is_used_up_all_the_same(gatehouse: InProcess) -> None:
    app, _ = enrolled(gatehouse)
    captcha = gatehouse.service.login.captcha_challenges.issue(gatehouse.clock())
    first = gatehouse.login(changes={"captchaId": captcha.id, "captchaCode": app.code()})
    assert first.status == 200
    gatehouse.clock.move(30)
    assert gatehouse.login(changes={"captchaId": captcha.id, "captchaCode": app.code()}).code == "A0242"
    assert gatehouse.login(changes={"captchaId": "made-up", "captchaCode": app.code()}).code == "A0242"
    assert gatehouse.login(changes={"captchaId": None, "captchaCode": app.code()}).code == "A0410"
    assert in_captcha_field(gatehouse, app.code()).status == 200


def test_a_code_is_good_once(gatehouse: InProcess) -> None:
    app, codes = enrolled(gatehouse)
    code = app.code()
    assert in_captcha_field(gatehouse, code).status == 200
    assert in_captcha_field(gatehouse, code).code == "A0210"
    assert beside_picture(gatehouse, code).code == "A0220"
    gatehouse.clock.move(29)
    assert in_captcha_field(gatehouse, code).code == "A0210", "still within the skew, and still used"
    assert in_captcha_field(gatehouse, codes[0]).status == 200
    assert in_captcha_field(gatehouse, codes[0]).code == "A0210"


def test_of_twenty_logins_with_one_code_one_succeeds(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", hash_queue=100) as gatehouse:
        app, codes = enrolled(gatehouse)
        for code in (app.code(), codes[0]):

            async def race(code: str = code) -> list[Answer]:
                tries = (gatehouse.attempt(changes={"captchaCode": code}) for _ in range(20))
                return list(await asyncio.gather(*tries))

            answers = gatehouse.run(race())
            assert sorted(answer.code for answer in answers) == ["00000"] + ["A0210"] * 19


def test_one_step_of_skew(gatehouse: InProcess) -> None:
    app, _ = enrolled(gatehouse)
    gatehouse.clock.move(3000)
    verdicts = {steps: in_captcha_field(gatehouse, app.code(steps)).status for steps in (-2, -1, 0, 1, 2)}
    assert verdicts == {-2: 400, -1: 200, 0: 200, 1: 200, 2: 400}


def test_wrong_codes_count_as_failures_of_the_name(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_name="3/minute") as gatehouse:
        app, _ = enrolled(gatehouse)
        assert gatehouse.login().code == "A0220"
        assert gatehouse.login().code == "A0220", "no code is not a wrong one"
        assert gatehouse.login(password="not it").code == "A0210"
        assert [beside_picture(gatehouse, app.wrong()).code for _ in range(2)] == ["A0220"] * 2
        assert beside_picture(gatehouse, app.code()).code == "A0211"
        assert [in_captcha_field(gatehouse, app.wrong()).code for _ in range(3)] == ["A0210"] * 3
        assert in_captcha_field(gatehouse, app.code()).code == "A0211"


@pytest.mark.every_engine
def test_codes_without_a_picture_lock_only_further_ones(tmp_path: Path) -> None:
    """Else anybody could lock any name, from unknown addresses, without solving a captcha."""
    with InProcess(tmp_path / "data", limits="on") as gatehouse:
        app, codes = enrolled(gatehouse)
        known, unknown = "127.0.0.1", "203.0.113.9"

        def with_code(code: str, address: str) -> str:
            return gatehouse.login(changes={"captchaCode": code}, address=address).code

        assert [with_code(app.wrong(), unknown) for _ in range(10)] == ["A0210"] * 10
        assert with_code(app.code(), unknown) == "A0211"
        assert gatehouse.login(address=unknown, password="not it").code == "A0210", "with a picture it is not locked"
        assert gatehouse.login(address=unknown, changes={"otpCode": app.code()}).status == 200
        assert with_code(codes[0], known) == "00000"
        assert with_code(codes[1], "198.51.100.7") == "A0211"
        assert [lockout.source for lockout in gatehouse.run(gatehouse.service.management.lockouts.all())] == [
            "elsewhere (code)"
        ]
        assert gatehouse.run(gatehouse.service.management.lockouts.lift(OPERATOR, "admin")) == 1
        assert with_code(codes[1], "198.51.100.7") == "00000"


@pytest.mark.parametrize("answer", ["123456", "wrong"])
def test_who_solves_captchas_finds_the_hash_queue_open(tmp_path: Path, answer: str) -> None:
    """90 connections that solve no picture, with codes or wrong answers, are ahead of 12 people who do."""
    with InProcess(tmp_path / "data", hash_threads=1, hash_queue=15) as gatehouse:

        async def storm() -> list[Answer]:
            flood = [gatehouse.attempt(f"nobody {n}", changes={"captchaCode": answer}) for n in range(90)]
            people = [gatehouse.attempt("admin" if n % 2 else "plain") for n in range(12)]
            return list(await asyncio.gather(*flood, *people))

        gatehouse.run(gatehouse.accounts.add_user(NewUser("plain", "Plain", HASHED, 1, 0)))
        answers = gatehouse.run(storm())
        assert {answer.status for answer in answers[90:]} == {200}
        assert {answer.code for answer in answers[:90]} <= {"A0210", "A0240", "B0210"}


def test_who_solves_captchas_is_not_kept_out_by_who_does_not(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_total="3/minute") as gatehouse:
        codes = [in_captcha_field(gatehouse, "123456", f"nobody{n}").code for n in range(5)]
        assert codes == ["A0210"] * 3 + ["A0502"] * 2
        assert gatehouse.login().status == 200


def test_a_user_without_a_factor_notices_nothing(gatehouse: InProcess) -> None:
    assert gatehouse.login("plain").status == 200
    assert gatehouse.login("plain", changes={"otpCode": "123456"}).status == 200


def sessions(gatehouse: InProcess) -> int:
    return len(gatehouse.run(gatehouse.service.sessions.of_user(1)))


def test_an_app_that_is_switched_on_during_a_login_is_asked_for(
    gatehouse: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    enrolment = gatehouse.service.factors.enrolment

    async def switch_on() -> None:
        app = App((await enrolment.begin_for(1, "admin")).secret, gatehouse.clock)
        await enrolment.confirm(1, app.code(), ClientInfo())

    during(monkeypatch, "check", gatehouse, switch_on)
    assert gatehouse.login().code == "A0220"
    assert sessions(gatehouse) == 0


def test_a_code_of_an_app_that_is_replaced_during_a_login_opens_nothing(
    gatehouse: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, _ = enrolled(gatehouse)
    before, enrolment = sessions(gatehouse), gatehouse.service.factors.enrolment

    async def replace() -> None:
        await gatehouse.service.management.user_factors.reset(OPERATOR, 1)
        new = App((await enrolment.begin_for(1, "admin")).secret, gatehouse.clock)
        await enrolment.confirm(1, new.code(), ClientInfo())

    during(monkeypatch, "check", gatehouse, replace)
    assert beside_picture(gatehouse, app.code()).code == "A0220"
    assert sessions(gatehouse) == before


def test_a_password_login_that_is_switched_off_during_a_login_opens_nothing(
    gatehouse: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = gatehouse.login("plain", "not it")
    during(
        monkeypatch, "check", gatehouse, lambda: change_user(gatehouse.service.stores.database, 1, password_login=False)
    )
    refused = gatehouse.login()
    assert (refused.status, refused.content) == (wrong.status, wrong.content)
    assert sessions(gatehouse) == 0


def test_a_new_master_secret_during_a_login_refuses_nobody(
    gatehouse: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, codes = enrolled(gatehouse)
    new = b"n" * 32

    async def rotate() -> None:
        gatehouse.service.key_ring.secrets = (new, *gatehouse.service.key_ring.secrets)
        await gatehouse.service.reseal(new)

    during(monkeypatch, "check", gatehouse, rotate)
    assert beside_picture(gatehouse, app.code()).status == 200
    assert beside_picture(gatehouse, codes[0]).status == 200


def test_a_disabled_user_is_told_nothing(gatehouse: InProcess) -> None:
    app, _ = enrolled(gatehouse)
    add_administrator(gatehouse)
    gatehouse.run(gatehouse.accounts.disable_user("admin"))
    assert gatehouse.login().code == "A0210"
    assert in_captcha_field(gatehouse, app.code()).code == "A0210"


def test_off_asks_nobody(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data") as gatehouse:
        app, _ = enrolled(gatehouse)
        stores: dict[str, Any] = {
            "database_url": gatehouse.settings.database_url,
            "state_url": gatehouse.settings.state_url,
        }
    with InProcess(tmp_path / "data", second_factor="off", **stores) as gatehouse:
        assert gatehouse.login().status == 200
        assert in_captcha_field(gatehouse, app.code()).code == "A0240"


def enrol_with_ticket(gatehouse: InProcess, ticket: str) -> App:
    path = "/api/v1/auth/enrolment"
    app = App(gatehouse.request("POST", path, body={"ticket": ticket}).data["secret"], gatehouse.clock)
    assert gatehouse.request("PUT", path, body={"ticket": ticket, "code": app.wrong()}).code == "A0220"
    codes = gatehouse.request("PUT", path, body={"ticket": ticket, "code": app.code()}).data["recoveryCodes"]
    assert len(codes) == 10
    return app


@pytest.mark.parametrize("rule", [{"second_factor": "required"}, {"second_factor_roles": "OTHER, ADMIN"}])
def test_who_must_have_one_is_led_to_enrol(tmp_path: Path, rule: dict[str, Any]) -> None:
    with InProcess(tmp_path / "data", **rule) as gatehouse:
        refused = gatehouse.login()
        assert (refused.status, refused.code) == (400, "A0220")
        assert gatehouse.settings.public_url in refused.json["msg"]
        ticket = refused.headers["enrolment-ticket"]
        assert "enrolment-ticket" not in gatehouse.login(password="not it").headers
        assert gatehouse.me(ticket).code == "A0230", "it can do nothing else"
        assert gatehouse.refresh(ticket).code == "A0231"
        app = enrol_with_ticket(gatehouse, ticket)
        again = gatehouse.request("POST", "/api/v1/auth/enrolment", body={"ticket": ticket})
        assert again.code == "A0440", "and this once"
        asked = gatehouse.login()
        assert asked.code == "A0220"
        assert "enrolment-ticket" not in asked.headers
        gatehouse.clock.move(30)
        assert in_captcha_field(gatehouse, app.code()).status == 200


def test_roles_that_need_none_log_in_as_before(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", second_factor_roles="ADMIN") as gatehouse:
        gatehouse.run(gatehouse.accounts.add_user(NewUser("plain", "Plain", HASHED, 1, 0)))
        assert gatehouse.login("plain").status == 200
        assert gatehouse.login().code == "A0220"


def test_an_enrolment_ticket_dies_with_time_password_and_user(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", second_factor="required") as gatehouse:

        def begin(ticket: str) -> str:
            return gatehouse.request("POST", "/api/v1/auth/enrolment", body={"ticket": ticket}).code

        accounts = gatehouse.accounts
        add_administrator(gatehouse)
        ticket = gatehouse.login().headers["enrolment-ticket"]
        assert begin(ticket) == "00000"
        assert begin(ticket[:-2] + ("AA" if ticket[-2:] != "AA" else "BB")) == "A0242"
        assert begin("x") == begin("é" * 5) == "A0242"
        gatehouse.run(accounts.disable_user("admin"))
        assert begin(ticket) == "A0242"
        gatehouse.run(accounts.enable_user("admin"))
        assert begin(ticket) == "00000"
        gatehouse.clock.move(600)
        assert begin(ticket) == "A0242"
        ticket = gatehouse.login().headers["enrolment-ticket"]
        gatehouse.run(accounts.set_password("admin", hash_password("another one altogether")))
        assert begin(ticket) == "A0242"


def test_guesses_at_enrolment_tickets_and_codes_end_and_are_recorded(tmp_path: Path) -> None:
    path = "/api/v1/auth/enrolment"
    with InProcess(
        tmp_path / "data", limits="on", limit_login_address="4/minute", second_factor="required"
    ) as gatehouse:
        ticket = gatehouse.login().headers["enrolment-ticket"]
        guess = {"ticket": "made-up", "code": "123456"}
        guesses = [gatehouse.request(method, path, body=guess).code for method in ("POST", "PUT") * 5]
        assert (guesses[0], guesses[-1]) == ("A0242", "A0502")
        assert gatehouse.service.audit.counts["ticket.refused", "enrolment"] == guesses.count("A0242")
        gatehouse.clock.move(120)
        app = App(gatehouse.request("POST", path, body={"ticket": ticket}).data["secret"], gatehouse.clock)
        wrong = {"ticket": ticket, "code": app.wrong()}
        assert [gatehouse.request("PUT", path, body=wrong).code for _ in range(5)] == [*["A0220"] * 4, "A0502"]
        assert gatehouse.service.audit.counts["enrolment.failed", ""] == 4
        gatehouse.clock.move(60)
        assert gatehouse.request("PUT", path, body=wrong | {"code": app.code()}).status == 200


def test_settings_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(SettingsError, match="SECOND_FACTOR_ROLES"):
        load({"second_factor": "off", "second_factor_roles": "ADMIN"}, environ={})


def test_a_login_without_a_factor_asks_the_stores_no_more_than_before(gatehouse: InProcess) -> None:
    """Two reads of the user: before the password is hashed, and after. And nothing else of the accounts."""
    asked: list[str] = []
    database = gatehouse.service.stores.database
    fetch_rows = database.fetch_rows

    async def counted(query: object, **values: object) -> object:
        asked.append(str(query))
        return await fetch_rows(query, **values)  # type: ignore[arg-type]

    database.fetch_rows = counted  # type: ignore[method-assign, assignment]
    gatehouse.login("plain", changes={"captchaCode": ANSWER})
    users = [query for query in asked if "FROM users" in query and "totp_secrets" in query]
    assert len(users) == 2
    assert not [query for query in asked if "recovery_codes" in query or "passkeys" in query]


@pytest.mark.parametrize("code", ["000000", "zzzzz-zzzzz"])
def test_a_code_in_the_captcha_field_takes_the_same_work_for_every_name(
    gatehouse: InProcess, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unknown, plain, enrolled and passkey only, the password right or wrong: the time is what the work takes."""
    enrolled(gatehouse)
    accounts = gatehouse.accounts
    only = gatehouse.run(accounts.add_user(NewUser("passkeys", "Passkeys", HASHED, 1, 0)))
    gatehouse.run(change_user(gatehouse.service.stores.database, only, password_login=False))
    asked: list[str] = []
    fetch_rows, unseal = gatehouse.service.stores.database.fetch_rows, TotpSecrets.open

    async def looked_up(_database: object, query: object, **values: object) -> object:
        if not {"outbox", "grants"} & set(str(query).split()):  # asked for every few seconds, whoever logs in
            asked.append(str(query))
        return await fetch_rows(query, **values)  # type: ignore[arg-type]

    def opened(vault: TotpSecrets, user: int, sealed: bytes) -> bytes:
        asked.append("unseal")
        return unseal(vault, user, sealed)

    monkeypatch.setattr(type(gatehouse.service.stores.database), "fetch_rows", looked_up)
    monkeypatch.setattr(TotpSecrets, "open", opened)
    in_captcha_field(gatehouse, code, "warm-up")  # counts the bcrypt users, once in ten minutes
    works = []
    for name in ("nobody", "plain", "admin", "passkeys"):
        for password in ("not it", PASSWORD):
            asked.clear()
            before = Counter(gatehouse.service.stores.state.counts())
            assert in_captcha_field(gatehouse, code, name, password).code == "A0210"
            works.append((list(asked), Counter(gatehouse.service.stores.state.counts()) - before))
    assert "unseal" in works[0][0]
    assert works == works[:1] * 8


def test_a_new_master_secret_leaves_app_and_recovery_codes_good(gatehouse: InProcess) -> None:
    """As `gatehouse secret rotate` and then `forget` leave it."""
    app, codes = enrolled(gatehouse)
    new = b"n" * 32
    gatehouse.run(gatehouse.service.reseal(new))
    gatehouse.service.key_ring.secrets = (new,)
    assert in_captcha_field(gatehouse, app.code()).status == 200
    assert in_captcha_field(gatehouse, codes[0]).status == 200

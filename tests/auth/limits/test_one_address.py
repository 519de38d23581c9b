"""Many people behind one address, as in an office; and what an attacker behind the same address can do with that."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from pathlib import Path

import pytest

from gatehouse.auth.limits.throttle import GIVEN_BACK
from gatehouse.auth.passwords.hashing import PasswordCheck, hash_password
from gatehouse.stores.database.users import NewUser
from tests.support.inprocess import Answer, InProcess
from tests.support.running import PASSWORD

pytestmark = [pytest.mark.usefixtures("engines"), pytest.mark.every_engine]

OFFICE = "203.0.113.9"
WAVE = 16  # who press the button in the same moment


def office(gatehouse: InProcess, people: int) -> list[str]:
    hashed = hash_password(PASSWORD)
    names = [f"person{n}" for n in range(people)]
    for name in names:
        gatehouse.run(gatehouse.service.accounts.add_user(NewUser(name, name, hashed, 1, 0)))
    return names


def spray(gatehouse: InProcess, times: int, address: str = OFFICE, **options: object) -> list[str]:
    """Wrong passwords, each for another name."""
    return [gatehouse.login(f"nobody {n}", "wrong", address=address, **options).code for n in range(times)]


def test_an_office_behind_one_address_is_in_at_the_first_try(tmp_path: Path) -> None:
    """Limits as they are by default, and all of it in one moment of the clock."""
    with InProcess(tmp_path / "data", limits="on") as gatehouse:
        names = office(gatehouse, 100)

        async def come(name: str) -> list[int]:
            picture = await gatehouse.send("GET", "/api/v1/auth/captcha", address=OFFICE)
            tokens = await gatehouse.attempt(name, address=OFFICE)
            if tokens.status != 200:
                return [picture.status, tokens.status]
            body = {"refreshToken": tokens.data["refreshToken"]}
            renewed = await gatehouse.send("POST", "/api/v1/auth/refresh-token", body=body, address=OFFICE)
            return [picture.status, tokens.status, renewed.status]

        async def wave(start: int) -> list[list[int]]:
            return await asyncio.gather(*(come(name) for name in names[start : start + WAVE]))

        answers = [each for start in range(0, len(names), WAVE) for each in gatehouse.run(wave(start))]
        assert answers == [[200, 200, 200]] * len(names)


def test_people_who_mistype_before_they_log_in_use_up_nothing(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on") as gatehouse:
        codes: Counter[str] = Counter()
        for name in office(gatehouse, 40):
            codes[gatehouse.login(name, "mistyped", address=OFFICE).code] += 1
            codes[gatehouse.login(name, address=OFFICE, changes={"captchaCode": "zzzz"}).code] += 1
            codes[gatehouse.login(name, address=OFFICE).code] += 1
        assert codes == {"A0210": 40, "A0240": 40, "00000": 40}


def test_names_that_log_in_earn_their_address_room(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_address="3/minute") as gatehouse:
        for name in office(gatehouse, 10):
            assert gatehouse.login(name, address=OFFICE).status == 200
        assert spray(gatehouse, 14) == ["A0210"] * 13 + ["A0502"]
        assert spray(gatehouse, 4, "198.51.100.7") == ["A0210"] * 3 + ["A0502"], "no other address has it"
        gatehouse.clock.move(float(gatehouse.login(address=OFFICE).headers["retry-after"]))
        assert gatehouse.login(address=OFFICE).status == 200


def test_room_has_an_end(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_address="1/minute") as gatehouse:
        for name in office(gatehouse, 20):
            assert gatehouse.login(name, address=OFFICE).status == 200
        assert spray(gatehouse, 12).count("A0210") == 11, "ten times the limit, and the limit itself"


def test_one_account_buys_no_guesses(tmp_path: Path) -> None:
    """However often an attacker logs in to an own account, in a row or at once."""
    with InProcess(tmp_path / "data", limits="on", limit_login_address="10/minute", hash_queue=100) as gatehouse:

        async def own_logins() -> list[Answer]:
            return await asyncio.gather(*(gatehouse.attempt(address=OFFICE) for _ in range(20)))

        assert spray(gatehouse, 9) == ["A0210"] * 9
        assert {answer.status for answer in gatehouse.run(own_logins())} == {200}
        guesses = []
        for _ in range(10):
            guesses += spray(gatehouse, 1)
            gatehouse.login(address=OFFICE)
        left, room = 1, 1
        assert guesses.count("A0210") == left + GIVEN_BACK + room


def guesses_at_once(gatehouse: InProcess, number: int) -> list[str]:
    """None is judged before all have been let in: then none of them is refused for the failures of the others."""
    hashes = gatehouse.service.hash_pool
    arrived, all_in, check = itertools.count(1), asyncio.Event(), hashes.check

    async def together(stored: str, password: str) -> PasswordCheck:
        if next(arrived) == number:
            all_in.set()
        await all_in.wait()
        return await check(stored, password)

    async def storm() -> list[Answer]:
        return await asyncio.gather(*(gatehouse.attempt(f"nobody {n}", address=OFFICE) for n in range(number)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashes, "check", together)
        return [answer.code for answer in gatehouse.run(storm())]


def test_guesses_at_once_are_all_paid_for_and_the_wait_is_true(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_address="3/minute") as gatehouse:
        assert guesses_at_once(gatehouse, 8) == ["A0210"] * 8
        refused = gatehouse.login(address=OFFICE)
        assert refused.code == "A0502"
        wait = int(refused.headers["retry-after"])
        assert wait == 20 * (8 - 3 + 1)
        gatehouse.clock.move(wait - 1)
        assert gatehouse.login(address=OFFICE).code == "A0502"
        gatehouse.clock.move(1)
        assert gatehouse.login(address=OFFICE).status == 200


def test_nobody_waits_for_an_address_longer_than_15_minutes(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_address="1/minute", hash_queue=100) as gatehouse:
        guesses_at_once(gatehouse, 40)
        assert int(gatehouse.login(address=OFFICE).headers["retry-after"]) == 900


def test_the_message_says_how_long_to_wait(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_address="1/minute") as gatehouse:
        spray(gatehouse, 1)
        english = gatehouse.login(address=OFFICE)
        chinese = gatehouse.login(address=OFFICE, headers={"Accept-Language": "zh-CN"})
        assert english.json["msg"] == "Too many requests, try again in 60 seconds"
        assert chinese.json["msg"] == "请求过于频繁，请在 60 秒 后重试"


@pytest.mark.parametrize("without", [{"captchaCode": "zzzz"}, {"captchaCode": "123456"}, {"captchaId": "made up"}, {}])
def test_who_solves_no_captcha_keeps_nobody_out_who_does(tmp_path: Path, without: dict[str, str]) -> None:
    """At the same address: wrong pictures, codes in their place, made-up ids, and forged tickets of QR codes."""
    with InProcess(tmp_path / "data", limits="on", limit_login_address="3/minute") as gatehouse:
        for n in range(6):
            if without:
                codes = [gatehouse.login(f"nobody {n}", address=OFFICE, changes=without).code]
            else:
                forged = {"ticket": "forged"}
                codes = [gatehouse.request("POST", "/api/v1/auth/qr-code/login", body=forged, address=OFFICE).code]
        assert codes == ["A0502"]
        assert gatehouse.login(address=OFFICE).status == 200


def test_an_address_that_must_wait_cannot_try_one_picture_again_and_again(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_address="1/minute") as gatehouse:
        assert gatehouse.login(address=OFFICE, changes={"captchaCode": "zzzz"}).code == "A0240"
        picture = gatehouse.service.captcha_challenges.issue(gatehouse.clock())
        wrong = {"captchaId": picture.id, "captchaCode": "zzzz"}
        assert gatehouse.login(address=OFFICE, changes=wrong).code == "A0502"
        again = gatehouse.login(address="198.51.100.7", changes={"captchaId": picture.id})
        assert again.code == "A0242", "the refused try has used it up"

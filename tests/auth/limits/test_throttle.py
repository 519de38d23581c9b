"""Limits, with the clock in our hand: what counts, what waits, and who cannot lock out whom."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from gatehouse.auth.passwords.hash_pool import HashPool
from gatehouse.auth.passwords.hashing import PasswordCheck
from gatehouse.stores.database.users import UserChange
from tests.support.inprocess import Answer, InProcess
from tests.support.running import PASSWORD
from tests.support.waiting import async_wait_until

pytestmark = [pytest.mark.usefixtures("engines"), pytest.mark.every_engine]


@pytest.fixture
def gatehouse(tmp_path: Path) -> Iterator[InProcess]:
    with InProcess(
        tmp_path / "data",
        limits="on",
        limit_login_address="1000/minute",
        limit_login_name="5/5minutes",
        limit_captcha_address="20/minute",
        limit_refresh_address="10/minute",
        hash_queue=500,
    ) as running:
        yield running


def fail(gatehouse: InProcess, times: int, username: str = "admin", address: str = "203.0.113.9") -> list[Answer]:
    return [gatehouse.login(username, "wrong", address=address) for _ in range(times)]


@pytest.mark.parametrize("username", ["admin", "nobody"])
def test_a_name_must_wait_whether_it_exists_or_not(gatehouse: InProcess, username: str) -> None:
    answers = fail(gatehouse, 6, username)
    assert [answer.code for answer in answers] == ["A0210"] * 5 + ["A0211"]
    assert answers[-1].status == 429
    assert answers[-1].headers["retry-after"] == "30"


def test_waiting_grows_and_is_capped_at_15_minutes(gatehouse: InProcess) -> None:
    fail(gatehouse, 4)
    waits = []
    for _ in range(9):
        fail(gatehouse, 1)
        waits.append(int(fail(gatehouse, 1)[0].headers["retry-after"]))
        gatehouse.clock.move(waits[-1])
    assert waits == [30, 60, 120, 240, 480, 900, 900, 900, 900]


def test_even_the_right_password_waits_and_being_refused_is_not_counted(gatehouse: InProcess) -> None:
    fail(gatehouse, 5)
    for _ in range(20):
        assert gatehouse.login(address="203.0.113.9").code == "A0211"
    gatehouse.clock.move(30)
    assert gatehouse.login(address="203.0.113.9").status == 200


def test_success_resets_the_name(gatehouse: InProcess) -> None:
    for _ in range(3):
        assert Counter(answer.code for answer in fail(gatehouse, 4)) == {"A0210": 4}
        assert gatehouse.login(address="203.0.113.9").status == 200


def test_an_attacker_elsewhere_does_not_lock_the_owner_out_at_home(gatehouse: InProcess) -> None:
    assert gatehouse.login(address="198.51.100.7").status == 200
    for number in range(12):
        fail(gatehouse, 1, address=f"203.0.113.{number}")
    assert gatehouse.login(address="203.0.113.200").code == "A0211", "every other address shares one count"
    assert gatehouse.login(address="198.51.100.7").status == 200
    assert gatehouse.login(address="203.0.113.200").code == "A0211", "what happens at home unlocks nothing elsewhere"


def test_parallel_wrong_guesses_count_as_many_as_they_are(gatehouse: InProcess) -> None:
    async def storm() -> list[Answer]:
        return await asyncio.gather(*(gatehouse.attempt("admin", "wrong", address="203.0.113.9") for _ in range(20)))

    answers = gatehouse.run(storm())
    assert Counter(answer.code for answer in answers) == {"A0210": 5, "A0211": 15}


def test_a_burst_that_holds_the_right_guess_learns_no_more_than_a_row_of_guesses(
    gatehouse: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    check, lockout = HashPool.check, gatehouse.service.lockout

    async def right_one_last(pool: HashPool, stored: str, password: str) -> PasswordCheck:
        if password == PASSWORD:
            await async_wait_until(lockout.locked_names, "the wrong guesses lock the name")
        return await check(pool, stored, password)

    monkeypatch.setattr(HashPool, "check", right_one_last)

    async def storm() -> list[Answer]:
        wrong = [gatehouse.attempt("admin", f"wrong {n}", address="203.0.113.9") for n in range(30)]
        return await asyncio.gather(*wrong, gatehouse.attempt("admin", PASSWORD, address="203.0.113.9"))

    answers = gatehouse.run(storm())
    assert answers[-1].code == "A0211"


def test_parallel_correct_logins_all_succeed(gatehouse: InProcess) -> None:
    async def storm() -> list[Answer]:
        return await asyncio.gather(*(gatehouse.attempt(address="203.0.113.9") for _ in range(20)))

    assert {answer.status for answer in gatehouse.run(storm())} == {200}


def spray(gatehouse: InProcess, times: int, address: str = "203.0.113.9") -> list[str]:
    """Wrong passwords, each for another name."""
    return [gatehouse.login(f"nobody {n}", "wrong", address=address).code for n in range(times)]


def test_logins_by_address(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_address="3/minute") as gatehouse:
        assert spray(gatehouse, 3) == ["A0210"] * 3
        refused = gatehouse.login(address="203.0.113.9")
        assert (refused.status, refused.code) == (429, "A0502")
        assert int(refused.headers["retry-after"]) == 20
        assert gatehouse.login(address="203.0.113.10").status == 200
        gatehouse.clock.move(20)
        assert gatehouse.login(address="203.0.113.9").status == 200


def test_a_success_does_not_reset_the_address(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_address="9/minute") as gatehouse:
        assert spray(gatehouse, 8) == ["A0210"] * 8
        assert gatehouse.login(address="203.0.113.9").status == 200
        assert spray(gatehouse, 6) == ["A0210"] * 5 + ["A0502"], "three were given back, and room for one was earned"


def test_logins_of_all_together(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_total="4/minute") as gatehouse:
        answers = [gatehouse.login(address=f"203.0.113.{n}") for n in range(5)]
        assert [answer.code for answer in answers] == ["00000"] * 4 + ["A0502"]


def test_ipv6_counts_by_its_64(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_address="2/minute") as gatehouse:
        for host in ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9"):
            assert spray(gatehouse, 1, host) == ["A0210"]
        assert gatehouse.login(address="2001:db8:1:2::abc").code == "A0502"
        assert gatehouse.login(address="2001:db8:1:3::1").status == 200


def test_no_address_is_one_shared_bucket_and_no_free_pass(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_address="2/minute") as gatehouse:
        assert spray(gatehouse, 3, "") == ["A0210", "A0210", "A0502"]


def test_captchas_by_address(gatehouse: InProcess) -> None:
    answers = [gatehouse.request("GET", "/api/v1/auth/captcha", address="203.0.113.9") for _ in range(21)]
    assert [answer.status for answer in answers] == [200] * 20 + [429]
    assert answers[-1].code == "A0502"
    assert gatehouse.request("GET", "/api/v1/auth/captcha", address="203.0.113.10").status == 200


def test_refreshes_by_address(gatehouse: InProcess) -> None:
    token = gatehouse.login().data["refreshToken"]
    for _ in range(30):
        token = gatehouse.refresh(token).data["refreshToken"]
    assert [gatehouse.refresh("made up").code for _ in range(11)] == ["A0231"] * 10 + ["A0502"]
    assert gatehouse.refresh(token).status == 200, "who has a session does not wait for who has none"
    gatehouse.clock.move(6)
    assert gatehouse.refresh("made up").code == "A0231"


def test_forged_forwarding_headers_change_nothing(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_address="2/minute") as gatehouse:
        codes = [
            gatehouse.login("nobody", address="203.0.113.9", headers={"X-Forwarded-For": f"198.51.100.{n}"}).code
            for n in range(3)
        ]
        assert codes == ["A0210", "A0210", "A0502"]


def test_a_trusted_proxy_tells_the_address_and_only_its_last_hop_counts(tmp_path: Path) -> None:
    with InProcess(
        tmp_path / "data", limits="on", limit_login_address="2/minute", trusted_proxies="10.0.0.0/8"
    ) as gatehouse:

        def through(forwarded: str, name: str = "X-Forwarded-For") -> str:
            return gatehouse.login("nobody", address="10.1.2.3", headers={name: forwarded}).code

        assert [through("198.51.100.1"), through("6.6.6.6, 198.51.100.1, 10.9.9.9")] == ["A0210", "A0210"]
        assert through("7.7.7.7, 198.51.100.1") == "A0502", "what the client wrote itself is passed over"
        assert through("198.51.100.2") == "A0210"
        assert through('for="[2001:db8::1]:4711";proto=https, for=10.0.0.5', "Forwarded") == "A0210"


def test_changing_the_password_is_guessed_at_no_faster_than_at_login(gatehouse: InProcess) -> None:
    token = gatehouse.login(address="203.0.113.9").data["accessToken"]
    body = {"currentPassword": "wrong", "newPassword": "a quite new password"}
    codes = [
        gatehouse.request("PUT", "/api/v1/users/me/password", token=token, body=body, address="203.0.113.9").code
        for _ in range(6)
    ]
    assert codes == ["A0210"] * 5 + ["A0211"]


def test_beside_a_trusted_proxy_strangers_are_still_not_believed(tmp_path: Path) -> None:
    with InProcess(
        tmp_path / "data", limits="on", limit_login_address="2/minute", trusted_proxies="10.0.0.0/8"
    ) as gatehouse:
        codes = [
            gatehouse.login("nobody", address="203.0.113.9", headers={"X-Forwarded-For": f"198.51.100.{n}"}).code
            for n in range(3)
        ]
        assert codes == ["A0210", "A0210", "A0502"]


def test_made_up_captchas_use_up_nothing_that_all_share(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_total="4/minute") as gatehouse:
        for n in range(20):
            made_up = {"captchaId": f"00000000-0000-4000-8000-{n:012}"}
            assert gatehouse.login(address=f"2001:db8:{n}::1", changes=made_up).code == "A0242"
            assert gatehouse.login(address=f"2001:db8:{n}::1", changes={"captchaCode": "zzzz"}).code == "A0240"
        assert [gatehouse.login(address=f"203.0.113.{n}").code for n in range(5)] == ["00000"] * 4 + ["A0502"]


def test_a_name_that_needs_no_captcha_uses_up_nothing_that_all_share(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_total="2/minute", hash_queue=500) as gatehouse:
        gatehouse.run(gatehouse.accounts.edit_user("admin", UserChange(captcha_exempt=True)))
        for n in range(6):
            without = {"captchaId": "", "captchaCode": ""}
            assert gatehouse.login(address=f"198.51.100.{n}", password="wrong", changes=without).code == "A0210"
        assert gatehouse.login("nobody", address="203.0.113.9").code == "A0210"


@pytest.mark.parametrize(("network", "times"), [("2001:db8:1:2{:02x}::1", 4), ("2001:db8:1:{:02x}00::1", 16)])
def test_a_wider_ipv6_network_is_counted_too(tmp_path: Path, network: str, times: int) -> None:
    """All of one /56, then one of each /56 in a /48: what one customer of a provider may hold."""
    with InProcess(tmp_path / "data", limits="on", limit_login_address="1/minute", hash_queue=500) as gatehouse:
        codes = [gatehouse.login(f"nobody {n}", address=network.format(n)).code for n in range(times + 1)]
        assert codes[-1] == "A0502"
        assert "A0502" not in codes[:-1]
        assert gatehouse.login(address="2001:db8:2::1").status == 200, "another customer"


def test_one_64_does_not_use_up_what_its_neighbours_have(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_address="1/minute") as gatehouse:
        spray(gatehouse, 20, "2001:db8:1:200::1")
        assert gatehouse.login(address="2001:db8:1:201::1").status == 200


def test_captchas_and_refreshes_count_wider_ipv6_networks_too(tmp_path: Path) -> None:
    with InProcess(
        tmp_path / "data", limits="on", limit_captcha_address="1/minute", limit_refresh_address="1/minute"
    ) as gatehouse:
        hosts = [f"2001:db8:1:{n:02x}::1" for n in range(5)]
        captchas = [gatehouse.request("GET", "/api/v1/auth/captcha", address=host).code for host in hosts]
        assert captchas == ["00000"] * 4 + ["A0502"]
        body = {"refreshToken": "x"}
        refreshes = [
            gatehouse.request("POST", "/api/v1/auth/refresh-token", body=body, address=host).code for host in hosts
        ]
        assert refreshes == ["A0231"] * 4 + ["A0502"]

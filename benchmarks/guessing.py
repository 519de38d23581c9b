"""How many guesses get through in a day? As fast as the limits allow, with the clock moved.

    python -m benchmarks.guessing

The guesser solves every captcha (the worst case), guesses from 1 and from 1,000 addresses, and waits exactly as long as
it is told to. Counted is what reached a verdict; the real owner logs in from home all the while.

Then the same guesser knows the password and guesses the code of the second factor, in the captcha field.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from gatehouse.common import logs
from tests.support.factors import enrol
from tests.support.inprocess import InProcess

DAY = 86_400
HOME = "198.51.100.7"
ACCEPTED_CODES = 3  # at any time: the current time step and one to either side


def guess_for_a_day(addresses: list[str]) -> tuple[int, int, int]:
    """Guesses that reached a verdict, guesses that were refused, and logins of the owner that failed."""
    with tempfile.TemporaryDirectory() as folder, InProcess(Path(folder), limits="on") as gatehouse:
        assert gatehouse.login(address=HOME).status == 200
        ends, verdicts, refused, locked_out, turn = gatehouse.clock() + DAY, 0, 0, 0, 0
        next_login = gatehouse.clock() + 3600
        while gatehouse.clock() < ends:
            turn += 1
            answer = gatehouse.login("admin", f"guess {turn}", address=addresses[turn % len(addresses)])
            if answer.status == 400:
                verdicts += 1
            else:
                refused += 1
                gatehouse.clock.move(float(answer.headers["retry-after"]))
            if gatehouse.clock() >= next_login:
                locked_out += gatehouse.login(address=HOME).status != 200
                next_login += 3600
        return verdicts, refused, locked_out


def guess_codes_for_a_day(addresses: list[str]) -> tuple[int, int, int]:
    """The same for codes, with the right password: codes that were judged, refused, and owner's logins that failed."""
    with tempfile.TemporaryDirectory() as folder, InProcess(Path(folder), limits="on") as gatehouse:
        token = gatehouse.login(address=HOME).data["accessToken"]
        app, _ = enrol(lambda *words: _ask(gatehouse, token, *words), gatehouse.clock)
        ends, judged, refused, locked_out, turn = gatehouse.clock() + DAY, 0, 0, 0, 0
        next_login = gatehouse.clock() + 3600
        while gatehouse.clock() < ends:
            turn += 1
            guess = {"captchaCode": app.wrong()}  # a lucky one would end the count
            answer = gatehouse.login(changes=guess, address=addresses[turn % len(addresses)])
            if answer.status == 400:
                judged += 1
            else:
                refused += 1
                gatehouse.clock.move(float(answer.headers["retry-after"]))
            if gatehouse.clock() >= next_login:
                locked_out += gatehouse.login(changes={"captchaCode": app.code()}, address=HOME).status != 200
                next_login += 3600
        return judged, refused, locked_out


def _ask(gatehouse: InProcess, token: str, method: str, path: str, body: object) -> dict[str, Any]:
    return gatehouse.request(method, path, body=body, token=token).data


def main() -> None:
    logs.configure("error", "json")
    for count in (1, 1000):
        addresses = [f"203.0.{n // 250}.{n % 250 + 1}" for n in range(count)]
        verdicts, refused, locked_out = guess_for_a_day(addresses)
        print(f"{count:5} addresses: {verdicts} guesses in a day, {refused} refused; owner refused {locked_out} of 24")
    for count in (1, 1000):
        addresses = [f"203.0.{n // 250}.{n % 250 + 1}" for n in range(count)]
        judged, refused, locked_out = guess_codes_for_a_day(addresses)
        chance = 1 - (1 - ACCEPTED_CODES / 10**6) ** judged
        print(
            f"{count:5} addresses, password known: {judged} codes in a day, {refused} refused; a chance of"
            f" {chance:.3%}; owner refused {locked_out} of 24"
        )


if __name__ == "__main__":
    main()

"""What does spraying get: one guess for each of many names, for an hour, as fast as the limits allow, the clock moved.

    python -m benchmarks.spraying

The attacker solves every captcha (the worst case), comes from one or from ten addresses, one guess after the other or
60 at once, and waits exactly as long as it is told to. Then with an own account, which it logs in to before each guess;
then from the address of an office of 400 people who have all logged in from there. Counted is what reached a verdict.

Names are so many that none is locked, but in the last case. Hashes are cheap here: only the limits are measured.
"""

from __future__ import annotations

import asyncio
import heapq
import tempfile
from pathlib import Path

from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.common import logs
from gatehouse.stores.database.users import NewUser
from tests.support import hash_cost
from tests.support.inprocess import Answer, InProcess
from tests.support.running import PASSWORD

HOUR = 3_600
MANY_NAMES = 20_000
OFFICE_PEOPLE = 400
SECONDS_BETWEEN_LOGINS = 2.5


class Sprayer:
    def __init__(self, gatehouse: InProcess, names: int) -> None:
        self._gatehouse = gatehouse
        self._names = names
        self._turn = 0
        self.verdicts = 0

    def spray(self, addresses: int, at_once: int = 1, *, own_account: bool = False) -> None:
        clock = self._gatehouse.clock
        ends = clock() + HOUR
        ready = [(clock(), f"203.0.113.{number + 1}") for number in range(addresses)]
        while ready[0][0] < ends:
            moment, address = heapq.heappop(ready)
            clock.now = max(moment, clock())
            if own_account:
                self._gatehouse.login(address=address)
            answers = self._gatehouse.run(self._guesses(address, at_once))
            self.verdicts += sum(answer.code == "A0210" for answer in answers)
            waits = [float(answer.headers["retry-after"]) for answer in answers if answer.code == "A0502"]
            locked = all(answer.code == "A0211" for answer in answers)  # not to ask all day at one moment
            heapq.heappush(ready, (clock() + max(waits, default=float(locked)), address))

    async def _guesses(self, address: str, number: int) -> list[Answer]:
        names = [f"name {(self._turn + n) % self._names}" for n in range(number)]
        self._turn += number
        return await asyncio.gather(*(self._gatehouse.attempt(name, "guess", address=address) for name in names))


def fill_office(gatehouse: InProcess) -> None:
    hashed = hash_password(PASSWORD)
    for number in range(OFFICE_PEOPLE):
        user = NewUser(f"person{number}", f"Person {number}", hashed, 1, 0)
        gatehouse.run(gatehouse.service.accounts.add_user(user))
        assert gatehouse.login(user.username, address="203.0.113.1").status == 200
        gatehouse.clock.move(SECONDS_BETWEEN_LOGINS)


def main() -> None:
    logs.configure("error", "json")
    hash_cost.lower()
    for what, names, addresses, at_once, own_account, office in (
        ("one address", MANY_NAMES, 1, 1, False, False),
        ("one address, 60 guesses at once", MANY_NAMES, 1, 60, False, False),
        ("one address, with an own account", MANY_NAMES, 1, 1, True, False),
        ("the address of an office", MANY_NAMES, 1, 1, False, True),
        ("ten addresses", MANY_NAMES, 10, 1, False, False),
        ("ten addresses, 100 names", 100, 10, 1, False, False),
    ):
        with tempfile.TemporaryDirectory() as folder, InProcess(Path(folder), limits="on") as gatehouse:
            if office:
                fill_office(gatehouse)
            sprayer = Sprayer(gatehouse, names)
            sprayer.spray(addresses, at_once, own_account=own_account)
            print(f"{what:34} {sprayer.verdicts:6} guesses in an hour", flush=True)


if __name__ == "__main__":
    main()

"""The checker can fail: each promise is broken once on paper, and it sees it. And it lets pass what is allowed."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from tests.faults.checker import check
from tests.faults.history import Operation, Outcome, What

_clock = count(1)


def did(
    what: What, outcome: Outcome = Outcome.OK, *, at: tuple[float, float] | None = None, **facts: object
) -> Operation:
    """One operation, after all those before it unless `at` says when."""
    tick = float(next(_clock))
    start, end = at or (tick, tick + 0.5)
    known = {"user": "ann", "session": "" if what is What.CHANGE else "7-a", **facts}
    return Operation(0, what, start=start, end=end, outcome=outcome, **known)  # type: ignore[arg-type]


def login(**facts: Any) -> Operation:
    return did(What.LOGIN, given=f"captcha {next(_clock)}", **facts)


REFUSED, UNKNOWN = Outcome.REFUSED, Outcome.UNKNOWN

BROKEN = {
    "me after logout": lambda: [login(), did(What.LOGOUT), did(What.ME)],
    "refresh after logout": lambda: [login(), did(What.LOGOUT), did(What.REFRESH, given="t1", got="t2")],
    "logout twice": lambda: [login(), did(What.LOGOUT), did(What.LOGOUT)],
    "me after reuse was answered": lambda: [login(), did(What.REUSE, REFUSED), did(What.ME)],
    "two successors": lambda: [
        login(), did(What.REFRESH, given="t1", got="t2"), did(What.REFRESH, given="t1", got="t3"),
    ],
    "a login that does not work": lambda: [login(), did(What.ME, REFUSED, code="A0230")],
    "a session lost on the way": lambda: [login(), did(What.ME), did(What.REFRESH, REFUSED, given="t1")],
    "a refused logout of a living session": lambda: [login(), did(What.LOGOUT, REFUSED)],
    "a change that is not there": lambda: [did(What.CHANGE, version=3), login(), did(What.ME, version=2)],
    "a change that went away again": lambda: [
        did(What.CHANGE, version=1), login(), did(What.ME, version=1), did(What.ME, version=0),
    ],
    "a change that nobody made": lambda: [login(), did(What.ME, version=5)],
    "a captcha used twice": lambda: [
        did(What.LOGIN, given="same"), did(What.LOGIN, given="same", session="7-b"),
    ],
    "an unforeseen error": lambda: [did(What.ME, Outcome.FAULT, code="B0001")],
}  # fmt: skip

ALLOWED = {
    "an ordinary life": lambda: [
        login(), did(What.ME), did(What.REFRESH, given="t1", got="t2"), did(What.ME), did(What.LOGOUT),
        did(What.ME, REFUSED),
    ],
    "racers converge": lambda: [
        login(), did(What.REFRESH, given="t1", got="t2"), did(What.REFRESH, given="t1", got="t2"),
    ],
    "a request that overlaps a logout": lambda: [
        login(), did(What.LOGOUT, at=(1000, 1010)),
        did(What.ME, at=(1009, 1020)), did(What.ME, REFUSED, at=(1001, 1002)),
    ],
    "a lost logout that was carried out": lambda: [login(), did(What.LOGOUT, UNKNOWN), did(What.ME, REFUSED)],
    "a lost logout that was not": lambda: [login(), did(What.LOGOUT, UNKNOWN), did(What.ME)],
    "a session that was left": lambda: [login(), did(What.LEAVE, UNKNOWN), did(What.ME, REFUSED)],
    "a lost change that shows": lambda: [did(What.CHANGE, UNKNOWN, version=1), login(), did(What.ME, version=1)],
    "a lost change that does not": lambda: [did(What.CHANGE, UNKNOWN, version=1), login(), did(What.ME, version=0)],
    "an answer that never came": lambda: [login(), did(What.ME, UNKNOWN), did(What.REFRESH, UNKNOWN, given="t1")],
    "another session of the same user": lambda: [
        login(), login(session="7-b"), did(What.LOGOUT), did(What.ME, session="7-b"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_promise_is_seen(name: str) -> None:
    found = check(BROKEN[name]())
    assert len(found) == 1, found


@pytest.mark.parametrize("name", ALLOWED)
def test_what_is_allowed_passes(name: str) -> None:
    assert check(ALLOWED[name]()) == []


def test_the_promises_seen_broken_are_all_there_are() -> None:
    seen = {violation.promise for name in BROKEN for violation in check(BROKEN[name]())}
    assert len(seen) == 7, "a promise that the checker holds is not planted above"

"""Reads a history and names every promise that was broken. A pure function: the same history, the same verdict.

Two operations are in order only if one had ended before the other started; whatever overlapped may have happened
either way round. What is unknown may have happened, at any time after its start, or not at all.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tests.faults.history import Operation, Outcome, What

ON_A_SESSION = {What.ME, What.REFRESH, What.LOGOUT}
ENDS_A_SESSION = {What.LOGOUT, What.REUSE, What.LEAVE}


class Violation(NamedTuple):
    promise: str
    operation: Operation
    because: Operation | None = None


def check(history: Sequence[Operation]) -> list[Violation]:
    sessions: dict[str, list[Operation]] = defaultdict(list)
    users: dict[str, list[Operation]] = defaultdict(list)
    for operation in history:
        if operation.session:
            sessions[operation.session].append(operation)
        users[operation.user].append(operation)
    found = [*_no_faults(history), *_captchas_are_used_once(history), *_one_successor(history)]
    for operations in sessions.values():
        found += [*_nothing_after_the_end(operations), *_a_login_works_until_it_is_ended(operations)]
    for operations in users.values():
        found += _changes_stay(operations)
    return found


def _no_faults(history: Sequence[Operation]) -> Iterator[Violation]:
    for operation in history:
        if operation.outcome is Outcome.FAULT:
            yield Violation("every answer is one that the contract knows", operation)


def _captchas_are_used_once(history: Sequence[Operation]) -> Iterator[Violation]:
    used: dict[str, Operation] = {}
    for operation in history:
        if operation.what is What.LOGIN and operation.outcome is Outcome.OK:
            if operation.given in used:
                yield Violation("a captcha opens one login", operation, used[operation.given])
            used[operation.given] = operation


def _one_successor(history: Sequence[Operation]) -> Iterator[Violation]:
    successor: dict[str, Operation] = {}
    for operation in history:
        if operation.what is What.REFRESH and operation.outcome is Outcome.OK:
            first = successor.setdefault(operation.given, operation)
            if first.got != operation.got:
                yield Violation("a refresh token has one successor", operation, first)


def _nothing_after_the_end(session: Sequence[Operation]) -> Iterator[Violation]:
    ends = [operation for operation in session if _has_ended(operation)]
    if not ends:
        return
    ended = min(ends, key=lambda operation: operation.end)
    for operation in session:
        if operation.what in ON_A_SESSION and operation.outcome is Outcome.OK and operation.start > ended.end:
            yield Violation("nothing is accepted on a session after its end was answered", operation, ended)


def _has_ended(operation: Operation) -> bool:
    if operation.what is What.LOGOUT:
        return operation.outcome is Outcome.OK
    return operation.what is What.REUSE and operation.outcome is Outcome.REFUSED


def _a_login_works_until_it_is_ended(session: Sequence[Operation]) -> Iterator[Violation]:
    login = next((one for one in session if one.what is What.LOGIN and one.outcome is Outcome.OK), None)
    if login is None:
        return
    for operation in session:
        if operation.what not in ON_A_SESSION or operation.outcome is not Outcome.REFUSED:
            continue
        earliest_end = min(
            (one.start for one in session if one.what in ENDS_A_SESSION and one is not operation), default=math.inf
        )
        if operation.end < earliest_end:
            yield Violation("a session works until somebody ends it", operation, login)


def _changes_stay(user: Sequence[Operation]) -> Iterator[Violation]:
    changes = [one for one in user if one.what is What.CHANGE and one.outcome is not Outcome.REFUSED]
    for operation in user:
        if operation.what is not What.ME or operation.outcome is not Outcome.OK:
            continue
        acknowledged = [one for one in changes if one.outcome is Outcome.OK and one.end < operation.start]
        newest = max(acknowledged, key=lambda one: one.version, default=None)
        if newest is not None and operation.version < newest.version:
            yield Violation("an acknowledged change shows on the next request", operation, newest)
        begun = max((one.version for one in changes if one.start < operation.end), default=0)
        if operation.version > begun:
            yield Violation("nobody sees what nobody wrote", operation)

"""What happened, as the clients saw it: every operation with its start, its end and its outcome."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import NamedTuple


class What(StrEnum):
    LOGIN = "login"
    ME = "me"
    REFRESH = "refresh"
    LOGOUT = "logout"
    REUSE = "reuse"  # a refresh token two generations old is presented: the session must end
    LEAVE = "leave"  # the client can no longer know what becomes of the session, and says nothing more about it
    CHANGE = "change"  # an account is changed


class Outcome(StrEnum):
    OK = "ok"
    REFUSED = "refused"  # a definite no
    UNKNOWN = "unknown"  # no answer, or one that says: nothing may be assumed
    FAULT = "fault"  # an answer that the contract does not know


class Operation(NamedTuple):
    client: int
    what: What
    user: str
    session: str
    start: float
    end: float
    outcome: Outcome
    code: str = ""
    given: str = ""  # a refresh token or a captcha
    got: str = ""  # a refresh token
    version: int = 0  # of the account: what was written, or what was seen


class History:
    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self._began = time.monotonic()

    def now(self) -> float:
        return time.monotonic() - self._began

    def add(self, operation: Operation) -> None:
        self.operations.append(operation)

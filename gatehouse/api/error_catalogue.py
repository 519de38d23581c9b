"""The catalogue of errors: one row each, from what happened to HTTP status and code.

Codes are part of the contract: rows are added, never renamed. Their first letter says whose fault it is: A the
caller's, B ours, C that of something which is not there or cannot be reached. Consoles react to A0230 (log in again)
and A0231 (refresh no more). What the log says and what the caller reads are two things; nothing of an exception's own
text reaches the caller. The sentences are in `messages/`, under the name of the exception.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from gatehouse.auth import refusals
from gatehouse.auth.refusals import (
    PASSWORD_MAX,
    PASSWORD_MIN,
    ApplicationFieldInvalid,
    BeyondAuthority,
    EnrolmentRequired,
    FieldInvalid,
    FieldMissing,
    PasskeyRequired,
    PasswordRefused,
    Refused,
    RetryLater,
)
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.messages import Message, in_language, message
from gatehouse.messages.quantities import wait
from gatehouse.stores.errors import Duplicate, InUse, LastAdministrator, Missing, StoreUnavailable, UnstorableValue

SUCCESS = "00000"
STORE_RETRY_AFTER_SECONDS = 2
# A sentence with more names is not read.
NAMES_MAX = 8


class NoSuchPath(Refused):
    """There is no such path."""


class MethodNotAllowed(Refused):
    def __init__(self, allowed: str) -> None:
        super().__init__(f"allowed: {allowed}")
        self.allowed = allowed


class BodyUnreadable(Refused):
    """Not JSON or not an object, not the form that it claims to be, or not UTF-8."""


class BodyTooLarge(Refused):
    """More bytes than any request of the contract needs."""


class UnsupportedMediaType(Refused):
    """The media type says that the body is something that this operation does not take."""


class ErrorEntry(NamedTuple):
    status: int
    code: str
    message: str


_CODES: dict[type[Exception], tuple[int, str]] = {
    FieldMissing: (400, "A0410"),
    FieldInvalid: (400, "A0421"),
    refusals.ApplicationFieldInvalid: (400, "A0421"),
    UnstorableValue: (400, "A0421"),
    refusals.PasswordRefused: (400, "A0421"),
    BodyUnreadable: (400, "A0400"),
    BodyTooLarge: (413, "A0400"),
    UnsupportedMediaType: (415, "A0400"),
    refusals.CaptchaWrong: (400, "A0240"),
    refusals.CaptchaGone: (400, "A0242"),
    refusals.CredentialsWrong: (400, "A0210"),
    refusals.DirectoryPasswordExpired: (400, "A0210"),
    refusals.PasswordElsewhere: (403, "A0301"),
    refusals.CodeRequired: (400, "A0220"),
    refusals.EnrolmentRequired: (400, "A0220"),
    refusals.PasskeyRequired: (400, "A0220"),
    refusals.StrongerLoginRequired: (400, "A0220"),
    refusals.CodeProofRequired: (400, "A0220"),
    refusals.PasskeyProofRequired: (400, "A0220"),
    refusals.RecentLoginRequired: (400, "A0220"),
    refusals.TicketGone: (400, "A0242"),
    refusals.PasskeyRefused: (400, "A0210"),
    refusals.SecondFactorCodeWrong: (400, "A0220"),
    refusals.EnrolmentVoid: (400, "A0220"),
    refusals.OldPasswordWrong: (400, "A0210"),
    refusals.ConfirmationDiffers: (400, "A0421"),
    refusals.NameLocked: (429, "A0211"),
    refusals.TooManyRequests: (429, "A0502"),
    refusals.AccessTokenInvalid: (401, "A0230"),
    refusals.RefreshTokenInvalid: (401, "A0231"),
    refusals.AccessNeedsFactor: (401, "A0230"),
    refusals.RefreshNeedsFactor: (401, "A0231"),
    refusals.NotAllowed: (403, "A0301"),
    refusals.CannotGrant: (403, "A0301"),
    refusals.CannotManage: (403, "A0301"),
    refusals.OwnAccount: (403, "A0301"),
    LastAdministrator: (403, "A0301"),
    refusals.NoSuchSession: (404, "C0113"),
    refusals.NoSuchFactor: (404, "C0113"),
    refusals.AlreadyEnrolled: (409, "A0440"),
    Missing: (404, "C0113"),
    Duplicate: (409, "A0440"),
    InUse: (409, "A0440"),
    NoSuchPath: (404, "C0113"),
    MethodNotAllowed: (405, "C0113"),
    refusals.TooBusy: (503, "B0210"),
    StoreUnavailable: (503, "C0300"),
    SourceUnavailable: (503, "C0300"),
    Exception: (500, "B0001"),
}

CATALOGUE = {kind: ErrorEntry(status, code, f"errors.{kind.__name__}") for kind, (status, code) in _CODES.items()}


def entry_for(problem: Exception) -> ErrorEntry:
    for kind in type(problem).__mro__:
        if kind in CATALOGUE:
            return CATALOGUE[kind]
    return CATALOGUE[Exception]


def text_for(problem: Exception, entry: ErrorEntry, language: str) -> str:
    return in_language(message(entry.message, **_values(problem)), language)


def headers_for(problem: Exception, entry: ErrorEntry) -> list[tuple[str, str]]:
    headers = []
    if entry.status == 401:
        headers.append(("www-authenticate", "Bearer"))
    if isinstance(problem, EnrolmentRequired):
        headers.append(("enrolment-ticket", problem.ticket))
    if isinstance(problem, RetryLater):
        headers.append(("retry-after", str(max(1, math.ceil(problem.seconds)))))
    elif isinstance(problem, StoreUnavailable | SourceUnavailable):
        headers.append(("retry-after", str(STORE_RETRY_AFTER_SECONDS)))
    if isinstance(problem, MethodNotAllowed):
        headers.append(("allow", problem.allowed))
    return headers


def _values(problem: Exception) -> dict[str, object]:
    """What the sentence of a failure names."""
    if isinstance(problem, ApplicationFieldInvalid):
        return {"problem": problem.problem}
    if isinstance(problem, FieldMissing | FieldInvalid):
        return {"field": problem.field}
    if isinstance(problem, PasskeyRequired | EnrolmentRequired):
        return {"url": problem.login_url if isinstance(problem, PasskeyRequired) else problem.enrolment_url}
    if isinstance(problem, BeyondAuthority):
        return {"need": _need(problem)}
    if isinstance(problem, PasswordRefused):
        return {"problem": message(f"passwords.{problem.problem.name.lower()}", min=PASSWORD_MIN, max=PASSWORD_MAX)}
    return {"wait": wait(problem.seconds)} if isinstance(problem, RetryLater) else {}


def _need(problem: BeyondAuthority) -> Message:
    """What somebody lacks for a change that `management/authority.py` refuses, and who or what can give it."""
    more = ["…"] if len(problem.missing) > NAMES_MAX else []
    missing = " ".join([*problem.missing[:NAMES_MAX], *more])
    return message(f"needs.{problem.need.name.lower()}", missing=missing, role=problem.role)

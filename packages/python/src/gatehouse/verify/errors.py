"""The errors of a check, and their HTTP form: the envelope that the front ends already understand."""

from __future__ import annotations

import json
from typing import ClassVar

RETRY_SECONDS = 2


class VerifyError(Exception):
    """Base of every refusal. `str()` is for the log; the caller gets `msg` and nothing more."""

    status: ClassVar[int]
    code: ClassVar[str]
    msg: ClassVar[str]

    @property
    def headers(self) -> dict[str, str]:
        return {}

    @property
    def body(self) -> bytes:
        return json.dumps({"code": self.code, "msg": self.msg}).encode()


class TokenInvalid(VerifyError):
    """There is no token, or it is not valid."""

    status = 401
    code = "A0230"
    msg = "Please log in"

    def __init__(self, reason: str, *, presented: bool = True) -> None:
        super().__init__(reason)
        self._presented = presented

    @property
    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": 'Bearer error="invalid_token"' if self._presented else "Bearer"}


class Forbidden(VerifyError):
    """The token is good, and its user may not do this."""

    status = 403
    code = "A0301"
    msg = "Not allowed"

    @property
    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": 'Bearer error="insufficient_scope"'}


class Unavailable(VerifyError):
    """The service could not be reached: the request is refused with 503, and the user need not log in again."""

    status = 503
    code = "C0300"
    msg = "The service is not available, try again in a moment"

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(RETRY_SECONDS)}


class PermsUnknown(Exception):
    """A perm was asked of a check that knows only roles: a mistake in the program, not in the request.

    Access tokens carry roles, and perms if the service is set so. For perms use an `Introspector`, or tell the
    `Verifier` that tokens carry them (`perms_in_token=True`) or what roles give (`role_perms=`).
    """

"""The contract as a table: every operation under `/api/v1` with what it takes, returns and may refuse.

`app.py` routes by it and `openapi.py` describes it, so the two cannot differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gatehouse.api.contract.errors import BodyTooLarge, BodyUnreadable, NotJson
from gatehouse.api.contract.schemas import (
    CaptchaData,
    EndedData,
    LoginBody,
    PasswordBody,
    RefreshBody,
    SessionsData,
    TokenData,
    UserData,
)
from gatehouse.auth import refusals
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    import msgspec

PREFIX = "/api/v1"

_BODY = (refusals.FieldMissing, refusals.FieldInvalid, BodyUnreadable, BodyTooLarge, NotJson)
_STORES = (StoreUnavailable,)


class Operation(NamedTuple):
    """`name` is the method of the endpoints that answers it, and its label in the metrics."""

    name: str
    method: str
    path: str
    summary: str
    body: type[msgspec.Struct] | None = None
    body_required: bool = False
    query: tuple[str, ...] = ()
    data: type[msgspec.Struct] | None = None
    secured: bool = False
    refusals: tuple[type[Exception], ...] = ()


OPERATIONS = (
    Operation(
        "captcha",
        "GET",
        f"{PREFIX}/auth/captcha",
        "Get a captcha",
        data=CaptchaData,
        refusals=(refusals.TooManyRequests, refusals.TooBusy),
    ),
    Operation(
        "login",
        "POST",
        f"{PREFIX}/auth/login",
        "Log in by username, password and captcha",
        body=LoginBody,
        body_required=True,
        data=TokenData,
        refusals=(
            *_BODY,
            refusals.CaptchaWrong,
            refusals.CaptchaGone,
            refusals.CredentialsWrong,
            refusals.NameLocked,
            refusals.TooManyRequests,
            refusals.TooBusy,
            *_STORES,
        ),
    ),
    Operation(
        "refresh",
        "POST",
        f"{PREFIX}/auth/refresh-token",
        "Renew both tokens: the refresh token in the body (variant A) or in the query (variant B)",
        body=RefreshBody,
        query=("refreshToken",),
        data=TokenData,
        refusals=(*_BODY, refusals.RefreshTokenInvalid, refusals.TooManyRequests, *_STORES),
    ),
    *(
        Operation(
            "logout",
            method,
            f"{PREFIX}/auth/logout",
            f"End the session (variant {variant})",
            secured=True,
            refusals=(refusals.AccessTokenInvalid, *_STORES),
        )
        for method, variant in (("POST", "A"), ("DELETE", "B"))
    ),
    Operation(
        "me",
        "GET",
        f"{PREFIX}/users/me",
        "The user who is logged in",
        data=UserData,
        secured=True,
        refusals=(refusals.AccessTokenInvalid, *_STORES),
    ),
    Operation(
        "sessions",
        "GET",
        f"{PREFIX}/users/me/sessions",
        "The caller's sessions, newest first",
        data=SessionsData,
        secured=True,
        refusals=(refusals.AccessTokenInvalid, *_STORES),
    ),
    Operation(
        "end_other_sessions",
        "DELETE",
        f"{PREFIX}/users/me/sessions",
        "End all sessions of the caller but this one",
        data=EndedData,
        secured=True,
        refusals=(refusals.AccessTokenInvalid, *_STORES),
    ),
    Operation(
        "end_session",
        "DELETE",
        f"{PREFIX}/users/me/sessions/{{id}}",
        "End one session of the caller",
        secured=True,
        refusals=(refusals.AccessTokenInvalid, refusals.NoSuchSession, *_STORES),
    ),
    Operation(
        "change_password",
        "PUT",
        f"{PREFIX}/users/me/password",
        "Change the caller's password; the other sessions end",
        body=PasswordBody,
        body_required=True,
        secured=True,
        refusals=(
            *_BODY,
            refusals.PasswordRefused,
            refusals.CredentialsWrong,
            refusals.AccessTokenInvalid,
            refusals.NameLocked,
            refusals.TooBusy,
            *_STORES,
        ),
    ),
)

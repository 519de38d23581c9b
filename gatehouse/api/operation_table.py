"""The contract as a table: every operation under `/api/v1` with what it takes, returns, needs and may refuse.

`routes.py` routes by it and `openapi.py` describes it, so the two cannot differ. To add an operation: a row here, a
method in `endpoints/`, and its name in `endpoints()` there or in `routes.build_routes`. The console's calls are in
`contract/console/`, a file for each page. Variant A and B are the two ways in which consoles call the same operations:
see `variants.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.console import CONSOLE
from gatehouse.api.login import password_link_types, qr_login_types
from gatehouse.api.login.schemas import (
    CaptchaData,
    EndedData,
    LoginBody,
    PasswordBody,
    RefreshBody,
    RefreshQuery,
    SessionsData,
    TokenData,
    UserData,
)
from gatehouse.api.operation import (
    JSON,
    MULTIPART,
    PREFIX,
    STORE_REFUSALS,
    URLENCODED,
    Group,
    Limit,
    Operation,
)
from gatehouse.api.own_account import passkey_types, second_factor_types
from gatehouse.auth import refusals

if TYPE_CHECKING:
    from gatehouse.settings import Settings

__all__ = ["OPERATIONS", "PREFIX", "Operation", "operations"]

AUTH = (
    Operation(
        "captcha",
        "GET",
        f"{PREFIX}/auth/captcha",
        "Get a captcha",
        Group.AUTH,
        data=CaptchaData,
        limits=(Limit.CAPTCHA_ADDRESS,),
        refusals=(refusals.TooBusy,),
    ),
    Operation(
        "login",
        "POST",
        f"{PREFIX}/auth/login",
        "Log in by username, password and captcha",
        Group.AUTH,
        body=LoginBody,
        body_required=True,
        takes=(JSON, URLENCODED, MULTIPART),
        data=TokenData,
        limits=(Limit.LOGIN_ADDRESS, Limit.LOGIN_TOTAL, Limit.LOGIN_NAME),
        refusals=(
            refusals.CaptchaWrong,
            refusals.CaptchaGone,
            refusals.CredentialsWrong,
            refusals.CodeRequired,
            refusals.EnrolmentRequired,
            refusals.PasskeyRequired,
            refusals.TooBusy,
            *STORE_REFUSALS,
        ),
    ),
    Operation(
        "refresh",
        "POST",
        f"{PREFIX}/auth/refresh-token",
        "Renew both tokens: the refresh token in the body (variant A) or in the query (variant B)",
        Group.AUTH,
        body=RefreshBody,
        takes=(JSON, URLENCODED, MULTIPART),
        query=RefreshQuery,
        data=TokenData,
        limits=(Limit.REFRESH_ADDRESS,),
        refusals=(refusals.RefreshTokenInvalid, *STORE_REFUSALS),
    ),
    *(
        Operation(
            "logout",
            method,
            f"{PREFIX}/auth/logout",
            f"End the session (variant {variant})",
            Group.AUTH,
            requires_token=True,
            refusals=STORE_REFUSALS,
        )
        for method, variant in (("POST", "A"), ("DELETE", "B"))
    ),
    *second_factor_types.AUTH,
    *passkey_types.AUTH,
    *qr_login_types.AUTH,
    *password_link_types.AUTH,
)

OWN_ACCOUNT = (
    Operation(
        "me",
        "GET",
        f"{PREFIX}/users/me",
        "The user who is logged in",
        Group.OWN_ACCOUNT,
        data=UserData,
        requires_token=True,
        refusals=STORE_REFUSALS,
    ),
    Operation(
        "sessions",
        "GET",
        f"{PREFIX}/users/me/sessions",
        "The caller's sessions, newest first",
        Group.OWN_ACCOUNT,
        data=SessionsData,
        requires_token=True,
        refusals=STORE_REFUSALS,
    ),
    Operation(
        "end_other_sessions",
        "DELETE",
        f"{PREFIX}/users/me/sessions",
        "End all sessions of the caller but this one",
        Group.OWN_ACCOUNT,
        data=EndedData,
        requires_token=True,
        refusals=STORE_REFUSALS,
    ),
    Operation(
        "end_session",
        "DELETE",
        f"{PREFIX}/users/me/sessions/{{id}}",
        "End one session of the caller",
        Group.OWN_ACCOUNT,
        requires_token=True,
        refusals=(refusals.NoSuchSession, *STORE_REFUSALS),
    ),
    Operation(
        "change_password",
        "PUT",
        f"{PREFIX}/users/me/password",
        "Change the caller's password; the other sessions end",
        Group.OWN_ACCOUNT,
        body=PasswordBody,
        body_required=True,
        requires_token=True,
        limits=(Limit.LOGIN_NAME, Limit.PASSWORD_USER),
        refusals=(refusals.PasswordRefused, refusals.CredentialsWrong, refusals.TooBusy, *STORE_REFUSALS),
    ),
    *second_factor_types.OWN_ACCOUNT,
    *passkey_types.OWN_ACCOUNT,
)

OPERATIONS = (*AUTH, *OWN_ACCOUNT, *CONSOLE)


def operations(settings: Settings) -> tuple[Operation, ...]:
    """Those that this service answers."""
    return OPERATIONS if settings.console else (*AUTH, *OWN_ACCOUNT)

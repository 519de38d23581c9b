"""How a user gets in, for the administration page: password, link to set one, second factor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gatehouse.api.console.operation import console_operation
from gatehouse.api.login.schemas import Password  # noqa: TC001 - msgspec reads the types
from gatehouse.api.own_account.second_factor_types import SecondFactorData
from gatehouse.auth import refusals
from gatehouse.stores.errors import Missing

if TYPE_CHECKING:
    from gatehouse.api.operation import Operation


class NewPasswordBody(Struct):
    password: Password


class PasswordLinkData(Struct):
    """`url` sets the password, once, for anyone who opens it: give it to the user only."""

    url: str
    expiresAt: str


class FactorsResetData(Struct):
    removed: list[str]


def _operation(name: str, method: str, path: str, summary: str, perm: str, **more: Any) -> Operation:
    more["refusals"] = (refusals.FieldInvalid, *more.get("refusals", ()), Missing)
    return console_operation(name, method, path, summary, perm, **more)


OPERATIONS = (
    _operation(
        "set_user_password",
        "PUT",
        "users/{id}/password",
        "Set a user's password; its sessions end",
        "sys:user:reset-password",
        body=NewPasswordBody,
        body_required=True,
        refusals=(refusals.PasswordRefused, refusals.OwnAccount, refusals.CannotManage, refusals.TooBusy),
    ),
    _operation(
        "make_password_link",
        "POST",
        "users/{id}/password-link",
        "Make a link with which the user sets a password, once, within a day",
        "sys:user:reset-password",
        data=PasswordLinkData,
        refusals=(
            refusals.OwnAccount,
            refusals.CannotManage,
        ),
    ),
    _operation(
        "user_second_factor",
        "GET",
        "users/{id}/second-factor",
        "The second factors of a user",
        "sys:user:list",
        or_perms=("sys:user:update",),
        data=SecondFactorData,
    ),
    _operation(
        "reset_second_factor",
        "DELETE",
        "users/{id}/second-factor",
        "Remove all second factors of a user: the password alone logs in then",
        "sys:user:reset-password",
        data=FactorsResetData,
        refusals=(
            refusals.OwnAccount,
            refusals.CannotManage,
        ),
    ),
)

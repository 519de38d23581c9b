"""The console's page for one's own profile and password."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from gatehouse.api.login.schemas import Password  # noqa: TC001 - msgspec reads the annotations
from gatehouse.api.operation import PREFIX, STORE_REFUSALS, Group, Limit, Operation
from gatehouse.auth import refusals

Gender = Annotated[int | str, Meta(description="1 male, 2 female, 0 unknown; as a number or as text.")]


class ProfileData(Struct):
    id: str
    username: str
    nickname: str
    avatar: str
    gender: int
    mobile: str
    email: str
    deptName: str
    roleNames: Annotated[str, Meta(description="Joined by commas.")]
    createTime: str


class ProfileBody(Struct):
    """What is left out stays as it is."""

    nickname: Annotated[str, Meta(max_length=64)] | None = None
    avatar: Annotated[str, Meta(max_length=1024)] | None = None
    gender: Gender | None = None
    mobile: Annotated[str, Meta(max_length=32)] | None = None
    email: Annotated[str, Meta(max_length=254)] | None = None


class OwnPasswordBody(Struct):
    oldPassword: Password
    newPassword: Password
    confirmPassword: Password


OPERATIONS = (
    Operation(
        "own_profile",
        "GET",
        f"{PREFIX}/users/profile",
        "The caller's profile",
        Group.CONSOLE,
        data=ProfileData,
        requires_token=True,
        refusals=STORE_REFUSALS,
    ),
    Operation(
        "edit_own_profile",
        "PUT",
        f"{PREFIX}/users/profile",
        "Change the caller's profile",
        Group.CONSOLE,
        body=ProfileBody,
        requires_token=True,
        refusals=STORE_REFUSALS,
    ),
    Operation(
        "own_password",
        "PUT",
        f"{PREFIX}/users/password",
        "Change the caller's password; the other sessions end",
        Group.CONSOLE,
        body=OwnPasswordBody,
        body_required=True,
        requires_token=True,
        limits=(Limit.LOGIN_NAME, Limit.PASSWORD_USER),
        refusals=(
            refusals.ConfirmationDiffers,
            refusals.OldPasswordWrong,
            refusals.PasswordRefused,
            refusals.TooBusy,
            *STORE_REFUSALS,
        ),
    ),
)

"""What the console's user page sends and shows."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, field

from gatehouse.api.console.shared_types import Id, IdNumber, Number, PageQuery


class UserQuery(PageQuery):
    """`createTime` comes twice: the first day and the last, `YYYY-MM-DD`. `sort` may begin with a minus.

    Consoles up to 2.11 call the two days `startTime` and `endTime`.
    """

    status: Number | None = None
    hasPassword: Annotated[Number | None, Meta(description="0: users to whom no password was ever given.")] = None
    deptId: IdNumber | None = None
    roleId: IdNumber | None = None
    createTime: Annotated[list[str], Meta(max_length=2)] = field(default_factory=list)
    sort: Annotated[str, Meta(max_length=32, examples=["username", "-createTime"])] = ""
    startTime: Annotated[str, Meta(max_length=32)] = ""
    endTime: Annotated[str, Meta(max_length=32)] = ""


class UserRow(Struct):
    """`status` is 1 for an enabled user and 0 for a disabled one; `gender` 1 male, 2 female, 0 unknown.

    `lastLoginTime` is empty for a user who has never logged in.
    """

    id: str
    username: str
    nickname: str
    gender: int
    genderLabel: Annotated[str, Meta(description="For consoles up to 2.13.")]
    avatar: str
    mobile: str
    email: str
    status: int
    deptName: str
    roleNames: str
    createTime: str
    hasPassword: bool
    lastLoginTime: str


class UserForm(Struct):
    id: str
    username: str
    nickname: str
    deptId: str
    roleIds: list[str]
    gender: int
    mobile: str
    email: str
    status: int
    avatar: str


class UserBody(Struct):
    """In a change, what is left out stays as it is."""

    username: Annotated[str, Meta(min_length=1, max_length=64)]
    nickname: Annotated[str, Meta(min_length=1, max_length=64)]
    deptId: Id | UnsetType | None = UNSET
    roleIds: Annotated[list[Id], Meta(max_length=100)] | UnsetType | None = UNSET
    gender: int | str | UnsetType | None = UNSET
    mobile: Annotated[str, Meta(max_length=32)] | UnsetType | None = UNSET
    email: Annotated[str, Meta(max_length=254)] | UnsetType | None = UNSET
    status: int | str | UnsetType | None = UNSET
    avatar: Annotated[str, Meta(max_length=1024)] | UnsetType | None = UNSET


class NewUserBody(UserBody):
    """`firstPassword` takes the perm `sys:user:reset-password`. Without it the user cannot log in until one is set."""

    firstPassword: Annotated[str, Meta(description="Never written to a log.")] | UnsetType | None = UNSET


class ResetQuery(Struct):
    password: Annotated[str, Meta(min_length=1, description="Never written to a log.")]

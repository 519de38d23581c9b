"""The console's user page."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, field

from gatehouse.api.console.fields import Id, IdNumber, Number  # noqa: TC001 - msgspec reads the annotations
from gatehouse.api.console.operation import console_operation
from gatehouse.api.console.options import OptionData
from gatehouse.api.console.shared_types import Page, PageQuery
from gatehouse.api.operation import MULTIPART, PREFIX
from gatehouse.auth import refusals
from gatehouse.stores.errors import Duplicate, LastAdministrator, Missing
from gatehouse.transfer.xlsx import FILE_MAX

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


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


class ImportQuery(Struct):
    deptId: Annotated[IdNumber | None, Meta(description="For rows that name no department.")] = None
    preview: Annotated[bool, Meta(description="Only say what would be done.")] = False


class ImportBody(Struct):
    file: Annotated[str, Meta(extra_json_schema={"format": "binary", "contentMediaType": XLSX})]


class ImportedUser(Struct):
    username: str
    nickname: str
    department: str
    roles: list[str]


class ImportReport(Struct):
    """How many users were added, how many rows were not, and why, a sentence each; the first of a preview."""

    code: str
    validCount: int
    invalidCount: int
    messageList: list[str]
    users: list[ImportedUser]


_RESET_PASSWORD = console_operation(
    "reset_password",
    "PUT",
    "users/{id}/password/reset",
    "Set a user's password; its sessions end",
    "sys:user:reset-password",
    query=ResetQuery,
    refusals=(
        refusals.FieldMissing,
        refusals.PasswordRefused,
        refusals.OwnAccount,
        refusals.CannotManage,
        Missing,
        refusals.TooBusy,
    ),
)

OPERATIONS = (
    console_operation(
        "users",
        "GET",
        "users",
        "A page of users, newest first",
        "sys:user:list",
        query=UserQuery,
        data=Page[UserRow],
        older_paths=(f"{PREFIX}/users/page",),
    ),
    console_operation(
        "user_options", "GET", "users/options", "Users as choices", "sys:user:list", data=list[OptionData]
    ),
    console_operation(
        "user_form",
        "GET",
        "users/{id}/form",
        "One user",
        "sys:user:list",
        or_perms=("sys:user:update",),
        data=UserForm,
        refusals=(refusals.FieldInvalid, Missing),
    ),
    console_operation(
        "add_user",
        "POST",
        "users",
        "Add a user, with a first password or without one",
        "sys:user:create",
        body=NewUserBody,
        body_required=True,
        refusals=(refusals.PasswordRefused, refusals.CannotGrant, Missing, Duplicate, refusals.TooBusy),
    ),
    console_operation(
        "edit_user",
        "PUT",
        "users/{id}",
        "Change a user; disabling one ends its sessions",
        "sys:user:update",
        body=UserBody,
        body_required=True,
        refusals=(
            refusals.CannotGrant,
            refusals.CannotManage,
            refusals.OwnAccount,
            LastAdministrator,
            Missing,
            Duplicate,
        ),
    ),
    console_operation(
        "delete_users",
        "DELETE",
        "users/{ids}",
        "Delete users permanently, all of them or none; their sessions end",
        "sys:user:delete",
        refusals=(refusals.FieldInvalid, refusals.OwnAccount, refusals.CannotManage, LastAdministrator, Missing),
    ),
    _RESET_PASSWORD,
    _RESET_PASSWORD._replace(
        method="PATCH",
        path=f"{PREFIX}/users/{{id}}/password",
        summary="Set a user's password, as consoles up to 2.11 do it",
    ),
    console_operation(
        "user_template", "GET", "users/template", "A sheet to fill in for an import", "sys:user:import", produces=XLSX
    ),
    console_operation(
        "export_users",
        "GET",
        "users/export",
        "The users that a search finds, as a sheet",
        "sys:user:export",
        query=UserQuery,
        produces=XLSX,
        refusals=(refusals.TooBusy,),
        older_paths=(f"{PREFIX}/users/_export",),
    ),
    console_operation(
        "import_users",
        "POST",
        "users/import",
        "Add the users of a sheet; rows that cannot be taken are reported",
        "sys:user:import",
        query=ImportQuery,
        body=ImportBody,
        body_required=True,
        takes=(MULTIPART,),
        upload_limit=FILE_MAX,
        data=ImportReport,
        refusals=(refusals.TooBusy, Missing, Duplicate),
        older_paths=(f"{PREFIX}/users/_import",),
    ),
)

"""Decides for each row of users whether it adds, changes or is refused. Pure: a dry run and a real run decide alike.

A row is an existing user if name and id are the same; a row without an id is matched by name. Its values then replace
those of the user, except the password, which stays unless the operator asks for it: it may have been changed here
since. Ids are never changed, because other systems refer to them: a row whose id or name belongs to another user is
refused.

One exception: the administrator of the first start has id 1 and the name `admin`, which every console uses as well.
While it is the only user and unchanged, a row that needs its id or its name replaces it.

This is for files and databases on the command line; the xlsx sheets of the console are planned in
`management/user_import.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gatehouse.auth.passwords.hashing import is_supported_hash, is_within_cost_limit
from gatehouse.management import accepted_values as policy
from gatehouse.stores.database.row_changes import unset_if_none, without_same
from gatehouse.stores.database.users import User, UserChange, name_key
from gatehouse.transfer.import_rows import Remark, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gatehouse.stores.database.import_batches import ExistingUser
    from gatehouse.transfer.import_rows import SourceUser


@dataclass(frozen=True, slots=True)
class Context:
    """Which departments and roles exist, and the operator's options."""

    departments: frozenset[int]
    root: int  # where users without a department belong
    roles: frozenset[str]
    source_roles: frozenset[str] | None  # those the source decides about; None: all
    overwrite_passwords: bool
    now: float


@dataclass(slots=True)
class Seen:
    """Names and ids that rows of this run have used, with the origin of each; the first row wins."""

    names: dict[str, str] = field(default_factory=dict)
    ids: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlannedChange:
    existing: ExistingUser
    values: UserChange
    roles: frozenset[str] | None


@dataclass(slots=True)
class Plan:
    removed: list[ExistingUser] = field(default_factory=list)
    added: list[tuple[User, frozenset[str]]] = field(default_factory=list)
    changed: list[PlannedChange] = field(default_factory=list)
    unchanged: int = 0
    refused: list[Remark] = field(default_factory=list)
    adapted: list[Remark] = field(default_factory=list)


def replaces_admin(row: SourceUser, administrator: User) -> bool:
    """Whether this row can only be imported if the first administrator is replaced; one without a hash cannot."""
    same = row.id == administrator.id or name_key(row.username) == name_key(administrator.username)
    return same and row.id is not None and row.password_hash is not None


def plan(
    rows: Iterable[SourceUser],
    existing_users: Sequence[ExistingUser],
    context: Context,
    seen: Seen,
    replaceable_admin: ExistingUser | None = None,
) -> Plan:
    decided = Plan()
    valid = [_adapt(row, context, decided) for row in rows if _is_valid(row, context, seen, decided)]
    if replaceable_admin and any(replaces_admin(row, replaceable_admin.user) for row in valid):
        decided.removed.append(replaceable_admin)
        existing_users = [existing for existing in existing_users if existing.user.id != replaceable_admin.user.id]
    by_name = {name_key(existing.user.username): existing for existing in existing_users}
    by_id = {existing.user.id: existing for existing in existing_users}
    for row in valid:
        same_name = by_name.get(name_key(row.username))
        same_id = same_name if row.id is None else by_id.get(row.id)
        if same_id is not None and same_id is not same_name:
            decided.refused.append(Remark(row.origin, f"id {row.id} belongs to {same_id.user.username!r} here"))
        elif same_name is not None and same_id is None:
            whose = f"the name {row.username!r} belongs to user {same_name.user.id} here"
            decided.refused.append(Remark(row.origin, whose))
        elif same_name is None:
            decided.added.append((_new(row, context), row.roles or frozenset()))
        else:
            _compare(row, same_name, context, decided)
    return decided


def _is_valid(row: SourceUser, context: Context, seen: Seen, decided: Plan) -> bool:
    reason = _problem(row, context) or _clash(row, seen)
    if reason:
        decided.refused.append(Remark(row.origin, reason))
    return reason is None


def _problem(row: SourceUser, context: Context) -> str | None:
    if not policy.is_username(row.username):
        return f"{row.username!r} is not a username: 1 to {policy.NAME_MAX} printable characters, no space around it"
    if row.id is not None and not 0 < row.id < 2**63:
        return f"{row.id} is not an id"
    if row.password_hash is not None and (reason := _hash_problem(row.password_hash)):
        return reason
    if row.created is not None and not 0 <= row.created < 1e11:
        return f"{row.created} is not a time: seconds since 1970"
    if row.roles and (unknown := sorted(row.roles - context.roles)):
        return f"there is no role {unknown[0]!r}"
    return None


def _hash_problem(hashed: str) -> str | None:
    if not is_supported_hash(hashed):
        return "the password is neither a bcrypt nor an Argon2id hash"
    return None if is_within_cost_limit(hashed) else "the password's hash costs too much to check at every login"


def _clash(row: SourceUser, seen: Seen) -> str | None:
    """Names are compared as login compares them, so `Ann` and `ann` cannot both be imported."""
    key = name_key(row.username)
    if key in seen.names:
        return f"the name {row.username!r} is that of {seen.names[key]} (case does not count)"
    if row.id is not None and row.id in seen.ids:
        return f"id {row.id} is that of {seen.ids[row.id]}"
    seen.names[key] = row.origin
    if row.id is not None:
        seen.ids[row.id] = row.origin
    return None


def _adapt(row: SourceUser, context: Context, decided: Plan) -> SourceUser:
    """The row with values that cannot be taken replaced, and reported as adapted."""
    if row.department is not None and row.department not in context.departments:
        decided.adapted.append(Remark(row.origin, f"there is no department {row.department}: put into {context.root}"))
        row = replace(row, department=context.root)
    if row.nickname is not None and row.nickname != printable(row.nickname):
        decided.adapted.append(Remark(row.origin, f"the nickname became {printable(row.nickname)!r}"))
        row = replace(row, nickname=printable(row.nickname) or row.username)
    if row.avatar:
        try:
            policy.check_avatar(row.avatar)
        except ValueError as problem:
            decided.adapted.append(Remark(row.origin, f"{problem}: left empty"))
            row = replace(row, avatar="")
    return _adapt_contact(row, decided)


def _adapt_contact(row: SourceUser, decided: Plan) -> SourceUser:
    for name, check, nothing in (
        ("gender", policy.check_gender, 0), ("mobile", policy.check_mobile, ""), ("email", policy.check_email, ""),
    ):  # fmt: skip
        value: Any = getattr(row, name)
        try:
            if value is not None:
                check(value)
        except ValueError as problem:
            decided.adapted.append(Remark(row.origin, f"{problem}: left empty"))
            fields: dict[str, Any] = {name: nothing}
            row = replace(row, **fields)
    return row


def _new(row: SourceUser, context: Context) -> User:
    return User(
        id=row.id or 0,
        username=row.username,
        nickname=row.nickname or row.username,
        avatar=row.avatar or "",
        department=context.root if row.department is None else row.department,
        password_hash=row.password_hash or "",
        enabled=row.enabled is not False,
        captcha_exempt=bool(row.captcha_exempt),
        created=context.now if row.created is None else row.created,
        gender=row.gender or 0,
        mobile=row.mobile or "",
        email=row.email or "",
    )


def _compare(row: SourceUser, existing: ExistingUser, context: Context, decided: Plan) -> None:
    given = UserChange(
        username=row.username,
        nickname=unset_if_none(row.nickname),
        avatar=unset_if_none(row.avatar),
        department=unset_if_none(row.department),
        enabled=unset_if_none(row.enabled),
        captcha_exempt=unset_if_none(row.captcha_exempt),
        gender=unset_if_none(row.gender),
        mobile=unset_if_none(row.mobile),
        email=unset_if_none(row.email),
        password_hash=unset_if_none(row.password_hash if context.overwrite_passwords else None),
    )
    values = without_same(given, existing.user)
    wanted = _roles(row, existing, context)
    if values != UserChange() or wanted != existing.roles:
        decided.changed.append(PlannedChange(existing, values, wanted if wanted != existing.roles else None))
    else:
        decided.unchanged += 1


def _roles(row: SourceUser, existing: ExistingUser, context: Context) -> frozenset[str]:
    """Roles that the source does not have were granted here, and stay."""
    if row.roles is None:
        return existing.roles
    ours = frozenset() if context.source_roles is None else existing.roles - context.source_roles
    return row.roles | ours

"""Decides for each row of users whether it adds, changes or is refused. Pure: a dry run and a real run decide alike.

A row is an existing user if name and id are the same; a row without an id is matched by name. Its values then replace
those of the user, except the password, which stays unless the operator asks for it: it may have been changed here
since. Ids are never changed, because other systems refer to them: a row whose id or name belongs to another user is
refused. What need not stop a user is adapted and reported.

One exception: the administrator of the first start has id 1 and the name `admin`, which every console uses as well.
While it is the only user and unchanged, a row that needs its id or its name replaces it.

The console's import is strict: it only adds users, a value that cannot be taken refuses the row, and nobody gives more
than they have.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import UNSET, structs

from gatehouse.auth.passwords.hashing import is_supported_hash, is_within_cost_limit
from gatehouse.common.name_key import name_key
from gatehouse.management import accepted_values, authority
from gatehouse.management.authority import OPERATOR, Actor, Holder, grant_of
from gatehouse.stores.database.row_changes import applied, without_same
from gatehouse.stores.database.users import NewUser, User, UserChange
from gatehouse.transfer.import_rows import Problem, Refusal, Remark, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from gatehouse.stores.database.departments import Department
    from gatehouse.stores.database.import_batches import ExistingUser
    from gatehouse.stores.database.roles import Role
    from gatehouse.transfer.import_rows import SourceUser


@dataclass(frozen=True, slots=True)
class Context:
    """Which departments and roles there are, who imports, and how."""

    departments: Mapping[int, Department]
    roles: Mapping[str, Role]  # by their codes
    default_department: int  # where users without a department belong
    now: float
    actor: Actor = OPERATOR
    strict: bool = False
    source_roles: frozenset[str] | None = None  # those the source decides about; None: all
    overwrite_passwords: bool = False


class PlannedUser(NamedTuple):
    id: int | None  # None: the database assigns one
    new: NewUser
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlannedChange:
    existing: ExistingUser
    values: UserChange
    roles: frozenset[str] | None


@dataclass(slots=True)
class Plan:
    removed: list[ExistingUser] = field(default_factory=list)
    added: list[PlannedUser] = field(default_factory=list)
    changed: list[PlannedChange] = field(default_factory=list)
    unchanged: int = 0
    refused: list[Refusal] = field(default_factory=list)
    adapted: list[Remark] = field(default_factory=list)


class RowRefused(Exception):
    """`text` is for the command line; the console words the problem and what it is about itself."""

    def __init__(self, problem: Problem, about: str, text: str = "") -> None:
        super().__init__(text)
        self.problem = problem
        self.about = about
        self.text = text


class UserPlanner:
    """Remembers the names and ids that rows have used, with the origin of each: the first row wins."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._names: dict[str, str] = {}
        self._ids: dict[int, str] = {}
        self._may_add = cache(self._is_allowed_to_add)  # many rows, and few departments and roles

    def plan(
        self,
        rows: Iterable[SourceUser],
        existing_users: Sequence[ExistingUser],
        replaceable_admin: ExistingUser | None = None,
    ) -> Plan:
        decided = Plan()
        taken = {name_key(existing.user.username) for existing in existing_users}
        valid = [row for row in (self._admit(row, taken, decided) for row in rows) if row]
        if replaceable_admin and any(_replaces_admin(row, replaceable_admin.user) for row in valid):
            decided.removed.append(replaceable_admin)
            existing_users = [existing for existing in existing_users if existing.user.id != replaceable_admin.user.id]
        by_name = {name_key(existing.user.username): existing for existing in existing_users}
        by_id = {existing.user.id: existing for existing in existing_users}
        for row in valid:
            try:
                existing = _same_user(row, by_name, by_id)
            except RowRefused as refusal:
                decided.refused.append(_refusal(row, refusal))
                continue
            if existing is None:
                decided.added.append(PlannedUser(row.id, self._new(row), row.roles or ()))
            else:
                self._compare(row, existing, decided)
        return decided

    def _admit(self, row: SourceUser, taken: Collection[str], decided: Plan) -> SourceUser | None:
        """The row with its values checked, department and roles found; None if it is refused."""
        adapted: list[Remark] = []
        try:
            _check_row(row)
            self._check_unseen(row)
            if self._context.strict and name_key(row.username) in taken:
                raise RowRefused(Problem.TAKEN, row.username)
            row = self._with_department(row, adapted)
            row = self._with_values(row, adapted)
            row = self._with_roles(row)
        except RowRefused as refusal:
            decided.refused.append(_refusal(row, refusal))
            return None
        decided.adapted += adapted
        self._names[name_key(row.username)] = row.origin
        if row.id is not None:
            self._ids[row.id] = row.origin
        return row

    def _check_unseen(self, row: SourceUser) -> None:
        """Names are compared as login compares them, so `Ann` and `ann` cannot both be imported."""
        if first := self._names.get(name_key(row.username)):
            text = f"the name {row.username!r} is that of {first} (case does not count)"
            raise RowRefused(Problem.TWICE, row.username, text)
        if row.id is not None and row.id in self._ids:
            raise RowRefused(Problem.TWICE, str(row.id), f"id {row.id} is that of {self._ids[row.id]}")

    def _with_department(self, row: SourceUser, adapted: list[Remark]) -> SourceUser:
        known, default, wanted = self._context.departments, self._context.default_department, row.values.department
        if row.department_name:
            wanted = _department_id(row.department_name, known.values())
        if wanted is not UNSET and wanted not in known:
            given = row.department_name or str(wanted)
            if self._context.strict:
                raise RowRefused(Problem.NO_DEPARTMENT, given)
            adapted.append(Remark(row.origin, f"there is no department {given}: put into {default}"))
            wanted = default
        if wanted == row.values.department:
            return row
        return replace(row, values=structs.replace(row.values, department=wanted))

    def _with_values(self, row: SourceUser, adapted: list[Remark]) -> SourceUser:
        """Values that cannot be taken are replaced; a strict import refuses them."""
        values, nickname = row.values, row.values.nickname
        if nickname is not UNSET and nickname != printable(nickname):
            if self._context.strict:
                raise RowRefused(Problem.INVALID, "nickname")
            adapted.append(Remark(row.origin, f"the nickname became {printable(nickname)!r}"))
            values = structs.replace(values, nickname=printable(nickname) or row.username)
        for name, check, nothing in _VALUES:
            try:
                if (value := getattr(values, name)) is not UNSET:
                    check(value)
            except ValueError as problem:
                if self._context.strict:
                    raise RowRefused(Problem.INVALID, name) from None
                adapted.append(Remark(row.origin, f"{problem}: left empty"))
                values = structs.replace(values, **{name: nothing})
        return row if values is row.values else replace(row, values=values)

    def _with_roles(self, row: SourceUser) -> SourceUser:
        known = self._context.roles
        if row.role_names:
            row = replace(row, roles=tuple(dict.fromkeys(self._role_code(name) for name in row.role_names)))
        if unknown := sorted(code for code in row.roles or () if code not in known):
            raise RowRefused(Problem.NO_ROLE, unknown[0], f"there is no role {unknown[0]!r}")
        department = row.values.department or self._context.default_department
        if not self._may_add(department, row.roles or ()):
            raise RowRefused(Problem.NOT_PLACED, row.department_name or str(department))
        return row

    def _role_code(self, given: str) -> str:
        """Of the role with this code, or else of the one with this name."""
        for key in ("code", "name"):
            found = [role for role in self._context.roles.values() if getattr(role, key) == given]
            if len(found) == 1:
                if authority.lack_to_grant(self._context.actor, grant_of(found[0])):
                    raise RowRefused(Problem.NOT_GRANTED, given)
                return found[0].code
        raise RowRefused(Problem.NO_ROLE, given, f"there is no role {given!r}")

    def _is_allowed_to_add(self, department: int, codes: tuple[str, ...]) -> bool:
        parents = {one.id: one.parent for one in self._context.departments.values()}
        holder = Holder(None, department, tuple(grant_of(self._context.roles[code]) for code in codes))
        return authority.lack_to_add_user(self._context.actor, holder, parents) is None

    def _new(self, row: SourceUser) -> NewUser:
        created = self._context.now if row.created is None else row.created
        new = applied(NewUser(row.username, "", "", self._context.default_department, created), row.values)
        return replace(new, nickname=new.nickname or new.username)

    def _compare(self, row: SourceUser, existing: ExistingUser, decided: Plan) -> None:
        values = without_same(structs.replace(row.values, username=row.username), existing.user)
        if not self._context.overwrite_passwords:
            values = structs.replace(values, password_hash=UNSET)
        wanted = self._wanted_roles(row, existing)
        if values != UserChange() or wanted != existing.roles:
            decided.changed.append(PlannedChange(existing, values, wanted if wanted != existing.roles else None))
        else:
            decided.unchanged += 1

    def _wanted_roles(self, row: SourceUser, existing: ExistingUser) -> frozenset[str]:
        """Roles that the source does not have were granted here, and stay."""
        if row.roles is None:
            return existing.roles
        decides = self._context.source_roles
        return frozenset(row.roles) | (frozenset() if decides is None else existing.roles - decides)


_VALUES: tuple[tuple[str, Callable[[Any], None], str | int], ...] = (
    ("avatar", accepted_values.check_avatar, ""),
    ("gender", accepted_values.check_gender, 0),
    ("mobile", accepted_values.check_mobile, ""),
    ("email", accepted_values.check_email, ""),
)


def _check_row(row: SourceUser) -> None:
    if not accepted_values.is_username(row.username):
        problem = Problem.INVALID if row.username else Problem.NO_NAME
        length = f"1 to {accepted_values.NAME_MAX} printable characters"
        text = f"{row.username!r} is not a username: {length}, no space around it"
        raise RowRefused(problem, "username", text)
    if row.id is not None and not 0 < row.id < 2**63:
        raise RowRefused(Problem.INVALID, "id", f"{row.id} is not an id")
    hashed = row.values.password_hash
    if hashed is not UNSET and not is_supported_hash(hashed):
        raise RowRefused(Problem.INVALID, "password", "the password is neither a bcrypt nor an Argon2id hash")
    if hashed is not UNSET and not is_within_cost_limit(hashed):
        raise RowRefused(Problem.INVALID, "password", "the password's hash costs too much to check at every login")
    if row.created is not None and not 0 <= row.created < 1e11:
        raise RowRefused(Problem.INVALID, "created", f"{row.created} is not a time: seconds since 1970")


def _department_id(given: str, departments: Collection[Department]) -> int:
    """Of the one department with this id, code or name; 0 if there is none."""
    for key in ("id", "code", "name"):
        found = [one.id for one in departments if str(getattr(one, key)) == given]
        if len(found) == 1:
            return found[0]
    return 0


def _replaces_admin(row: SourceUser, administrator: User) -> bool:
    """Whether this row can only be imported if the first administrator is replaced; one without a hash cannot."""
    same = row.id == administrator.id or name_key(row.username) == name_key(administrator.username)
    return same and row.id is not None and row.values.password_hash is not UNSET


def _same_user(
    row: SourceUser, by_name: Mapping[str, ExistingUser], by_id: Mapping[int, ExistingUser]
) -> ExistingUser | None:
    same_name = by_name.get(name_key(row.username))
    same_id = same_name if row.id is None else by_id.get(row.id)
    if same_id is not None and same_id is not same_name:
        raise RowRefused(Problem.TAKEN, str(row.id), f"id {row.id} belongs to {same_id.user.username!r} here")
    if same_name is not None and same_id is None:
        text = f"the name {row.username!r} belongs to user {same_name.user.id} here"
        raise RowRefused(Problem.TAKEN, row.username, text)
    return same_name


def _refusal(row: SourceUser, refused: RowRefused) -> Refusal:
    return Refusal(row.line, refused.problem, refused.about, Remark(row.origin, refused.text))

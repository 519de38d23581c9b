"""What the rows of a sheet of users mean: pure decisions. Users who exist already are not changed.

The sheet is read by `transfer/xlsx.py`, and the plan carried out in `api/endpoints/console/user_sheets.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.refusals import AccountFieldInvalid
from gatehouse.management import authority
from gatehouse.management.authority import Holder, grant_of
from gatehouse.management.users import check_user
from gatehouse.stores.database.users import NewUser, name_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gatehouse.management.authority import Actor
    from gatehouse.stores.database.departments import Department
    from gatehouse.stores.database.roles import Role


class Problem(StrEnum):
    """Why a row is not taken."""

    NO_NAME = "no_name"
    INVALID = "invalid"
    TAKEN = "taken"
    TWICE = "twice"
    NO_DEPARTMENT = "no_department"
    NO_ROLE = "no_role"
    NOT_GRANTED = "not_granted"
    NOT_PLACED = "not_placed"
    FORMULA = "formula"


class RefusedRow(NamedTuple):
    row: int
    problem: Problem
    about: str = ""  # the field, or what was given


class RowInvalid(Exception):
    def __init__(self, problem: Problem, about: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.about = about


@dataclass(frozen=True, slots=True)
class ImportRow:
    number: int
    username: str
    nickname: str = ""
    gender: str = ""
    mobile: str = ""
    email: str = ""
    department: str = ""  # its id, code or name
    roles: tuple[str, ...] = ()  # codes or names


@dataclass(frozen=True, slots=True)
class ImportContext:
    """What the rows are checked against, and who imports them."""

    actor: Actor
    departments: Sequence[Department]
    roles: Sequence[Role]
    taken: frozenset[str]  # usernames, as they are looked up
    default_department: int


@dataclass(slots=True)
class ImportPlan:
    added: list[tuple[NewUser, list[int]]] = field(default_factory=list)
    refused: list[RefusedRow] = field(default_factory=list)


GENDERS: Mapping[str, int] = {
    "": 0, "0": 0, "unknown": 0, "未知": 0, "保密": 0,
    "1": 1, "male": 1, "男": 1,
    "2": 2, "female": 2, "女": 2,
}  # fmt: skip


def plan_import(rows: Sequence[ImportRow], context: ImportContext) -> ImportPlan:
    plan, seen = ImportPlan(), set[str]()
    may_add = cache(partial(_may_add, context))  # sheets have many rows, and few departments and roles
    for row in rows:
        try:
            entry = _entry(row, context, seen, may_add)
        except RowInvalid as refusal:
            plan.refused.append(RefusedRow(row.number, refusal.problem, refusal.about))
        else:
            seen.add(name_key(row.username))
            plan.added.append(entry)
    return plan


def _entry(
    row: ImportRow, context: ImportContext, seen: set[str], may_add: Callable[[int, tuple[Role, ...]], bool]
) -> tuple[NewUser, list[int]]:
    if not row.username:
        raise RowInvalid(Problem.NO_NAME)
    if name_key(row.username) in seen:
        raise RowInvalid(Problem.TWICE, row.username)
    if name_key(row.username) in context.taken:
        raise RowInvalid(Problem.TAKEN, row.username)
    gender = GENDERS.get(row.gender.casefold())
    if gender is None:
        raise RowInvalid(Problem.INVALID, "gender")
    new = NewUser(
        username=row.username,
        nickname=row.nickname or row.username,
        password_hash="",
        department=_department(row.department, context),
        created=0,
        gender=gender,
        mobile=row.mobile,
        email=row.email,
    )
    try:
        check_user(new)
    except AccountFieldInvalid as refusal:
        raise RowInvalid(Problem.INVALID, refusal.field) from None
    roles = tuple(_role(each, context) for each in dict.fromkeys(row.roles))
    if not may_add(new.department, roles):
        raise RowInvalid(Problem.NOT_PLACED, row.department or str(new.department))
    return new, [role.id for role in roles]


def _may_add(context: ImportContext, department: int, roles: tuple[Role, ...]) -> bool:
    parents = {department.id: department.parent for department in context.departments}
    holder = Holder(None, department, tuple(grant_of(role) for role in roles))
    return authority.lack_to_add_user(context.actor, holder, parents) is None


def _department(given: str, context: ImportContext) -> int:
    if not given:
        return context.default_department
    for key in ("id", "code", "name"):
        found = [one.id for one in context.departments if str(getattr(one, key)) == given]
        if len(found) == 1:
            return found[0]
    raise RowInvalid(Problem.NO_DEPARTMENT, given)


def _role(given: str, context: ImportContext) -> Role:
    for key in ("code", "name"):
        found = [role for role in context.roles if getattr(role, key) == given]
        if len(found) == 1:
            if authority.lack_to_grant(context.actor, grant_of(found[0])):
                raise RowInvalid(Problem.NOT_GRANTED, given)
            return found[0]
    raise RowInvalid(Problem.NO_ROLE, given)

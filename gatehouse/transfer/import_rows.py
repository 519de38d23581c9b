"""The rows that every source is read into: departments, roles, menus, users; `origin` says where each was read."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from msgspec import UNSET, UnsetType

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

    from gatehouse.stores.database.factor_export import FactorCopy
    from gatehouse.stores.database.menus import Menu
    from gatehouse.stores.database.users import UserChange

BATCH = 500


class Remark(NamedTuple):
    """A message about one row: why it was refused, or how it was adapted."""

    origin: str
    text: str


class Problem(StrEnum):
    """Why a row of users is refused, by the codes of the console's report."""

    NO_NAME = "no_name"
    INVALID = "invalid"
    TAKEN = "taken"
    TWICE = "twice"
    NO_DEPARTMENT = "no_department"
    NO_ROLE = "no_role"
    NOT_GRANTED = "not_granted"
    NOT_PLACED = "not_placed"
    FORMULA = "formula"


class Refusal(NamedTuple):
    line: int
    problem: Problem
    about: str  # the field, or what was given
    remark: Remark  # for the command line


@dataclass(frozen=True, slots=True)
class SourceDepartment:
    origin: str
    id: int
    name: str
    parent: int | None
    code: str | UnsetType = UNSET
    sort: int | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET


@dataclass(frozen=True, slots=True)
class SourceRole:
    origin: str
    code: str
    name: str
    enabled: bool
    perms: tuple[str, ...]
    sort: int | UnsetType = UNSET
    data_scope: int | UnsetType = UNSET
    departments: tuple[int, ...] | None = None  # those chosen, if that is the data scope


@dataclass(frozen=True, slots=True)
class SourceUser:
    """What the source leaves out is UNSET or None: an existing user keeps it, a new one gets the default."""

    origin: str
    id: int | None
    username: str
    values: UserChange = field(repr=False)  # all but the username
    created: float | None = None
    roles: tuple[str, ...] | None = None
    line: int = 0  # in a file
    department_name: str = ""  # its id, code or name, as a sheet has it
    role_names: tuple[str, ...] = ()  # their codes or names


@dataclass(frozen=True, slots=True)
class SourceMenu:
    origin: str
    menu: Menu


class SourceFactors(NamedTuple):
    origin: str
    copy: FactorCopy


class Source(Protocol):
    """Read in this order: departments, roles, menus, users. Rows that cannot be used are listed in `refused`."""

    refused: list[Remark]
    adapted: list[Remark]

    @property
    def skipped(self) -> int:
        """How many users the source itself counts as deleted."""
        ...

    @property
    def source_roles(self) -> frozenset[str] | None:
        """Codes of the roles that the source decides about; None: all of them."""
        ...

    async def departments(self) -> Sequence[SourceDepartment]: ...

    async def roles(self) -> Sequence[SourceRole]: ...

    async def menus(self) -> tuple[Sequence[SourceMenu], Mapping[str, frozenset[int]]]:
        """Menus, and which of them each role shows, by its code. Asked after the roles."""
        ...

    def factors(self) -> AsyncIterator[SourceFactors]:
        """Second factors, one row for each user who has any; read after the users."""
        ...

    async def count(self) -> int:
        """How many rows of users there are, good and bad."""
        ...

    def users(self) -> AsyncIterator[tuple[int, Sequence[SourceUser]]]:
        """Batches of good rows, each with the number of rows read for it."""
        ...


@dataclass(slots=True)
class ImportCount:
    added: int = 0
    changed: int = 0
    unchanged: int = 0


@dataclass(slots=True)
class Summary:
    """What an import did, or would do."""

    dry_run: bool
    departments: ImportCount = field(default_factory=ImportCount)
    roles: ImportCount = field(default_factory=ImportCount)
    users: ImportCount = field(default_factory=ImportCount)
    menus: ImportCount = field(default_factory=ImportCount)
    factors: ImportCount = field(default_factory=ImportCount)
    skipped: int = 0
    replaced_admin: str | None = None  # the administrator of the first start, if an imported one replaced it
    refused: list[Remark] = field(default_factory=list)
    adapted: list[Remark] = field(default_factory=list)


def printable(text: str, max_length: int = 64) -> str:
    """The text without unprintable characters and surrounding space, cut to the longest length."""
    clean = "".join(character if character.isprintable() else " " for character in text)
    return clean.strip()[:max_length].strip()


def cut_cycles(parents: Mapping[int, int | None], ids: Iterable[int]) -> set[int]:
    """Which of these must move to the top level, so that following the parents of any of them ends there.

    They are the ones whose parent does not exist, and one of each cycle.
    """
    remaining = dict(parents)
    cut = set()
    for each in ids:
        if not _reaches_top(each, remaining):
            remaining[each] = None
            cut.add(each)
    return cut


def _reaches_top(start: int, parents: Mapping[int, int | None]) -> bool:
    seen: set[int] = set()
    current: int | None = start
    while current is not None:
        if current in seen or current not in parents:
            return False
        seen.add(current)
        current = parents[current]
    return True


def moved_to_top(origin: str, parent: int | None) -> Remark:
    return Remark(origin, f"the parent {parent} is missing or part of a cycle: moved to the top level")

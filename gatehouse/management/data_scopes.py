"""Which departments a data scope shows, and which of two shows more. Pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gatehouse.stores.database.roles import DataScope

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    # The department above each; None at the top.
    Parents = Mapping[int, int | None]


class Scope(NamedTuple):
    """Which departments a role shows to its holders; `chosen` only with `DataScope.CHOSEN`."""

    kind: int = DataScope.OWN
    chosen: frozenset[int] = frozenset()


# What a role's data scope may become without showing more. Chosen departments need not be near one's own.
_SCOPES_WITHIN: dict[int, set[DataScope]] = {
    DataScope.ALL: set(DataScope),
    DataScope.DEPARTMENT_AND_BELOW: {DataScope.DEPARTMENT_AND_BELOW, DataScope.DEPARTMENT, DataScope.OWN},
    DataScope.DEPARTMENT: {DataScope.DEPARTMENT, DataScope.OWN},
    DataScope.OWN: {DataScope.OWN},
    DataScope.CHOSEN: {DataScope.CHOSEN, DataScope.OWN},
}


def widens(before: Scope, after: Scope) -> bool:
    """Whether `after` shows departments that `before` does not show to everybody."""
    more_chosen = before.kind == after.kind == DataScope.CHOSEN and not after.chosen <= before.chosen
    return more_chosen or after.kind not in _SCOPES_WITHIN.get(before.kind, set())


def departments_below(parents: Parents, top: int) -> set[int]:
    """This department and all below it."""
    children: dict[int | None, list[int]] = {}
    for department, parent in parents.items():
        children.setdefault(parent, []).append(department)
    found = {top}
    waiting = [top]
    while waiting:
        new = [each for each in children.get(waiting.pop(), ()) if each not in found]
        found.update(new)
        waiting += new
    return found


def departments_seen(department: int, scopes: Iterable[Scope], parents: Parents) -> set[int]:
    """The departments that roles with these scopes show to somebody in this one."""
    seen: set[int] = set()
    for scope in scopes:
        match scope.kind:
            case DataScope.ALL:
                seen |= parents.keys()
            case DataScope.DEPARTMENT_AND_BELOW:
                seen |= departments_below(parents, department)
            case DataScope.DEPARTMENT:
                seen.add(department)
            case DataScope.CHOSEN:
                seen |= scope.chosen
    return seen

"""What the numbers of data scopes mean in the different versions of a youlai console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.stores.database.roles import DataScope

if TYPE_CHECKING:
    from collections.abc import Mapping


def data_scopes(given: Mapping[int, int | None], *, newer: bool) -> dict[int, int]:
    """The data scope of each role, by its id.

    Versions up to 2.24 count from 0 (all, department and below, department, own), later ones from 1. Only the older
    ones have a 0, only the later ones a 4 or 5, or chosen departments. If nothing shows which, the older count is used:
    by it a role sees less, not more.
    """
    values = set(given.values())
    newer = 0 not in values and (newer or bool(values & {4, 5}))
    scopes = {role: scope if newer or scope is None else scope + 1 for role, scope in given.items()}
    return {role: scope if scope in set(DataScope) else DataScope.OWN for role, scope in scopes.items()}

"""Checks the settings of a PostgreSQL server that durability depends on, for `gatehouse doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.stores.state.postgres.pool import CONNECTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

SETTINGS = ("fsync", "full_page_writes", "synchronous_commit", "synchronous_standby_names", "max_connections")

# The levels at which a commit has been written by the standbys before it is answered.
_REPLICATED = {"on", "remote_write", "remote_apply"}


def warnings(settings: Mapping[str, str]) -> list[str]:
    """One sentence for each thing to change."""
    found = [
        f"{name} is off: a crash of the server can lose acknowledged logouts; set it on"
        for name in ("fsync", "full_page_writes", "synchronous_commit")
        if settings[name] == "off"
    ]
    if settings["synchronous_standby_names"] and settings["synchronous_commit"] not in _REPLICATED:
        found.append(
            f"synchronous_commit is {settings['synchronous_commit']}: commits do not wait for the synchronous standbys,"
            " so a failover can lose acknowledged logouts; set it on"
        )
    if int(settings["max_connections"]) < 4 * CONNECTIONS:
        found.append(
            f"max_connections is {settings['max_connections']}: each worker opens up to {CONNECTIONS} for state"
        )
    return found


def durability(settings: Mapping[str, str]) -> str:
    """What a failover can lose, for `gatehouse doctor`."""
    commit, standbys = settings["synchronous_commit"], settings["synchronous_standby_names"]
    settings_text = f"synchronous_commit is {commit}, synchronous_standby_names is {standbys or 'empty'}"
    if standbys and commit in _REPLICATED:
        return f"{settings_text}: a failover to one of them loses nothing acknowledged"
    return f"{settings_text}: a failover can lose the last acknowledged writes, a restart of the server none"

"""Checks the settings of a PostgreSQL server that durability depends on, for `gatehouse doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.messages import message
from gatehouse.stores.state.postgres.pool import CONNECTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatehouse.messages import Message

SETTINGS = ("fsync", "full_page_writes", "synchronous_commit", "synchronous_standby_names", "max_connections")

# The levels at which a commit has been written by the standbys before it is answered.
_REPLICATED = {"on", "remote_write", "remote_apply"}


def warnings(settings: Mapping[str, str]) -> list[Message]:
    """What to change."""
    found = [
        message("findings.state_unsafe", setting=name)
        for name in ("fsync", "full_page_writes", "synchronous_commit")
        if settings[name] == "off"
    ]
    if settings["synchronous_standby_names"] and settings["synchronous_commit"] not in _REPLICATED:
        found.append(message("findings.state_standbys", value=settings["synchronous_commit"]))
    if int(settings["max_connections"]) < 4 * CONNECTIONS:
        found.append(message("findings.state_connections", allowed=settings["max_connections"], opened=CONNECTIONS))
    return found


def durability(settings: Mapping[str, str]) -> Message:
    """What a failover can lose, for `gatehouse doctor`."""
    commit, standbys = settings["synchronous_commit"], settings["synchronous_standby_names"]
    if standbys and commit in _REPLICATED:
        return message("findings.durability_replicated", commit=commit, standbys=standbys)
    shown = standbys or message("findings.no_standbys")
    return message("findings.durability_not_replicated", commit=commit, standbys=shown)

"""The log of ended sessions in PostgreSQL. A position is a number that grows with the server's clock.

Entries are deleted when they have expired, oldest first, and when there are too many: a tenth over `ENDED_SESSIONS_MAX`
the oldest go, until that many are left. So as long as there are fewer, nothing that still matters has been dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatehouse.stores.state.protocol import ENDED_SESSIONS_MAX, EndedLogEntry, EndedLogPage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.stores.state.protocol import EndRecord

_HIGHEST = 2**63 - 1


def end_record_values(end_record: EndRecord | None) -> tuple[float | None, str | None, int | None, int]:
    """The arguments of the functions that end sessions; without a record nothing is logged."""
    if end_record is None:
        return None, None, None, ENDED_SESSIONS_MAX
    return end_record.at, end_record.reason, end_record.kept_seconds, ENDED_SESSIONS_MAX


def number_of(position: str) -> int:
    """Raises `ValueError` for what is no position of this log."""
    number = int(position or 0)
    if not 0 <= number <= _HIGHEST:
        raise ValueError("no position of this log")
    return number


def page(after: str, rows: Sequence[Any]) -> EndedLogPage:
    """`rows` all begin with the newest position, the number of entries and the oldest position; at least one."""
    begin = number_of(after)
    newest, number, oldest = rows[0][:3]
    dropped = oldest is not None and number >= ENDED_SESSIONS_MAX and begin < oldest
    entries = [EndedLogEntry(str(row[3]), *row[4:]) for row in rows if row[3] is not None]
    # A reader ahead of the newest entry has read it from a server that is not the primary any more.
    return EndedLogPage(entries, entries[-1].position if entries else after, begin <= newest and not dropped)

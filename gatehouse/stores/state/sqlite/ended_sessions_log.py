"""The log of ended sessions in the state file. A position is the number of a row; numbers are never used again.

Entries are deleted when they have expired, oldest first, and when there are more than `ENDED_SESSIONS_MAX`. So as long
as there are fewer, nothing that still matters has been dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatehouse.stores.state.protocol import ENDED_SESSIONS_MAX, EndedLogEntry, EndedLogPage

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from gatehouse.stores.state.protocol import EndRecord

# The last number that was given out, whether its row is still there or not.
NEWEST = "SELECT seq FROM sqlite_sequence WHERE name = 'ended_sessions'"


def append(db: apsw.Connection, sessions: Sequence[str], end_record: EndRecord) -> None:
    if not sessions:
        return
    db.executemany(
        "INSERT INTO ended_sessions (session, at, reason, expires) VALUES (?, ?, ?, ?)",
        [(session, end_record.at, end_record.reason, end_record.at + end_record.kept_seconds) for session in sessions],
    )
    db.execute("DELETE FROM ended_sessions WHERE position <= ?", (db.last_insert_rowid() - ENDED_SESSIONS_MAX,))


def read(db: apsw.Connection, after: str, limit: int) -> EndedLogPage:
    begin = int(after or 0)
    with db:  # one snapshot for all three
        rows: list[Any] = db.execute(
            "SELECT position, session, at, reason FROM ended_sessions WHERE position > ? ORDER BY position LIMIT ?",
            (begin, limit),
        ).fetchall()
        newest = db.execute(NEWEST).get or 0
        oldest = db.execute("SELECT min(position) FROM ended_sessions").get
    full = oldest is not None and newest - oldest + 1 >= ENDED_SESSIONS_MAX
    complete = begin <= newest and not (full and begin < oldest - 1)
    entries = [EndedLogEntry(str(position), *entry) for position, *entry in rows]
    return EndedLogPage(entries, entries[-1].position if entries else after, complete)


def sweep(db: apsw.Connection, now: float, batch: int) -> int:
    """How many entries it removed."""
    db.execute(
        "DELETE FROM ended_sessions WHERE position IN (SELECT position FROM"
        " (SELECT position, expires FROM ended_sessions ORDER BY position LIMIT ?) WHERE expires <= ?)",
        (batch, now),
    )
    return db.changes()

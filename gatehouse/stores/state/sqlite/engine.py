"""State in one SQLite file that all workers of a machine share (WAL).

Point reads take a few microseconds and run on the event loop; every write goes through the `Writer`. A read
opens its own snapshot, so it sees every commit of every worker that was acknowledged before it began. The status of a
session is cached until the next commit of any process.
"""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING, Any

import apsw

from gatehouse.messages import message
from gatehouse.stores.errors import StoreUnavailable
from gatehouse.stores.state.limit_rules import NO_WAIT_SECONDS, filled, forgotten_at, gcra, next_failures
from gatehouse.stores.state.protocol import (
    EXPIRED_KEPT_SECONDS,
    BackoffPolicy,
    Failures,
    Rotation,
    Session,
    Swept,
)
from gatehouse.stores.state.refresh_reuse import is_reused
from gatehouse.stores.state.sqlite import ended_sessions_log as ended_log
from gatehouse.stores.state.sqlite.state_file import (
    INSERT_SESSION,
    SESSION_COLUMNS,
    connect,
    create,
    day_of,
    session_row,
)
from gatehouse.stores.state.sqlite.wal_changes import WalChanges
from gatehouse.stores.state.sqlite.writer_thread import Writer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from gatehouse.common.parsing import Rate
    from gatehouse.messages import Message
    from gatehouse.stores.state.protocol import EndedLogPage, EndRecord, ReuseDetection, SessionLogin, SessionStatus

SWEEP_BATCH = 500
# Sessions whose status is cached. A commit invalidates all of them, so there is no point in more.
STATUS_CACHE_SIZE = 4_096

_EPOCH = "coalesce((SELECT epoch FROM epochs WHERE epochs.user = sessions.user), 0)"
_WITH_EPOCH = f"{SESSION_COLUMNS}, {_EPOCH}"
_STATUS = f"SELECT user, ends, {_EPOCH} FROM sessions WHERE id = ?"  # noqa: S608 - constants only, as below
_READ = f"SELECT {_WITH_EPOCH} FROM sessions WHERE id = ?"  # noqa: S608
_OF_USER = f"SELECT {_WITH_EPOCH} FROM sessions WHERE user = ? ORDER BY opened, id"  # noqa: S608
_OLDEST = f"SELECT {_WITH_EPOCH} FROM sessions WHERE user = ? AND id != ? ORDER BY opened, id LIMIT ?"  # noqa: S608
_ROTATE = (
    "UPDATE sessions SET generation = generation + 1, rotated = ?2, ends = min(?3, latest)"  # noqa: S608
    f" WHERE id = ?1 AND generation = ?4 AND ends > ?2 RETURNING {_WITH_EPOCH}, day"
)
_TOUCH = (
    "UPDATE sessions SET ends = max(ends, min(?3, latest)), opened = coalesce(?4, opened), proof = coalesce(?5, proof)"  # noqa: S608
    f" WHERE id = ?1 AND ends > ?2 RETURNING {_WITH_EPOCH}, day"
)
# `gcra` of limit_rules.py in one statement, which changes nothing if the event exceeds the rate. A rate allows at
# least one event, so a key that is not there needs no look.
_COUNT = (
    "INSERT INTO rates VALUES (?1, ?2 + ?3) ON CONFLICT (key)"
    " DO UPDATE SET arrival = max(arrival, ?2) + ?3 WHERE max(arrival, ?2) + ?3 - ?4 - ?2 <= ?5"
)
_ARRIVAL = "SELECT arrival FROM rates WHERE key = ?"
_FAILURES = "SELECT key, failures, since, level, until FROM strikes WHERE key = ?"
_VALUE = "SELECT value FROM expiring_values WHERE key = ? AND expires > ?"


def live_sessions(path: Path, now: float) -> Iterator[Session]:
    """Every live session, for a move to another engine. Read lazily, so that a million fit."""
    connection = connect(path)
    try:
        query = f"SELECT {SESSION_COLUMNS} FROM sessions s WHERE s.ends > ? ORDER BY s.id"  # noqa: S608 - constants only
        for row in connection.execute(query, (now,)):
            yield Session._make((*row, 0))
    finally:
        connection.close()


class SQLiteState:
    """The `State` protocol over one file."""

    def __init__(self, path: Path, *, cache: bool = True) -> None:
        """`cache` keeps a session's status until the next commit; without it every request reads the file."""
        create(path)
        self._reader = connect(path)
        self._read = self._reader.cursor().execute
        self._reads = 0
        self._commits = WalChanges(self._reader) if cache else None
        self._status_cache: dict[str, SessionStatus] = {}
        self._writer = Writer(lambda: connect(path))

    def _row(self, sql: str, *values: apsw.SQLiteValue) -> Any:
        """The only row there can be, as a tuple, or its only column; None if there is none."""
        # get, not fetchone: a statement that is not run to its end keeps its snapshot, and the next read of this
        # connection would not see what other workers have committed since.
        self._reads += 1
        try:
            return self._read(sql, values).get
        except apsw.Error as problem:
            raise StoreUnavailable(f"state file: {problem}") from problem

    # Sessions

    async def open_session(
        self, session: Session, sessions_per_user: int, end_record: EndRecord | None = None
    ) -> tuple[Session, Sequence[Session]]:
        def work(db: apsw.Connection) -> tuple[Session, list[Session]]:
            db.execute(INSERT_SESSION, session_row(session))
            [opened] = [Session._make(row) for row in db.execute(_READ, (session.id,))]
            [(number,)] = db.execute("SELECT count(*) FROM sessions WHERE user = ?", (session.user,))
            if number <= sessions_per_user:
                return opened, []
            oldest = db.execute(_OLDEST, (session.user, session.id, number - sessions_per_user)).fetchall()
            return opened, _remove(db, [Session._make(row) for row in oldest], end_record)

        return await self._writer.write(work)

    async def session_status(self, session_id: str) -> SessionStatus | None:
        if self._commits is None or self._commits.any_new():
            self._status_cache.clear()
        status = self._status_cache.get(session_id)
        if status is None:
            status = self._row(_STATUS, session_id)
            if status is not None and len(self._status_cache) < STATUS_CACHE_SIZE:
                self._status_cache[session_id] = status
        return status

    async def rotate_session(
        self, session_id: str, generation: int, now: float, ends: float, reuse: ReuseDetection | None = None
    ) -> Rotation | None:
        def work(db: apsw.Connection) -> Rotation | None:
            # One statement in the usual case: each one hands the interpreter's lock back and forth.
            rotated = _extend(db, _ROTATE, (session_id, now, ends, generation))
            if rotated is not None:
                return Rotation(did_rotate=True, session=rotated)
            for row in db.execute(_READ, (session_id,)).fetchall():
                session = Session._make(row)
                was_reused = reuse is not None and is_reused(session, generation, now, reuse.grace)
                if reuse is not None and was_reused:
                    _remove(db, [session], reuse.end_record)
                return Rotation(did_rotate=False, session=session, was_reused=was_reused)
            return None

        return await self._writer.write(work)

    async def touch_session(
        self, session_id: str, now: float, ends: float, login: SessionLogin | None = None
    ) -> Session | None:
        values = (session_id, now, ends, *(login or (None, None)))
        return await self._writer.write(lambda db: _extend(db, _TOUCH, values))

    async def end_session(self, session_id: str, end_record: EndRecord | None = None) -> Session | None:
        def work(db: apsw.Connection) -> Session | None:
            row = db.execute(_READ, (session_id,)).fetchone()
            return _remove(db, [Session._make(row)], end_record)[0] if row else None

        return await self._writer.write(work)

    async def sessions_of(self, user: int) -> Sequence[Session]:
        try:
            return _of_user(self._reader, user)
        except apsw.Error as problem:
            raise StoreUnavailable(f"state file: {problem}") from problem

    async def end_sessions_of(
        self, user: int, except_session: str | None = None, end_record: EndRecord | None = None
    ) -> Sequence[Session]:
        def work(db: apsw.Connection) -> list[Session]:
            if end_record is not None and end_record.credential_changed:
                ended_log.append(db, [str(user)], end_record)
            return _remove(db, [session for session in _of_user(db, user) if session.id != except_session], end_record)

        return await self._writer.write(work)

    # The log of ended sessions

    async def ended_sessions(self, after: str, limit: int) -> EndedLogPage:
        self._reads += 1
        try:
            return ended_log.read(self._reader, after, limit)
        except apsw.Error as problem:
            raise StoreUnavailable(f"state file: {problem}") from problem

    async def ended_position(self) -> str:
        return str(self._row(ended_log.NEWEST) or "")

    # Epochs

    async def raise_epochs(self, users: Iterable[int], now: float) -> None:
        # Milliseconds, so that an epoch lost with the file cannot come back with another meaning.
        values = [(user, int(now * 1000)) for user in users]
        await self._writer.write(
            lambda db: db.executemany(
                "INSERT INTO epochs VALUES (?, ?) ON CONFLICT (user)"
                " DO UPDATE SET epoch = max(epoch + 1, excluded.epoch)",
                values,
            )
        )

    # Captchas

    async def use_captcha(self, fingerprint: bytes, expires: int, now: float) -> bool:  # noqa: ARG002 - swept later
        def work(db: apsw.Connection) -> bool:
            db.execute("INSERT OR IGNORE INTO captchas VALUES (?, ?)", (fingerprint, expires))
            return db.changes() == 1

        return await self._writer.write(work)

    # Limits

    async def rate_limit(self, key: str, rate: Rate, now: float) -> float:
        return await self._writer.write(lambda db: _count(db, key, rate, now))

    async def rate_level(self, key: str, now: float) -> float:
        arrival: float | None = self._row(_ARRIVAL, key)
        return 0.0 if arrival is None else max(arrival - now, 0.0)

    async def add_to_rate(self, key: str, seconds: float, ceiling: float, now: float) -> float:
        def work(db: apsw.Connection) -> float:
            arrival = filled(db.execute(_ARRIVAL, (key,)).get, seconds, ceiling, now)
            db.execute("INSERT OR REPLACE INTO rates VALUES (?, ?)", (key, arrival))
            return arrival - now

        return await self._writer.write(work)

    async def record_failure(self, key: str, policy: BackoffPolicy, now: float) -> Failures | None:
        def work(db: apsw.Connection) -> Failures | None:
            row = db.execute(_FAILURES, (key,)).fetchone()
            after = next_failures(Failures._make(row) if row else None, key, policy, now)
            if after is not None:
                db.execute(
                    "INSERT OR REPLACE INTO strikes VALUES (?, ?, ?, ?, ?, ?)",
                    (*after, forgotten_at(after, policy)),
                )
            return after

        return await self._writer.write(work)

    async def failures(self, key: str) -> Failures | None:
        row = self._row(_FAILURES, key)
        return Failures._make(row) if row else None

    async def clear_failures(self, key: str) -> bool:
        def work(db: apsw.Connection) -> bool:
            db.execute("DELETE FROM strikes WHERE key = ?", (key,))
            return db.changes() == 1

        if self._row(_FAILURES, key) is None:
            return False  # the usual case at login: nothing to clear, nothing to write
        return await self._writer.write(work)

    async def locked(self, now: float) -> Sequence[Failures]:
        try:
            rows = self._reader.execute(
                "SELECT key, failures, since, level, until FROM strikes WHERE until > ? ORDER BY until DESC",
                (now,),
            ).fetchall()
        except apsw.Error as problem:
            raise StoreUnavailable(f"state file: {problem}") from problem
        return [Failures._make(row) for row in rows]

    async def set_flag(self, key: str, expires: float, now: float) -> None:  # noqa: ARG002 - swept later
        await self._writer.write(lambda db: db.execute("INSERT OR REPLACE INTO marks VALUES (?, ?)", (key, expires)))

    async def has_flag(self, key: str, now: float) -> bool:
        return self._row("SELECT 1 FROM marks WHERE key = ? AND expires > ?", key, now) is not None

    # Values

    async def value(self, key: str, now: float) -> str | None:
        found: str | None = self._row(_VALUE, key, now)
        return found

    async def compare_and_set(self, key: str, expected: str | None, new: str, expires: float, now: float) -> bool:
        def work(db: apsw.Connection) -> bool:
            row = db.execute(_VALUE, (key, now)).fetchone()
            if (row[0] if row else None) != expected:
                return False
            db.execute("INSERT OR REPLACE INTO expiring_values VALUES (?, ?, ?)", (key, new, expires))
            return True

        return await self._writer.write(work)

    # Housekeeping

    async def sweep(self, now: float) -> Swept:
        def work(db: apsw.Connection) -> Swept:
            rows = db.execute(
                f"SELECT {SESSION_COLUMNS} FROM sessions WHERE day <= ? AND ends <= ? LIMIT ?",  # noqa: S608 - constants only
                (day_of(now - EXPIRED_KEPT_SECONDS), now - EXPIRED_KEPT_SECONDS, SWEEP_BATCH),
            ).fetchall()
            more = len(rows) == SWEEP_BATCH
            for table, key, column in (
                ("captchas", "fingerprint", "expires"),
                ("rates", "key", "arrival"),
                ("strikes", "key", "expires"),
                ("marks", "key", "expires"),
                ("expiring_values", "key", "expires"),
            ):
                db.execute(
                    f"DELETE FROM {table} WHERE {key} IN"  # noqa: S608 - constants only
                    f" (SELECT {key} FROM {table} WHERE {column} <= ? LIMIT ?)",
                    (now, SWEEP_BATCH),
                )
                more |= db.changes() == SWEEP_BATCH
            more |= ended_log.sweep(db, now, SWEEP_BATCH) == SWEEP_BATCH
            return Swept(_remove(db, [Session._make((*row, 0)) for row in rows]), more)

        return await self._writer.write(work)

    def counts(self) -> Mapping[str, int]:
        return {"read": self._reads, "write": self._writer.written, "commit": self._writer.commits}

    async def ping(self) -> None:
        # A real write: on a full disk reads go on.
        await self._writer.write(
            lambda db: db.execute("INSERT OR REPLACE INTO meta VALUES ('ping', ?)", (token_hex(4),))
        )

    async def identity(self) -> str:
        def work(db: apsw.Connection) -> str:
            db.execute("INSERT OR IGNORE INTO meta VALUES ('identity', ?)", (token_hex(16),))
            [(identity,)] = db.execute("SELECT value FROM meta WHERE name = 'identity'")
            return str(identity)

        return await self._writer.write(work)

    async def configuration_warnings(self) -> list[Message]:
        return []  # `connect` sets everything that matters

    async def durability(self) -> Message:
        return message("findings.durability_sqlite")

    async def close(self) -> None:
        self._reader.close()
        if self._writer.close() and self._commits is not None:
            self._commits.close()  # else it would take the lock away under which the writer still writes


def _of_user(db: apsw.Connection, user: int) -> list[Session]:
    return [Session._make(row) for row in db.execute(_OF_USER, (user,))]


def _extend(db: apsw.Connection, sql: str, values: Sequence[apsw.SQLiteValue]) -> Session | None:
    """Run a statement that moves the end of a session; the session, unless it was left as it is."""
    for *row, day in db.execute(sql, values).fetchall():
        session = Session._make(row)
        if day != day_of(session.ends):
            db.execute("UPDATE sessions SET day = ? WHERE id = ?", (day_of(session.ends), session.id))
        return session
    return None


def _count(db: apsw.Connection, key: str, rate: Rate, now: float) -> float:
    """One event under a rate: the seconds to wait, or 0 if it was counted."""
    interval = rate.seconds / rate.count
    db.execute(_COUNT, (key, now, interval, rate.seconds, NO_WAIT_SECONDS))
    if db.changes():
        return 0.0
    arrival = db.execute(_ARRIVAL, (key,)).get
    return gcra(arrival, rate, now)[0]


def _remove(db: apsw.Connection, sessions: list[Session], end_record: EndRecord | None = None) -> list[Session]:
    db.executemany("DELETE FROM sessions WHERE id = ?", [(session.id,) for session in sessions])
    if end_record is not None:
        # A session that ended by time has no valid tokens left.
        ended_log.append(db, [session.id for session in sessions if session.ends > end_record.at], end_record)
    return sessions

"""State in PostgreSQL, shared by every node: for those who have it and no Redis.

Every operation of a request is one statement, so one round trip and one transaction; `functions.sql` has those that
take several steps. What is answered has been committed
as the server's `synchronous_commit` says: with synchronous standbys nothing that was acknowledged is lost in a
failover. `tables.sql` says what is kept, and that rates alone may be lost.
"""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING, Any

from gatehouse.stores.state.postgres import ended_sessions_log as ended_log
from gatehouse.stores.state.postgres import server_configuration
from gatehouse.stores.state.postgres import statements as sql
from gatehouse.stores.state.postgres.pool import Pool
from gatehouse.stores.state.protocol import EXPIRED_KEPT_SECONDS, BackoffPolicy, Failures, Rotation, Session, Swept

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gatehouse.common.parsing import Rate
    from gatehouse.messages import Message
    from gatehouse.stores.state.protocol import EndedLogPage, EndRecord, ReuseDetection, SessionLogin, SessionStatus

SWEEP_BATCH = 500
# Epochs that are raised in one statement.
EPOCH_BATCH = 1_000


class PostgresState:
    """The `State` protocol over one database. Connects at the first call, and creates its tables then."""

    def __init__(self, url: str) -> None:
        """Raises `ValueError` if the URL cannot be read."""
        self._pool = Pool(url)
        self._run = self._pool.run

    # Sessions

    async def open_session(
        self, session: Session, sessions_per_user: int, end_record: EndRecord | None = None
    ) -> tuple[Session, Sequence[Session]]:
        texts = (_text(session.address), _text(session.agent), session.proof)
        stored = (session.user, session.id, *session[2:7], *texts, sessions_per_user)
        if end_record is None:
            found = _sessions(row[1:] for row in await self._run(sql.OPEN_SESSIONS, *stored))
        else:
            found = _sessions(await self._run(sql.OPEN_SESSION, *stored, *ended_log.end_record_values(end_record)))
        epoch = found[0].epoch
        return session._replace(epoch=epoch), [one for one in found if one.id != session.id]

    async def session_status(self, session_id: str) -> SessionStatus | None:
        if not _is_valid_id(session_id):
            return None
        for _, user, ends, epoch in await self._run(sql.SESSION_STATUS, session_id):
            return user, ends, epoch
        return None

    async def rotate_session(
        self, session_id: str, generation: int, now: float, ends: float, reuse: ReuseDetection | None = None
    ) -> Rotation | None:
        if not _is_valid_id(session_id):
            return None
        _, *record = ended_log.end_record_values(reuse.end_record if reuse else None)
        asked = (session_id, generation, now, ends, reuse.grace if reuse else None)
        for _, rotated, was_reused, *session in await self._run(sql.ROTATE_SESSION, *asked, *record):
            return Rotation(rotated, Session._make(session), was_reused)
        return None

    async def touch_session(
        self, session_id: str, now: float, ends: float, login: SessionLogin | None = None
    ) -> Session | None:
        if not _is_valid_id(session_id):
            return None
        asked = (session_id, now, ends, *(login or (None, None)))
        for _, *session in await self._run(sql.TOUCH_SESSION, *asked):
            return Session._make(session)
        return None

    async def end_session(self, session_id: str, end_record: EndRecord | None = None) -> Session | None:
        if not _is_valid_id(session_id):
            return None
        for _, *session in await self._run(sql.END_SESSION, session_id, *ended_log.end_record_values(end_record)):
            return Session._make(session)
        return None

    async def sessions_of(self, user: int) -> Sequence[Session]:
        return _sessions(await self._run(sql.SESSIONS_OF, user))

    async def end_sessions_of(
        self, user: int, except_session: str | None = None, end_record: EndRecord | None = None
    ) -> Sequence[Session]:
        credential_changed = end_record is not None and end_record.credential_changed
        except_id = except_session if except_session and _is_valid_id(except_session) else None
        return _sessions(
            await self._run(
                sql.END_SESSIONS_OF, user, except_id, credential_changed, *ended_log.end_record_values(end_record)
            )
        )

    # The log of ended sessions

    async def ended_sessions(self, after: str, limit: int) -> EndedLogPage:
        return ended_log.page(after, await self._run(sql.ENDED_SESSIONS, ended_log.number_of(after), limit))

    async def ended_position(self) -> str:
        [(newest,)] = await self._run(sql.ENDED_POSITION)
        return str(newest or "")

    # Epochs

    async def raise_epochs(self, users: Iterable[int], now: float) -> None:
        # Milliseconds, so that an epoch lost with the database cannot come back with another meaning.
        everyone = sorted(users)
        for start in range(0, len(everyone), EPOCH_BATCH):
            await self._run(sql.RAISE_EPOCHS, everyone[start : start + EPOCH_BATCH], int(now * 1000))

    # Captchas

    async def use_captcha(self, fingerprint: bytes, expires: int, now: float) -> bool:  # noqa: ARG002 - swept later
        return bool(await self._run(sql.USE_CAPTCHA, fingerprint, expires))

    # Limits

    async def rate_limit(self, key: str, rate: Rate, now: float) -> float:
        [(_, wait)] = await self._run(sql.RATE_LIMIT, _bytes(key), now, rate.seconds / rate.count, float(rate.seconds))
        return float(wait)

    async def rate_level(self, key: str, now: float) -> float:
        for _, arrival in await self._run(sql.RATE_LEVEL, _bytes(key)):
            return float(max(arrival - now, 0.0))
        return 0.0

    async def add_to_rate(self, key: str, seconds: float, ceiling: float, now: float) -> float:
        [(_, arrival)] = await self._run(sql.ADD_TO_RATE, _bytes(key), now, seconds, ceiling)
        return float(arrival - now)

    async def record_failure(self, key: str, policy: BackoffPolicy, now: float) -> Failures | None:
        values = (policy.failure_limit, policy.window, policy.kept_seconds, policy.lockout_seconds)
        return _failures(await self._run(sql.RECORD_FAILURE, _bytes(key), now, *values))

    async def failures(self, key: str) -> Failures | None:
        return _failures(await self._run(sql.FAILURES, _bytes(key)))

    async def clear_failures(self, key: str) -> bool:
        return bool(await self._run(sql.CLEAR_FAILURES, _bytes(key)))

    async def locked(self, now: float) -> Sequence[Failures]:
        return [Failures(_string(key), *facts) for key, *facts in await self._run(sql.LOCKED, now)]

    async def set_flag(self, key: str, expires: float, now: float) -> None:  # noqa: ARG002 - swept later
        await self._run(sql.SET_FLAG, _bytes(key), expires)

    async def has_flag(self, key: str, now: float) -> bool:
        return bool(await self._run(sql.HAS_FLAG, _bytes(key), now))

    # Values

    async def value(self, key: str, now: float) -> str | None:
        for (value,) in await self._run(sql.VALUE, _bytes(key), now):
            return _string(value)
        return None

    async def compare_and_set(self, key: str, expected: str | None, new: str, expires: float, now: float) -> bool:
        values = (_bytes(key), _bytes(new), expires, now)
        if expected is None:
            return bool(await self._run(sql.SET_VALUE, *values))
        return bool(await self._run(sql.REPLACE_VALUE, *values, _bytes(expected)))

    # Housekeeping

    async def sweep(self, now: float) -> Swept:
        sessions = _sessions(await self._run(sql.SWEEP, now, now - EXPIRED_KEPT_SECONDS, SWEEP_BATCH))
        [(more,)] = await self._run(sql.MORE_TO_SWEEP, now)
        return Swept(sessions, more or len(sessions) == SWEEP_BATCH)

    def counts(self) -> Mapping[str, int]:
        return {"call": self._pool.calls, "round_trip": self._pool.round_trips}

    async def ping(self) -> None:
        # A real write: a standby answers reads, and so does a server with a full disk.
        await self._run(sql.PING, token_hex(4))

    async def identity(self) -> str:
        [(identity,)] = await self._run(sql.IDENTITY, token_hex(16))
        return str(identity)

    async def configuration_warnings(self) -> list[Message]:
        return server_configuration.warnings(await self._settings())

    async def durability(self) -> Message:
        return server_configuration.durability(await self._settings())

    async def close(self) -> None:
        await self._pool.close()

    async def _settings(self) -> Mapping[str, str]:
        return dict(await self._run(sql.SETTINGS, list(server_configuration.SETTINGS)))


def _is_valid_id(session_id: str) -> bool:
    """Whether a session can have this id. Anything else the server might refuse as text."""
    return session_id.isascii() and "\0" not in session_id


def _text(text: str) -> str:
    """Without what PostgreSQL cannot keep as text, and no browser sends: NUL and lone surrogates."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _string(stored: bytes) -> str:
    return stored.decode("utf-8", "surrogatepass")


def _sessions(rows: Iterable[Any]) -> list[Session]:
    return sorted(map(Session._make, rows), key=lambda session: (session.opened, session.id))


def _failures(rows: Sequence[Any]) -> Failures | None:
    return Failures(_string(rows[0][0]), *rows[0][1:]) if rows else None

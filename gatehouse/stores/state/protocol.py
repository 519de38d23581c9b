"""State: short-lived data that all workers and nodes share. Sessions, used captchas, counters, user epochs.

This is the hot path, so each engine has its own implementation behind the one `State` protocol; every operation is
atomic, and what it reports is as durable as the engine can make it before it returns (`durability`). An engine that
cannot answer raises `StoreUnavailable`. Losing state logs everybody out and loses nothing else.

Times are seconds since the epoch, passed in by the caller; an engine never reads a clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gatehouse.common.parsing import Rate
    from gatehouse.messages import Message

# An expired session is kept this long, so that the next refresh can be told apart from a forgery
# and the end can be recorded with its reason.
EXPIRED_KEPT_SECONDS = 86400

# An epoch is kept as long as a session of its user, and at least this long after it was raised: far longer than any
# process caches a profile, so that an epoch which starts again at 0 is never taken for an older 0.
EPOCH_KEPT_SECONDS = 86400

# An application's grant is rotated as a session is, in a row of its own under this number plus its user's: so none of
# the operations over a user's sessions meets one.
GRANT_OWNERS = 2**62

# The log of ended sessions holds at most this many; the oldest are dropped, and readers who missed them are told so.
ENDED_SESSIONS_MAX = 200_000
# An entry stays this long. No access token is valid for longer, whatever the settings of each node were or will be: a
# day, and an hour for clocks that differ and for what verifiers allow.
ENDED_KEPT_SECONDS = 90_000


class Session(NamedTuple):
    """One login and its current status. Its id begins with the user's id: `<user>-<random>`."""

    id: str
    user: int
    generation: int
    opened: float
    rotated: float
    ends: float  # without a further refresh; never later than `absolute_end`
    absolute_end: float  # however often it is refreshed; stored as `latest`
    address: str
    agent: str
    proof: str = ""  # the methods of the login, see `auth/sessions/amr.py`; empty if 0.1.0 has opened it
    epoch: int = 0  # of the user, read in the same step


class SessionLogin(NamedTuple):
    """A further login in a session that goes on: when it was, and by which methods."""

    opened: float
    proof: str


def is_grant(session_id: str) -> bool:
    """Whether this is a grant's row; its end is neither logged nor audited, because its session's is."""
    owner = session_id.partition("-")[0]
    return owner.isdecimal() and int(owner) >= GRANT_OWNERS


# What every request asks about its session: the user, the end, the user's epoch. Every request reads it, so it is a
# tuple without names.
SessionStatus = tuple[int, float, int]


class Rotation(NamedTuple):
    """The session after an attempt to rotate it, and whether this attempt was the one that did.

    `was_reused`: the attempt presented a token that counts as stolen, and has ended the session.
    """

    did_rotate: bool
    session: Session
    was_reused: bool = False


class EndRecord(NamedTuple):
    """How an end is written into the log of ended sessions. It stays there for `kept_seconds`.

    `credential_changed`: the user's password was changed or the user disabled, which is an entry of its own.
    """

    at: float
    reason: str
    kept_seconds: int
    credential_changed: bool = False


class ReuseDetection(NamedTuple):
    """A refresh token counts as reused (`refresh_reuse.is_reused`) by this grace window; how the end is recorded."""

    grace: float
    end_record: EndRecord | None


class EndedLogEntry(NamedTuple):
    """An entry of the log. `session` is the user's id alone if the entry is about the user's credential."""

    position: str
    session: str
    at: float
    reason: str


class EndedLogPage(NamedTuple):
    """A part of the log. `position` is that of the last entry here, or the position that was given.

    `complete` is False if entries after the reader's position have been dropped that may still matter, or if the log
    is not the one that the position was taken from.
    """

    entries: Sequence[EndedLogEntry]
    position: str
    complete: bool


class BackoffPolicy(NamedTuple):
    """Backoff: failure number `failure_limit` within a window locks, and each one after it locks for longer.

    `lockout_seconds` are the durations, one after the other; the last one stays.
    """

    failure_limit: int
    window: int
    lockout_seconds: tuple[int, ...]
    kept_seconds: int


class Failures(NamedTuple):
    """Failures under one key. `level` counts the lockouts so far, and `until` is when the newest one ends."""

    key: str
    failures: int
    since: float
    level: int
    until: float


class Swept(NamedTuple):
    """The sessions among what a sweep removed, and whether there is more to remove."""

    sessions: Sequence[Session]
    more: bool


class State(Protocol):
    # Sessions
    async def open_session(
        self, session: Session, sessions_per_user: int, end_record: EndRecord | None = None
    ) -> tuple[Session, Sequence[Session]]:
        """Store a new session. Returns it with its user's epoch, and those that were removed, oldest first:
        the oldest beyond `sessions_per_user`, and with an engine that sweeps here those ended long ago.

        Here and below: with `end_record`, each session that is removed before its time is written into the log of ended
        sessions, in the same atomic step. (On a Redis Cluster in a second step, before the call returns.)
        """
        ...

    async def session_status(self, session_id: str) -> SessionStatus | None:
        """The status of a session, expired or not. The hot path: one read."""
        ...

    async def rotate_session(
        self, session_id: str, generation: int, now: float, ends: float, reuse: ReuseDetection | None = None
    ) -> Rotation | None:
        """Advance the generation by one if it still is `generation` and the session is live at `now`.

        The new end is `ends` or the session's absolute end, whichever is earlier. None: no such session.
        With `reuse`, a session whose token was reused is ended in the same step.
        """
        ...

    async def touch_session(
        self, session_id: str, now: float, ends: float, login: SessionLogin | None = None
    ) -> Session | None:
        """Extend a session that is live at `now` without rotating it; None if there is none, or it has expired.

        The new end is `ends` or the session's absolute end, whichever is earlier, but never earlier than it was.
        With `login` the session is as old and as proven as that.
        """
        ...

    async def end_session(self, session_id: str, end_record: EndRecord | None = None) -> Session | None:
        """Remove the session; return what was removed. Of several callers at once exactly one gets it."""
        ...

    async def sessions_of(self, user: int) -> Sequence[Session]:
        """Every session of the user, oldest first."""
        ...

    async def end_sessions_of(
        self, user: int, except_session: str | None = None, end_record: EndRecord | None = None
    ) -> Sequence[Session]:
        """Remove every session of the user but `except_session`; return what was removed."""
        ...

    # The log of ended sessions: positions are the engine's own, and grow
    async def ended_sessions(self, after: str, limit: int) -> EndedLogPage:
        """The next entries after a position, oldest first; an empty position is before the oldest entry."""
        ...

    async def ended_position(self) -> str:
        """The position of the newest entry; empty if there is none. Asked often: one read."""
        ...

    # Epochs
    async def raise_epochs(self, users: Iterable[int], now: float) -> None:
        """Make each user's epoch larger than it ever was."""
        ...

    # Captchas
    async def use_captcha(self, fingerprint: bytes, expires: int, now: float) -> bool:
        """Mark as used; True for exactly one caller until it expires."""
        ...

    # Limits
    async def rate_limit(self, key: str, rate: Rate, now: float) -> float:
        """Count one event under `key`: 0 if it is within the rate, else the seconds to wait, not counted."""
        ...

    async def rate_level(self, key: str, now: float) -> float:
        """How far a rate is used, in seconds until it is idle again; nothing is counted. One read."""
        ...

    async def add_to_rate(self, key: str, seconds: float, ceiling: float, now: float) -> float:
        """Raise the level by `seconds`, or lower it if they are negative; returns the new one, from 0 to `ceiling`."""
        ...

    async def record_failure(self, key: str, policy: BackoffPolicy, now: float) -> Failures | None:
        """Count one failure. None: the key is waiting already, and nothing was counted."""
        ...

    async def failures(self, key: str) -> Failures | None: ...

    async def clear_failures(self, key: str) -> bool:
        """Clear the failures under `key`; False if there were none."""
        ...

    async def locked(self, now: float) -> Sequence[Failures]:
        """Every locked key, the longest wait first."""
        ...

    async def set_flag(self, key: str, expires: float, now: float) -> None:
        """Set a flag that holds until `expires`."""
        ...

    async def has_flag(self, key: str, now: float) -> bool: ...

    # Values
    async def value(self, key: str, now: float) -> str | None:
        """The text kept under `key`, unless it has expired."""
        ...

    async def compare_and_set(self, key: str, expected: str | None, new: str, expires: float, now: float) -> bool:
        """Keep `new` under `key` until `expires` if what is there is `expected`; None: nothing, or nothing any more.

        Of several callers that expect the same exactly one succeeds: so a thing is used once.
        """
        ...

    # Housekeeping
    async def sweep(self, now: float) -> Swept:
        """Remove a small batch of what has expired."""
        ...

    def counts(self) -> Mapping[str, int]:
        """Number of operations of each kind since the engine was opened, for the metrics."""
        ...

    async def ping(self) -> None:
        """Return if the engine answers reads and writes."""
        ...

    async def identity(self) -> str:
        """A random name, created at the first call and kept: tells whether two nodes use the same store."""
        ...

    async def configuration_warnings(self) -> list[Message]:
        """What the engine lacks to keep the promises above; empty if all is well."""
        ...

    async def durability(self) -> Message:
        """What a crash or a failover can lose of that which was acknowledged: for the doctor."""
        ...

    async def close(self) -> None: ...

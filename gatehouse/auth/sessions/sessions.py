"""The rules of a session, all of them.

A login opens one. It ends `idle` seconds after its last refresh, `longest` seconds after login, or when somebody
ends it; whatever ends it, from that moment none of its tokens is accepted anywhere. Each refresh raises the
session's generation by one; the refresh token of generation n is:

- n current: rotated. Of several at once one rotates, the others find themselves one generation behind;
- one behind, within `grace` seconds of the rotation: answered with the current token again, so that a lost answer
  or a second tab logs nobody out. The window is counted from the rotation and is not renewed by being used;
- anything else: stolen. The session ends, and that end is stored before the refusal is raised.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.audit import Audit, Caller, Ended, Event
from gatehouse.auth.refusals import RefreshTokenInvalid
from gatehouse.auth.sessions.tokens import new_session_id
from gatehouse.stores.state.protocol import Rotation, Session, State

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

AGENT_LENGTH = 200


class Lifetimes(NamedTuple):
    """In seconds. `access` is of a token, the others of a session."""

    access: int
    idle: int
    longest: int
    grace: int


class Presented(Enum):
    """What a refresh token is, measured against its session."""

    CURRENT = auto()
    REPEATED = auto()
    STOLEN = auto()
    OVER = auto()


def judge(session: Session, generation: int, now: float, grace: float) -> Presented:
    if session.ends <= now:
        return Presented.OVER
    if generation == session.generation:
        return Presented.CURRENT
    if generation == session.generation - 1 and now < session.rotated + grace:
        return Presented.REPEATED
    return Presented.STOLEN


def ended_by_time(session: Session) -> Ended:
    return Ended.ABSOLUTE if session.ends >= session.latest else Ended.IDLE


class Sessions:
    def __init__(
        self, state: State, audit: Audit, clock: Callable[[], float], lifetimes: Lifetimes, at_most: int
    ) -> None:
        self._state = state
        self._audit = audit
        self._clock = clock
        self._lifetimes = lifetimes
        self._at_most = at_most

    async def open(self, user: int, caller: Caller) -> Session:
        now = self._clock()
        latest = now + self._lifetimes.longest
        session = Session(
            id=new_session_id(user),
            user=user,
            generation=1,
            opened=now,
            rotated=now,
            ends=min(now + self._lifetimes.idle, latest),
            latest=latest,
            address=caller.address,
            agent=caller.agent[:AGENT_LENGTH],
        )
        opened, evicted = await self._state.open_session(session, self._at_most)
        for oldest in evicted:
            self._record_end(oldest, Ended.LIMIT if oldest.ends > now else ended_by_time(oldest), caller)
        return opened

    async def epoch_of(self, session_id: str, user: int, now: float) -> int | None:
        """The user's epoch, if this is a session of the user and has not ended."""
        standing = await self._state.standing(session_id)
        if standing is None:
            return None
        owner, ends, epoch = standing
        return epoch if owner == user and ends > now else None

    async def refresh(self, session_id: str, generation: int, caller: Caller) -> Rotation:
        """The session as it stands after this refresh; its generation is that of the token to hand out."""
        now = self._clock()
        attempt = await self._state.rotate_session(session_id, generation, now, now + self._lifetimes.idle)
        if attempt is None:
            raise RefreshTokenInvalid("no such session")
        if attempt.rotated:
            return attempt
        match judge(attempt.session, generation, now, self._lifetimes.grace):
            case Presented.REPEATED:
                return attempt
            case Presented.OVER:
                await self.end(session_id, ended_by_time(attempt.session), caller)
                raise RefreshTokenInvalid("the session is over")
            case _:
                # Two parties hold tokens of this session and one of them stole them; which, nobody can tell.
                # The end is stored here, before the refusal leaves: whatever becomes of the answer, it stands.
                await self.end(session_id, Ended.REUSE, caller)
                raise RefreshTokenInvalid("a used refresh token was presented")

    async def end(self, session_id: str, reason: Ended, caller: Caller) -> Session | None:
        """End one session; what is returned was ended by this call and by no other."""
        session = await self._state.end_session(session_id)
        if session is not None:
            self._record_end(session, reason, caller)
        return session

    async def end_all(self, user: int, reason: Ended, caller: Caller, *, keep: str | None = None) -> Sequence[Session]:
        ended = await self._state.end_sessions_of(user, keep)
        for session in ended:
            self._record_end(session, reason, caller)
        return ended

    async def of(self, user: int) -> Sequence[Session]:
        """The user's live sessions, newest first."""
        now = self._clock()
        return [session for session in reversed(await self._state.sessions_of(user)) if session.ends > now]

    async def sweep(self) -> int:
        """Remove a batch of what has expired; return how many sessions were among it."""
        swept = await self._state.sweep(self._clock())
        for session in swept:
            self._record_end(session, ended_by_time(session), Caller())
        return len(swept)

    def _record_end(self, session: Session, reason: Ended, caller: Caller) -> None:
        self._audit.record(Event.SESSION_ENDED, caller, user=session.user, session=session.id, reason=reason)

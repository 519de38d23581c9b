"""The rules of a session: opening, refresh and rotation, reuse detection, expiry, revocation.

A login opens one. It ends `idle` seconds after its last refresh, `absolute` seconds after login, or when it is
revoked; from that moment none of its tokens is accepted anywhere. Each refresh raises the
session's generation by one; the refresh token of generation n is:

- n current: rotated. Of several at once one rotates, the others find themselves one generation behind;
- one behind, within `grace` seconds of the rotation: answered with the current token again, so that a lost answer
  or a second tab logs nobody out. The window is counted from the rotation and is not renewed by being used;
- anything else: reused (`refresh_reuse.is_reused`), so taken as stolen. The store decides it and ends the session in
  one step, before the refusal is raised.

A session is revoked when it is ended before it expires: by logout, reuse, an administrator (`SessionEndReason`).
That is written to the log of ended sessions in the same step, for the services that verify tokens by themselves;
`ended_sessions_feed.py` reads it. Everywhere else the word is `end`, as in the audit tag `session.ended`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.audit import Audit, ClientInfo, Event, RefreshFailure, SessionEndReason
from gatehouse.auth.refusals import RefreshTokenInvalid
from gatehouse.auth.sessions.amr import pack_methods
from gatehouse.auth.sessions.tokens import new_session_id
from gatehouse.common.user_agent import USER_AGENT_MAX_LENGTH
from gatehouse.stores.state.protocol import (
    ENDED_KEPT_SECONDS,
    EndRecord,
    ReuseDetection,
    Rotation,
    Session,
    SessionLogin,
    State,
    is_grant,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Ends of all sessions of a user that say something about the user as well.
CREDENTIAL_CHANGES = {SessionEndReason.PASSWORD, SessionEndReason.DISABLED, SessionEndReason.DELETED}


class Lifetimes(NamedTuple):
    """Of a session, in seconds."""

    idle: int
    absolute: int
    grace: int


def expiry_reason(session: Session) -> SessionEndReason:
    return SessionEndReason.ABSOLUTE if session.ends >= session.absolute_end else SessionEndReason.IDLE


class Sessions:
    def __init__(
        self, state: State, audit: Audit, clock: Callable[[], float], lifetimes: Lifetimes, sessions_per_user: int
    ) -> None:
        self._state = state
        self._audit = audit
        self._clock = clock
        self._lifetimes = lifetimes
        self._sessions_per_user = sessions_per_user

    async def open(
        self,
        user: int,
        client: ClientInfo,
        methods: Sequence[str],
        *,
        parent: Session | None = None,
        session_id: str | None = None,
    ) -> tuple[Session, Sequence[Session]]:
        """A new session, and the user's oldest beyond the limit, which it has ended.

        `methods` are those that its login was proven by, see `amr.py`. With `parent` it goes back to the login of that
        session: it is as old, and ends no later. `session_id`: one that was chosen before. A grant is as old as it is
        itself, so that the oldest go first.
        """
        now = self._clock()
        session_id = session_id or new_session_id(user)
        absolute_end = parent.absolute_end if parent else now + self._lifetimes.absolute
        session = Session(
            id=session_id,
            user=user,
            generation=1,
            opened=parent.opened if parent and not is_grant(session_id) else now,
            rotated=now,
            ends=min(now + self._lifetimes.idle, absolute_end),
            absolute_end=absolute_end,
            address=client.address,
            agent=client.user_agent[:USER_AGENT_MAX_LENGTH],
            proof=pack_methods(methods),
        )
        end_record = self._end_record_of(session.id, SessionEndReason.LIMIT)
        opened, evicted = await self._state.open_session(session, self._sessions_per_user, end_record)
        for oldest in evicted:
            self._audit_end(oldest, SessionEndReason.LIMIT if oldest.ends > now else expiry_reason(oldest), client)
        return opened, evicted

    async def log_in(
        self, user: int, client: ClientInfo, methods: Sequence[str], within: Session | None = None
    ) -> Session:
        """The session of a login: `within`, which goes on if it is a live one of the same user, or else a new one."""
        if within is not None and within.user == user:
            renewed = await self.touch(within.id, SessionLogin(self._clock(), pack_methods(methods)))
            if renewed is not None:
                return renewed
        session, _ = await self.open(user, client, methods)
        return session

    async def live_epoch(self, session_id: str, user: int, now: float) -> int | None:
        """The user's epoch, if this is a session of the user and has not ended.

        The epoch is a counter of each user that every change of the account raises: what was cached before is outdated.
        """
        session_status = await self._state.session_status(session_id)
        if session_status is None:
            return None
        owner, ends, epoch = session_status
        return epoch if owner == user and ends > now else None

    async def touch(self, session_id: str, login: SessionLogin | None = None) -> Session | None:
        """Extend a live session as a refresh does, because its user still uses it; None if it has ended.

        With `login` the user has logged in again in it.
        """
        now = self._clock()
        return await self._state.touch_session(session_id, now, now + self._lifetimes.idle, login)

    async def refresh(self, session_id: str, generation: int, client: ClientInfo) -> Rotation:
        """The session after this refresh; its generation is that of the token to return."""
        now = self._clock()
        reuse = ReuseDetection(self._lifetimes.grace, self._end_record_of(session_id, SessionEndReason.REUSE))
        attempt = await self._state.rotate_session(session_id, generation, now, now + self._lifetimes.idle, reuse)
        if attempt is None:
            raise RefreshTokenInvalid(RefreshFailure.NO_SESSION)
        if attempt.was_reused:
            # Two parties have tokens of this session, and nothing shows which one is the thief.
            self._audit_end(attempt.session, SessionEndReason.REUSE, client)
            raise RefreshTokenInvalid(RefreshFailure.REUSE)
        if attempt.session.ends <= now:
            await self.end(session_id, expiry_reason(attempt.session), client)
            raise RefreshTokenInvalid(RefreshFailure.EXPIRED)
        return attempt

    async def end(
        self, session_id: str, reason: SessionEndReason, client: ClientInfo, *, actor: int | None = None
    ) -> Session | None:
        """End one session; what is returned was ended by this call and by no other. `actor` is who asked for it."""
        session = await self._state.end_session(session_id, self._end_record_of(session_id, reason))
        if session is not None:
            self._audit_end(session, reason, client, actor)
        return session

    async def end_all(
        self,
        user: int,
        reason: SessionEndReason,
        client: ClientInfo,
        *,
        except_session: str | None = None,
        actor: int | None = None,
        change_pending: bool = False,
    ) -> Sequence[Session]:
        """`change_pending`: what they end for is still to happen, so the feed tells of no changed credential yet."""
        credential_changed = reason in CREDENTIAL_CHANGES and not change_pending
        end_record = self._new_end_record(reason, credential_changed=credential_changed)
        ended = await self._state.end_sessions_of(user, except_session, end_record)
        for session in ended:
            self._audit_end(session, reason, client, actor)
        return ended

    async def of_user(self, user: int) -> Sequence[Session]:
        """The user's live sessions, newest first."""
        now = self._clock()
        return [session for session in reversed(await self._state.sessions_of(user)) if session.ends > now]

    async def sweep(self) -> bool:
        """Remove a batch of what has expired; return whether there is more."""
        swept = await self._state.sweep(self._clock())
        for session in swept.sessions:
            self._audit_end(session, expiry_reason(session), ClientInfo())
        return swept.more

    def _end_record_of(self, session_id: str, reason: SessionEndReason) -> EndRecord | None:
        return None if is_grant(session_id) else self._new_end_record(reason)

    def _new_end_record(self, reason: SessionEndReason, *, credential_changed: bool = False) -> EndRecord:
        return EndRecord(self._clock(), reason, ENDED_KEPT_SECONDS, credential_changed)

    def _audit_end(
        self, session: Session, reason: SessionEndReason, client: ClientInfo, actor: int | None = None
    ) -> None:
        if is_grant(session.id):
            return
        self._audit.record(
            Event.SESSION_ENDED, client, user=session.user, session=session.id, actor=actor, reason=reason
        )

"""All live sessions, for administrators: list, search and end them.

Sessions are kept by user, so they are found through the users who have logged in while a session can last, most recent
day first. A page costs as much as it shows, however many users there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.audit import SessionEndReason
from gatehouse.auth.refusals import NoSuchSession
from gatehouse.stores.database.daily_logins import day_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.management.authority import Actor
    from gatehouse.management.users import UserChanges
    from gatehouse.stores.database.daily_logins import LoginDays
    from gatehouse.stores.database.users import Users
    from gatehouse.stores.state.protocol import Session

# Users read in one request: most of them may have logged out since.
USERS_PER_REQUEST = 500
USERS_PER_BATCH = 50
# More than any id of a user has, and no more than a database takes for a number.
ID_DIGITS = 18


class LiveSession(NamedTuple):
    session: Session
    username: str


class SessionPage(NamedTuple):
    sessions: list[LiveSession]
    next: int | None  # where the next page begins; None after the last


class LiveSessions:
    def __init__(
        self,
        *,
        days: LoginDays,
        users: Users,
        sessions: Sessions,
        changes: UserChanges,
        clock: Callable[[], float],
        absolute_lifetime: int,
    ) -> None:
        self._days = days
        self._users = users
        self._sessions = sessions
        self._changes = changes
        self._clock = clock
        self._absolute_lifetime = absolute_lifetime

    async def page(self, start: int, limit: int) -> SessionPage:
        """Of all users: at least `limit` sessions, unless there are no more or too many have logged out."""
        found: list[LiveSession] = []
        since = day_of(self._clock() - self._absolute_lifetime)
        for offset in range(start, start + USERS_PER_REQUEST, USERS_PER_BATCH):
            people = await self._days.people(since, offset=offset, limit=USERS_PER_BATCH)
            found += await self.of_users(people)
            if len(people) < USERS_PER_BATCH:
                return SessionPage(found, None)
            if len(found) >= limit:
                return SessionPage(found, offset + USERS_PER_BATCH)
        return SessionPage(found, start + USERS_PER_REQUEST)

    async def search(self, keywords: str) -> SessionPage:
        """Sessions of the users that a search finds."""
        found = await self._users.page(limit=USERS_PER_BATCH, search=keywords)
        return SessionPage(await self.of_users([profile.user.id for profile in found]), None)

    async def of_users(self, people: Sequence[int]) -> list[LiveSession]:
        names = await self._users.names(set(people))
        return [
            LiveSession(session, names.get(user, f"#{user}"))
            for user in people
            for session in await self._sessions.of_user(user)
        ]

    async def end(self, actor: Actor, session_id: str) -> None:
        owner = session_id.partition("-")[0]
        if not (owner.isascii() and owner.isdigit() and len(owner) <= ID_DIGITS):
            raise NoSuchSession(session_id)
        await self._changes.require_can_manage(actor, int(owner))
        if await self._sessions.end(session_id, SessionEndReason.OPERATOR, actor.client, actor=actor.user) is None:
            raise NoSuchSession(session_id)

    async def end_all(self, actor: Actor, user: int) -> int:
        await self._changes.require_can_manage(actor, user)
        return len(await self._sessions.end_all(user, SessionEndReason.OPERATOR, actor.client, actor=actor.user))

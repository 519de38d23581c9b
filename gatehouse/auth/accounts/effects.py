"""What happens after a change to accounts is committed: cached profiles are invalidated, sessions end.

First the epochs of the affected users are raised, so the next request of each sees it; then sessions that must not
survive it end. In this order, because a session that opens between the two reads the raised epoch and with it the
change. Before a new password is written sessions end as well (`change_pending`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gatehouse.auth.accounts.authority import Actor
    from gatehouse.auth.audit import Audit, Event, SessionEndReason
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.stores.state.protocol import State


class Effects:
    def __init__(self, *, state: State, sessions: Sessions, audit: Audit, clock: Callable[[], float]) -> None:
        self._state = state
        self._sessions = sessions
        self._audit = audit
        self._clock = clock

    @property
    def now(self) -> float:
        return self._clock()

    async def invalidate(self, users: Iterable[int]) -> None:
        await self._state.raise_epochs(sorted(set(users)), self._clock())

    async def end_sessions(
        self,
        actor: Actor,
        user: int,
        reason: SessionEndReason,
        *,
        except_session: str | None = None,
        change_pending: bool = False,
    ) -> None:
        await self._sessions.end_all(
            user,
            reason,
            actor.client,
            except_session=except_session,
            actor=actor.user,
            change_pending=change_pending,
        )

    def record(self, event: Event, actor: Actor, user: int | None = None, **detail: object) -> None:
        self._audit.record(event, actor.client, user=user, actor=actor.user, detail=detail)

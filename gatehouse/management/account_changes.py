"""What follows from a change to accounts: its events are recorded with it, and state is told after it.

`AccountChanges.begin` is one transaction. Its audit events are written in it, and so is what state must be told, as a
delivery of the outbox. After the commit the request delivers that itself, before it answers. If state is unavailable
the caller gets 503, the change and its events stand, and any node delivers when state is back.

First the epochs of the affected users are raised, so the next request of each sees it; then sessions that must not
survive it end. In this order, because a session that opens between the two reads the raised epoch and with it the
change. Before a new password is written sessions end as well (`end_sessions_before`).
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import msgspec

from gatehouse.auth.audit import ClientInfo, SessionEndReason
from gatehouse.auth.outbox import LEASE_SECONDS
from gatehouse.common.clock_skew import CLOCK_SKEW_SECONDS
from gatehouse.stores.database.outbox import NewDelivery

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from gatehouse.auth.audit import Audit, Event
    from gatehouse.auth.outbox import Outbox
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.management.authority import Actor
    from gatehouse.stores.database.account_transactions import AccountTransaction, AccountTransactions
    from gatehouse.stores.database.audit_trail import AuditEntry
    from gatehouse.stores.database.outbox import Delivery
    from gatehouse.stores.state.protocol import State

KIND = "account.effects"


class EndedUser(msgspec.Struct, omit_defaults=True):
    """Whose sessions end, and why."""

    user: int
    reason: SessionEndReason
    except_session: str | None = None


class StateUpdate(msgspec.Struct, omit_defaults=True):
    """What state must be told about one change, as it is stored in the outbox."""

    invalidated: set[int] = msgspec.field(default_factory=set)
    ended: list[EndedUser] = msgspec.field(default_factory=list)
    actor: int | None = None
    client: ClientInfo = ClientInfo()


class Change:
    """One transaction on accounts, and what follows from it."""

    def __init__(self, transaction: AccountTransaction, actor: Actor, audit: Audit) -> None:
        self.transaction = transaction
        self.state_update = StateUpdate(actor=actor.user, client=actor.client)
        self.entries: list[AuditEntry] = []
        self._audit = audit

    def invalidate(self, users: Iterable[int]) -> None:
        """The profiles of these users have changed."""
        self.state_update.invalidated.update(users)

    def end_sessions(self, user: int, reason: SessionEndReason, *, except_session: str | None = None) -> None:
        self.state_update.ended.append(EndedUser(user, reason, except_session))

    def record(self, event: Event, user: int | None = None, **detail: object) -> None:
        client, actor = self.state_update.client, self.state_update.actor
        self.entries.append(self._audit.entry(event, client, user=user, actor=actor, detail=detail))


class AccountChanges:
    def __init__(
        self,
        *,
        transactions: AccountTransactions,
        outbox: Outbox,
        state: State,
        sessions: Sessions,
        audit: Audit,
        clock: Callable[[], float],
    ) -> None:
        self._transactions = transactions
        self._outbox = outbox
        self._state = state
        self._sessions = sessions
        self._audit = audit
        self._clock = clock
        outbox.register(KIND, self._deliver)

    @property
    def now(self) -> float:
        return self._clock()

    @asynccontextmanager
    async def begin(self, actor: Actor) -> AsyncIterator[Change]:
        """Commits at the end of the block, then tells state; any exception rolls back, and nothing follows."""
        delivery: Delivery | None = None
        async with self._transactions.begin() as transaction:
            change = Change(transaction, actor, self._audit)
            yield change
            await transaction.record(change.entries)
            if change.state_update.invalidated or change.state_update.ended:
                delivery = await transaction.enqueue(new_delivery(change.state_update, self._clock()))
        for entry in change.entries:
            self._audit.announce(entry)
        if delivery is not None:
            await self._outbox.deliver_now(delivery)

    async def end_sessions_before(self, actor: Actor, user: int, *, except_session: str | None = None) -> None:
        """End sessions before a new password is written, too: if state cannot end them, nothing is changed."""
        await self._sessions.end_all(
            user,
            SessionEndReason.PASSWORD,
            actor.client,
            except_session=except_session,
            actor=actor.user,
            change_pending=True,
        )

    async def _deliver(self, delivery: Delivery) -> None:
        update = msgspec.json.decode(delivery.payload, type=StateUpdate)
        await self._state.raise_epochs(sorted(update.invalidated), self._clock())
        for ended in update.ended:
            if delivery.attempts and await self._has_newer(ended.user, delivery.created):
                await self._end_older(ended, delivery.created, update)
                continue
            await self._sessions.end_all(
                ended.user,
                ended.reason,
                update.client,
                except_session=ended.except_session,
                actor=update.actor,
            )

    async def _has_newer(self, user: int, changed: float) -> bool:
        return any(_is_newer(session.opened, changed) for session in await self._sessions.of_user(user))

    async def _end_older(self, ended: EndedUser, changed: float, update: StateUpdate) -> None:
        """Told late: whoever has logged in since then has done so with what is in force now, and stays."""
        for session in await self._sessions.of_user(ended.user):
            if session.id != ended.except_session and not _is_newer(session.opened, changed):
                await self._sessions.end(session.id, ended.reason, update.client, actor=update.actor)


def new_delivery(update: StateUpdate, now: float) -> NewDelivery:
    """For the transaction that causes them; until its lease ends it is the caller's to deliver."""
    return NewDelivery(KIND, msgspec.json.encode(update).decode(), now, now + LEASE_SECONDS)


def _is_newer(opened: float, changed: float) -> bool:
    return opened > changed + CLOCK_SKEW_SECONDS

"""Links to set a password: for a new user, or for one who has forgotten it, without passing a password on.

Anyone who may set a user's password may make one. It carries a sealed ticket that is valid for a day, once, and only
while the stored password stays as it is: each use, and every other change of the password, voids all links of the user.
So does a user who gets more than the maker of the link has, or a maker who may not set passwords any more. It opens no
session, so a second factor is asked for as at every login.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.audit import ClientInfo, Event, TicketKind
from gatehouse.auth.passwords.password_policy import password_problem
from gatehouse.auth.perms import RESET_PASSWORD, allows
from gatehouse.auth.refusals import CannotManage, PasswordRefused, TicketGone
from gatehouse.auth.sealed_tickets.user_tickets import UserTickets
from gatehouse.auth.sessions.profile_cache import effective_profile
from gatehouse.common.name_key import name_key
from gatehouse.management import authority
from gatehouse.stores.errors import Missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.audit import Audit
    from gatehouse.auth.keys.key_ring import KeyRing
    from gatehouse.auth.limits.throttle import Throttle
    from gatehouse.auth.passwords.hash_pool import HashPool
    from gatehouse.management.authority import Actor
    from gatehouse.management.users import UserChanges
    from gatehouse.stores.database.users import User, Users

LINK_SECONDS = 24 * 3600


class PasswordLink(NamedTuple):
    url: str
    expires: float


class PasswordLinks:
    def __init__(
        self,
        *,
        ring: KeyRing,
        users: Users,
        changes: UserChanges,
        hashes: HashPool,
        throttle: Throttle,
        audit: Audit,
        clock: Callable[[], float],
        page: str,
    ) -> None:
        self._tickets = UserTickets(ring, "password links", LINK_SECONDS, users, clock)
        self._users = users
        self._changes = changes
        self._hashes = hashes
        self._throttle = throttle
        self._audit = audit
        self._page = page

    async def make(self, actor: Actor, user: int) -> PasswordLink:
        authority.forbid_own_account(actor, [user])
        await self._changes.require_can_manage(actor, user)
        await self._changes.require_own_password(user)
        profile = await self._users.profile(user)
        if profile is None:
            raise Missing(f"there is no user {user}")
        ticket = self._tickets.make(profile.user, actor.user)
        self._audit.record(Event.PASSWORD_LINK_MADE, actor.client, user=user, actor=actor.user)
        # Behind the hash, which browsers send nowhere: it reaches no log of a server or a proxy.
        return PasswordLink(f"{self._page}#{ticket.text}", ticket.expires)

    async def owner(self, ticket: str, client: ClientInfo) -> str:
        """The name of the user whose password it sets."""
        return (await self._user_of(ticket, client)).username

    async def use(self, ticket: str, password: str, client: ClientInfo) -> None:
        """Set the password; all sessions of the user end. What the policy refuses leaves the link as it is."""
        user = await self._user_of(ticket, client)
        if problem := password_problem(password, user.username):
            raise PasswordRefused(problem)
        with self._hashes.reserve(name_key(user.username)):
            hashed = await self._hashes.hash(password)
        # Only one of several uses at once finds the stored hash as the ticket describes it.
        if not await self._changes.replace_own_password(user.id, user.password_hash, hashed, client):
            raise TicketGone("the password was changed since")

    async def _user_of(self, ticket: str, client: ClientInfo) -> User:
        async with self._throttle.admitted(client.address, TicketGone):
            try:
                user, maker = await self._tickets.open(ticket)
                if maker is not None:
                    await self._require_maker(maker, user.id)
            except TicketGone:
                self._audit.record(Event.TICKET_REFUSED, client, reason=TicketKind.PASSWORD_LINK)
                raise
            return user

    async def _require_maker(self, maker: int, user: int) -> None:
        """Else a link would outlive the right to make it, for a day: the user may be an administrator by now."""
        profile = await effective_profile(self._users, maker)
        if profile is None or not profile.user.enabled or not allows(profile.perms, RESET_PASSWORD):
            raise TicketGone("who made it may not set passwords any more")
        try:
            await self._changes.require_can_manage(authority.actor_of(profile, ClientInfo()), user)
        except CannotManage:
            raise TicketGone("the user holds more than who made it") from None

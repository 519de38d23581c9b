"""The applications that somebody is logged in to with this account, for their own eyes, and a way out of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gatehouse.stores.errors import Missing

if TYPE_CHECKING:
    from gatehouse.auth.oauth.backchannel import BackchannelLogout
    from gatehouse.auth.oauth.clients import Client, Clients
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.stores.database.consents import Consents
    from gatehouse.stores.database.grants import GrantStore


class OwnApplication(NamedTuple):
    """`since` is the first login of those that last, `session` the newest that it hangs on."""

    client: Client
    since: float
    scopes: tuple[str, ...]
    session: str


class OwnApplications:
    def __init__(
        self,
        *,
        grants: GrantStore,
        consents: Consents,
        clients: Clients,
        sessions: Sessions,
        logout: BackchannelLogout,
    ) -> None:
        self._grants = grants
        self._consents = consents
        self._clients = clients
        self._sessions = sessions
        self._logout = logout

    async def of(self, user: int) -> list[OwnApplication]:
        live = {session.id for session in await self._sessions.of_user(user)}
        found: dict[int, OwnApplication] = {}
        for grant in await self._grants.of_user(user):
            client = await self._clients.numbered(grant.client) if grant.client and grant.session in live else None
            if client is not None:
                before = found.get(client.id)
                scopes = dict.fromkeys((*(before.scopes if before else ()), *grant.scopes.split()))
                since = before.since if before else grant.created
                found[client.id] = OwnApplication(client, since, tuple(scopes), grant.session)
        return sorted(found.values(), key=lambda each: each.client.name.lower())

    async def leave(self, user: int, client_id: str) -> None:
        """End all that it has of this user; it is told, and must ask for consent again.

        The consent goes first: with a code that it still holds no grant can be added then.
        """
        client = await self._clients.find(client_id)
        if client is None:
            raise Missing("there is no such application")
        await self._consents.remove(user, client.id)
        for session in {grant.session for grant in await self._grants.of_user(user) if grant.client == client.id}:
            await self._logout.end(session, client.id)

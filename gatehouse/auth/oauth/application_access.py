"""What an application's access token opens right now: each time its grant, session, user, policy and client are asked.

A token whose session ended after it was issued opens nothing, and neither does one that was issued in that moment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.refusals import AccessTokenInvalid

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.authentication import Authenticator
    from gatehouse.auth.oauth.application_tokens import ApplicationClaims, ApplicationTokens
    from gatehouse.auth.oauth.clients import Client, Clients
    from gatehouse.auth.oauth.grants import Grants
    from gatehouse.stores.database.grants import StoredGrant
    from gatehouse.stores.database.users import Profile


class Access(NamedTuple):
    claims: ApplicationClaims
    client: Client
    grant: StoredGrant
    profile: Profile


class ApplicationAccess:
    def __init__(
        self,
        *,
        tokens: ApplicationTokens,
        clients: Clients,
        grants: Grants,
        authenticator: Authenticator,
        clock: Callable[[], float],
    ) -> None:
        self._tokens = tokens
        self._clients = clients
        self._grants = grants
        self._authenticator = authenticator
        self._clock = clock

    async def check(self, token: str) -> Access:
        """Raises `AccessTokenInvalid` for anything but a token that is good now."""
        claims = await self._tokens.read(token, self._clock())
        client = await self._clients.find(claims.client_id) if claims else None
        if claims is None or client is None:
            raise AccessTokenInvalid("not an access token of an application")
        grant = await self._grants.find(claims.grant, client.id)
        epoch = await self._grants.live_epoch(grant) if grant else None
        if grant is None or epoch is None:
            raise AccessTokenInvalid("the grant or its session has ended")
        profile = await self._authenticator.bearer(grant.user, grant.session, epoch, claims.methods)
        if not client.admits(profile.roles):
            raise AccessTokenInvalid("the user may not use this application any more")
        return Access(claims._replace(scopes=client.still_allowed(claims.scopes)), client, grant, profile)

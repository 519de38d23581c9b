"""Back-channel logout: applications are told that a session has ended (OpenID Connect Back-Channel Logout 1.0).

What an application was granted is removed in one transaction with the delivery that tells it, so neither happens
without the other. The delivery goes out by the outbox: again after a failure or a restart, with growing pauses, and in
the request of nobody's logout. Its logout token is made anew for each attempt; its `jti` stays, so that an application
which is told twice notices. That happens only if a node is killed, or loses the database, after the application has
taken the token and before this is written down.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Protocol

import msgspec

from gatehouse.auth.audit import ClientInfo, Event
from gatehouse.auth.keys.jws import sign_jwt
from gatehouse.auth.oauth.definitions import ClientConfig
from gatehouse.auth.outbox import DeliveryFailed
from gatehouse.common.form_post import PostFailed
from gatehouse.stores.database.outbox import NewDelivery

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gatehouse.auth.audit import Audit
    from gatehouse.auth.keys.key_ring import Signer
    from gatehouse.auth.keys.key_rotation import KeyRotation
    from gatehouse.auth.outbox import Outbox
    from gatehouse.stores.database.grants import GrantStore
    from gatehouse.stores.database.oauth_clients import ClientStore, StoredClient
    from gatehouse.stores.database.outbox import Delivery

KIND = "backchannel-logout"
TOKEN_TYPE = "logout+jwt"
EVENT = "http://schemas.openid.net/event/backchannel-logout"
TOKEN_SECONDS = 120
# The application is busy or out of order; it may take the token later.
TEMPORARY = {408, 425, 429}


class LogoutConfig(msgspec.Struct, frozen=True):
    """What is needed here of a `ClientConfig`, which may be that of a newer release."""

    backchannel_logout_uri: str = ""
    id_token_alg: str = ClientConfig().id_token_alg


class LogoutNotice(msgspec.Struct, frozen=True):
    """As it is stored in the outbox."""

    client: int
    user: int
    session: str
    jti: str


class Post(Protocol):
    async def post(self, url: str, form: Mapping[str, str]) -> int:
        """The status of the answer. Raises `PostFailed`."""
        ...


class BackchannelLogout:
    def __init__(
        self,
        *,
        grants: GrantStore,
        clients: ClientStore,
        outbox: Outbox,
        post: Post,
        keys: KeyRotation,
        audit: Audit,
        clock: Callable[[], float],
        issuer: str,
    ) -> None:
        self._grants = grants
        self._clients = clients
        self._outbox = outbox
        self._post = post
        self._keys = keys
        self._audit = audit
        self._clock = clock
        self._issuer = issuer
        outbox.register(KIND, self._deliver)

    async def end(self, session: str, client: int | None = None) -> None:
        """Remove what hangs on a session, or of it what one application has; applications that want to hear of it do.

        Of an application that has several grants, once.
        """
        recipients = {row.id: row.client_id for row in await self._clients.all() if _config(row).backchannel_logout_uri}
        now = self._clock()

        def notice_of(session: str, number: int, user: int) -> NewDelivery | None:
            if number not in recipients:
                return None
            notice = LogoutNotice(number, user, session, secrets.token_urlsafe(16))
            return NewDelivery(KIND, msgspec.json.encode(notice).decode(), now, now, recipients[number])

        if await self._grants.end(session, notice_of, client):
            self._outbox.deliver_soon()

    async def _deliver(self, delivery: Delivery) -> None:
        notice = msgspec.json.decode(delivery.payload, type=LogoutNotice)
        client = await self._clients.by_number(notice.client)
        # Read anew: an address that was wrong may be right by now, and an application may be gone.
        config = _config(client)
        if client is None or not config.backchannel_logout_uri:
            return
        token = self._logout_token(notice, client, await self._keys.ensure(config.id_token_alg))
        try:
            status = await self._post.post(config.backchannel_logout_uri, {"logout_token": token})
        except PostFailed as problem:
            raise DeliveryFailed(str(problem)) from None
        if not 200 <= status < 300:
            raise DeliveryFailed(f"answers {status}", permanent=status < 500 and status not in TEMPORARY)
        detail = {"client": client.client_id, "attempts": delivery.attempts}
        self._audit.record(
            Event.APPLICATION_LOGGED_OUT, ClientInfo(), user=notice.user, session=notice.session, detail=detail
        )

    def _logout_token(self, notice: LogoutNotice, client: StoredClient, signer: Signer) -> str:
        now = int(self._clock())
        claims = {
            "iss": self._issuer,
            "sub": str(notice.user),
            "aud": client.client_id,
            "iat": now,
            "exp": now + TOKEN_SECONDS,
            "jti": notice.jti,
            "sid": notice.session,
            "events": {EVENT: {}},
        }
        return sign_jwt(signer, TOKEN_TYPE, claims)


def _config(client: StoredClient | None) -> LogoutConfig:
    return msgspec.json.decode(client.config, type=LogoutConfig) if client else LogoutConfig()

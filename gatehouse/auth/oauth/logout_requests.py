"""What an application asks for when it logs somebody out (OpenID Connect RP-Initiated Logout 1.0).

The ID token that it hands back says which session and whose application; it may be old. Without one that can be
verified a person is asked first, and no address is gone to unless it is registered for an application that is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gatehouse.auth.oauth.errors import PageProblem, PageRefusal
from gatehouse.auth.sealed_tickets.sealed_tickets import Tickets

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gatehouse.auth.keys.key_ring import KeyRing
    from gatehouse.auth.oauth.clients import Clients
    from gatehouse.auth.oauth.id_tokens import IdTokens

ANSWER_SECONDS = 600
MAX_STATE_LENGTH = 2048  # in bytes
MAX_SEALED_LENGTH = 16_384  # with the longest address and state


class LogoutRequest(msgspec.Struct, frozen=True, array_like=True):
    session: str = ""  # that a valid ID token names
    redirect_uri: str = ""  # a registered one
    state: str = ""
    ui_locales: str = ""


class LogoutRequests:
    def __init__(self, ring: KeyRing, clients: Clients, id_tokens: IdTokens, clock: Callable[[], float]) -> None:
        self._asked = Tickets(ring, "logout requests", LogoutRequest, ANSWER_SECONDS, clock)
        self._clients = clients
        self._id_tokens = id_tokens

    async def read(self, parameters: Mapping[str, str]) -> LogoutRequest:
        hint = await self._id_tokens.read_hint(parameters.get("id_token_hint", ""))
        client_id = parameters.get("client_id", "")
        if hint is not None and client_id not in {"", hint.client_id}:
            raise PageRefusal(PageProblem.CLIENT)
        state = parameters.get("state", "")
        return LogoutRequest(
            session=hint.session if hint else "",
            redirect_uri=await self._redirect_uri(
                parameters.get("post_logout_redirect_uri", ""), hint.client_id if hint else client_id
            ),
            state=state if len(state.encode()) <= MAX_STATE_LENGTH else "",
            ui_locales=parameters.get("ui_locales", "")[:128],
        )

    async def _redirect_uri(self, uri: str, client_id: str) -> str:
        if not uri or not client_id:
            return ""  # nobody says whose address it is
        client = await self._clients.find(client_id)
        if client is None or uri not in client.config.post_logout_redirect_uris:
            raise PageRefusal(PageProblem.POST_LOGOUT_REDIRECT_URI)
        return uri

    def seal(self, request: LogoutRequest) -> str:
        """For the form that asks first."""
        return self._asked.make(request).text

    def unseal(self, text: str) -> LogoutRequest:
        ticket = self._asked.open(text, MAX_SEALED_LENGTH)
        return ticket.content if ticket else LogoutRequest()

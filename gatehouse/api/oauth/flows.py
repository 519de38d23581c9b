"""What somebody signs in for: an application's request, or a console. It travels through our forms as `next`, the path
and query at which it goes on; no other address is ever taken from a form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, urlencode

from gatehouse.auth.oauth.errors import PageProblem, PageRefusal

if TYPE_CHECKING:
    from gatehouse.auth.oauth.authorization_requests import AuthorizationRequest, AuthorizationRequests, PushedRequests
    from gatehouse.auth.oauth.clients import Client

AUTHORIZE = "/oauth2/authorize"
MAX_LENGTH = 12_288


class Flow(NamedTuple):
    next: str
    app: str  # its name; empty: a console
    target: str  # where the browser is sent in the end
    username: str = ""
    locales: str = ""


class Flows:
    def __init__(self, requests: AuthorizationRequests, pushed: PushedRequests) -> None:
        self._requests = requests
        self._pushed = pushed

    def of(self, request: AuthorizationRequest, client: Client) -> Flow:
        query = urlencode({"client_id": client.client_id, "request_uri": self._pushed.make(request)})
        return Flow(f"{AUTHORIZE}?{query}", client.name, request.redirect_uri, request.login_hint, request.ui_locales)

    async def read(self, going_on: str) -> Flow:
        return self.of(*await self.request_of(going_on))

    async def request_of(self, going_on: str) -> tuple[AuthorizationRequest, Client]:
        path, _, query = going_on.partition("?")
        if path != AUTHORIZE or len(going_on) > MAX_LENGTH:
            raise PageRefusal(PageProblem.UNREADABLE)
        return await self._requests.read(dict(parse_qsl(query)))

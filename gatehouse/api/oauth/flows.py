"""What somebody signs in for: an application's request, or a console. It travels through our forms as `next`, the path
and query at which it goes on; no other address is ever taken from a form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, urlencode

from gatehouse.auth.oauth.errors import PageProblem, PageRefusal
from gatehouse.auth.refusals import FieldInvalid

if TYPE_CHECKING:
    from gatehouse.auth.login.return_addresses import ReturnAddresses
    from gatehouse.auth.oauth.authorization_requests import AuthorizationRequest, AuthorizationRequests, PushedRequests
    from gatehouse.auth.oauth.clients import Client

AUTHORIZE = "/oauth2/authorize"
ENTER = "/oauth2/enter"
MAX_LENGTH = 12_288


class Flow(NamedTuple):
    next: str
    app: str  # its name; empty: a console
    target: str  # where the browser is sent in the end
    username: str = ""
    locales: str = ""
    max_age: int | None = None  # how long ago the login may be; 0: it must be a fresh one


class Flows:
    def __init__(self, requests: AuthorizationRequests, pushed: PushedRequests, addresses: ReturnAddresses) -> None:
        self._requests = requests
        self._pushed = pushed
        self._addresses = addresses

    def into_console(self, to: str) -> Flow:
        try:
            to = self._addresses.check(to)
        except FieldInvalid:
            raise PageRefusal(PageProblem.TO) from None
        return Flow(f"{ENTER}?{urlencode({'to': to})}", "", to)

    def of(self, request: AuthorizationRequest, client: Client) -> Flow:
        query = urlencode({"client_id": client.client_id, "request_uri": self._pushed.make(request)})
        max_age = 0 if "login" in request.prompt else request.max_age
        return Flow(
            f"{AUTHORIZE}?{query}",
            client.name,
            request.redirect_uri,
            request.login_hint,
            request.ui_locales,
            max_age,
        )

    async def read(self, going_on: str) -> Flow:
        if going_on.startswith(f"{ENTER}?"):
            return self.into_console(_parameters(going_on).get("to", ""))
        return self.of(*await self.request_of(going_on))

    async def request_of(self, going_on: str) -> tuple[AuthorizationRequest, Client]:
        if not going_on.startswith(f"{AUTHORIZE}?"):
            raise PageRefusal(PageProblem.UNREADABLE)
        return await self._requests.read(_parameters(going_on))


def _parameters(going_on: str) -> dict[str, str]:
    if len(going_on) > MAX_LENGTH:
        raise PageRefusal(PageProblem.UNREADABLE)
    return dict(parse_qsl(going_on.partition("?")[2]))

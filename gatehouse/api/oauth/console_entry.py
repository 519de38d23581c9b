"""The bridge: who is logged in at our page opens a console without a form, and who is not signs in here first."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from gatehouse.api.http.response import redirect
from gatehouse.api.oauth.flows import ENTER
from gatehouse.api.oauth.page_endpoints import PageEndpoints, for_people
from gatehouse.api.resource_declaration import Resource
from gatehouse.auth.login.return_addresses import with_ticket

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.api.http.response import Response
    from gatehouse.api.oauth.page_endpoints import FlowParts
    from gatehouse.composition import Service


class ConsoleEntryEndpoint(PageEndpoints):
    def __init__(self, service: Service, parts: FlowParts) -> None:
        super().__init__(service, parts)
        self._entry = service.sign_in.console_entry
        self._sources = service.identity.sources

    @Resource(ENTER, ("GET",))
    @for_people
    async def enter(self, request: Request) -> Response:
        """`to`: where the ticket is exchanged. `provider`: where somebody logs in who is not logged in here."""
        flow = self.parts.flows.into_console(next(iter(request.query("to")), ""))
        who = await self._logged_in(request)
        if who is not None:
            return redirect(with_ticket(flow.target, self._entry.ticket(who.session, request.client)))
        provider = next(iter(request.query("provider")), "")
        if self._sources.provider(provider) is None:
            return await self.parts.sign_in.show(request, flow)
        query = urlencode({"provider": provider, "next": flow.next})
        return redirect(f"{self._public_url}/oauth2/company?{query}")

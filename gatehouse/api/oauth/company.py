"""A login for an application with a company account: to the provider, and back to what it was for.

`/oauth2/company` keeps what somebody signs in for and sends the browser to `/login/{name}`; that one comes back to
`/oauth2/continue` with a ticket, with one that waits for a code, or with what went wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from gatehouse.api.http.response import redirect
from gatehouse.api.login.provider_redirects import CONTINUE
from gatehouse.api.oauth.page_endpoints import PageEndpoints, for_people
from gatehouse.api.resource_declaration import Resource
from gatehouse.auth.login.company_login import Problem
from gatehouse.auth.oauth.errors import PageProblem, PageRefusal
from gatehouse.auth.refusals import CodeRequired, Refused, RetryLater

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.api.http.response import Response
    from gatehouse.api.oauth.flows import Flow
    from gatehouse.api.oauth.page_endpoints import FlowParts
    from gatehouse.composition import Service


class CompanyEndpoints(PageEndpoints):
    def __init__(self, service: Service, parts: FlowParts) -> None:
        super().__init__(service, parts)
        self._company = service.login.company
        self._sources = service.identity.sources
        self._kept = service.sign_in.kept_flows
        self._throttle = service.throttle

    @Resource("/oauth2/company", ("GET",))
    @for_people
    async def company(self, request: Request) -> Response:
        self._throttle.admit_company_login(request.client.address)
        flow = await self.parts.flows.read(_first(request, "next"))
        source = self._sources.provider(_first(request, "provider"))
        if source is None:
            return await self._problem(request, flow, Problem.UNAVAILABLE)
        browser, cookies = self.parts.cookies.with_browser(request)
        to = f"{self._public_url}{CONTINUE}?{urlencode({'id': await self._kept.keep(browser, flow.next)})}"
        query = {"to": to} | ({} if flow.max_age is None else {"max_age": str(flow.max_age)})
        return redirect(f"{self._public_url}/login/{source.name}?{urlencode(query)}", *cookies, status=303)

    @Resource(CONTINUE, ("GET",))
    @for_people
    async def company_continue(self, request: Request) -> Response:
        going_on = await self._kept.find(self.parts.cookies.browser(request), _first(request, "id"))
        if going_on is None:
            raise PageRefusal(PageProblem.REQUEST_URI)
        flow = await self.parts.flows.read(going_on)
        if ticket := _first(request, "ticket"):
            return await self._arrived(request, flow, ticket)
        if pending := _first(request, "pending"):
            return await self._pending(request, flow, pending)
        return await self._problem(request, flow, _first(request, "problem"), _first(request, "provider"))

    async def _arrived(self, request: Request, flow: Flow, ticket: str) -> Response:
        before = await self.parts.logins.current(request)
        try:
            session, factor = await self._company.exchange(ticket, request.client, before)
            return await self.parts.logins.go_on(request, flow, before, session, factor)
        except RetryLater:
            raise
        except Refused:
            return await self._problem(request, flow, Problem.EXPIRED)

    async def _pending(self, request: Request, flow: Flow, ticket: str) -> Response:
        """Without a code it answers whether there is an app at all, or one must be set up."""
        try:
            return redirect(await self._company.show_code(ticket, None, request.client), status=303)
        except CodeRequired as refusal:
            if type(refusal) is CodeRequired:
                return self.parts.sign_in.ask_for_code(request, flow, {"pending": ticket})
            elsewhere = {"elsewhere_url": f"../?{urlencode({'pending': ticket})}"}
            return await self.parts.sign_in.refuse(request, flow, refusal, elsewhere)
        except RetryLater:
            raise
        except Refused:
            return await self._problem(request, flow, Problem.EXPIRED)

    async def _problem(self, request: Request, flow: Flow, problem: str, provider: str = "") -> Response:
        page, source = self.parts.sign_in.page(request, flow), self._sources.provider(provider)
        title = source.title if source else page.words("login.company")
        tag = problem if problem in set(Problem) else Problem.REFUSED
        said = page.say("company_problem", f"login.problem.{tag}", title=title)
        return await self.parts.sign_in.show(request, flow, {**said, "company_title": title})


def _first(request: Request, name: str) -> str:
    return next(iter(request.query(name)), "")

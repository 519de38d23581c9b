"""Where browsers go to a provider and come back from it, and where a provider tells us of a logout: outside `/api/v1`,
because browsers and providers call it and no front end.

Whatever goes wrong, a person ends on a page of ours that says what: `/?problem=TAG&provider=NAME`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import msgspec

from gatehouse.api.http.response import Response, raw_response, redirect
from gatehouse.api.login.login_cookies import LoginCookies
from gatehouse.api.resource_declaration import Resource
from gatehouse.auth.login.company_login import CompanyLoginFailed, LinkWanted, Problem
from gatehouse.auth.login.return_addresses import with_ticket
from gatehouse.auth.refusals import FieldInvalid
from gatehouse.common.logs import log
from gatehouse.identity_sources.clients import CallbackRefused
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.management.authority import Actor
from gatehouse.stores.errors import Duplicate, Missing

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.identity.sources import Source
    from gatehouse.composition import Service

WARN_SECONDS = 10.0
CONTINUE = "/oauth2/continue"  # where a login for an application comes back to
_AGE = re.compile(r"[0-9]{1,9}", re.ASCII)


class ProviderRedirectEndpoints:
    def __init__(self, service: Service) -> None:
        self._sources = service.identity.sources
        self._company = service.login.company
        self._logout = service.login.provider_logout
        self._links = service.management.source_changes
        self._public_url = service.settings.public_url
        self._after_logout = service.settings.console_url or f"{self._public_url}/"
        self._cookies = LoginCookies(self._public_url)
        self._clock = service.clock
        self._warned: dict[int, float] = {}  # when, by source

    @Resource("/login/{name}", methods=("GET",))
    async def provider_login(self, request: Request) -> Response:
        name = request.parameters["name"]
        source = self._sources.provider(name)
        to = next(iter(request.query("to")), "")
        if source is None:
            return self._problem(name, Problem.UNAVAILABLE, to=to)
        try:
            departure = await self._company.begin(source, to, request.client, _max_age(request))
        except CompanyLoginFailed as failed:
            return self._problem(name, failed.problem, to=to)
        return redirect(departure.url, *self._cookies.begin(departure, request))

    @Resource("/login/{name}/callback", methods=("GET",))
    async def provider_callback(self, request: Request) -> Response:
        name = request.parameters["name"]
        source = self._sources.provider(name)
        try:
            query = request.query_once()
        except FieldInvalid:
            return self._problem(name, Problem.REFUSED)
        state = query.get("state", "")
        sealed = self._cookies.read(state, request)
        done = self._cookies.end(state)
        page = "account" if self._company.is_link(sealed) else ""
        to = self._company.return_address(sealed)
        if source is None:
            return self._problem(name, Problem.UNAVAILABLE, done, page=page, to=to)
        try:
            return redirect(await self._onward(source, sealed, query, request), done)
        except CompanyLoginFailed as failed:
            return self._problem(name, failed.problem, done, page=page, to=to)

    async def _onward(self, source: Source, sealed: str, query: dict[str, str], request: Request) -> str:
        outcome = await self._company.complete(source, sealed, query, request.client)
        if isinstance(outcome, LinkWanted):
            try:
                await self._links.link(Actor(outcome.user, client=request.client), outcome.user, source, outcome.person)
            except Duplicate as problem:
                log.warning("an identity is not linked", source=source.name, problem=str(problem))
                raise CompanyLoginFailed(Problem.NAME_TAKEN) from None
            return self._page("account", linked=source.name)
        if outcome.pending:
            return self._page("", outcome.to, pending=outcome.ticket)
        return with_ticket(outcome.to, outcome.ticket)

    @Resource("/login/{name}/backchannel-logout", methods=("POST",))
    async def provider_backchannel_logout(self, request: Request) -> Response:
        """OpenID Connect Back-Channel Logout 1.0, 2.5 to 2.8."""
        source = self._required(request)
        token = (await request.form()).get("logout_token", "")
        try:
            ended = await self._logout.back_channel(source, token, request.client)
        except (CallbackRefused, SourceUnavailable) as problem:
            self._warn(source, problem)
            return raw_response(msgspec.json.encode({"error": "invalid_request"}), "application/json", status=400)
        log.info("a provider has ended sessions", source=source.name, sessions=ended)
        return raw_response(b"", "text/plain")

    @Resource("/login/{name}/logout", methods=("GET",))
    async def provider_logout(self, request: Request) -> Response:
        source = self._required(request)
        ticket = next(iter(request.query("ticket")), "")
        return redirect(await self._logout.redirect(source, ticket, request.client) or self._after_logout)

    @Resource("/login/{name}/logged-out", methods=("GET",))
    async def provider_logged_out(self, _request: Request) -> Response:
        return redirect(self._after_logout)

    def _warn(self, source: Source, problem: Exception) -> None:
        """Not of each: anybody can send what is refused."""
        if self._clock() - self._warned.get(source.id, 0.0) >= WARN_SECONDS:
            self._warned[source.id] = self._clock()
            log.warning("a logout from a provider is refused", source=source.name, problem=str(problem))

    def _required(self, request: Request) -> Source:
        source = self._sources.provider(request.parameters["name"])
        if source is None:
            raise Missing("there is no such provider")
        return source

    def _problem(
        self, name: str, problem: Problem, *cookies: tuple[str, str], page: str = "", to: str = ""
    ) -> Response:
        return redirect(self._page(page, to, problem=problem, provider=name), *cookies)

    def _page(self, page: str, to: str = "", **query: str) -> str:
        """A page of ours. The login for an application (`to` is its way back) has pages of its own."""
        if to.startswith(f"{self._public_url}{CONTINUE}?"):
            return f"{to}&{urlencode(query)}"
        return f"{self._public_url}/{page}?{urlencode(query)}"


def _max_age(request: Request) -> int | None:
    """How long ago the login at the provider may be, where an application asks for that."""
    text = next(iter(request.query("max_age")), "")
    return int(text) if _AGE.fullmatch(text) else None

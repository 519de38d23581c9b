"""What a console requests after login: the side menu, notices, dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.contract.console.after_login import DictionaryData, NoticeRow
from gatehouse.api.contract.page import Page, PageQuery
from gatehouse.api.endpoints.console.genders import gender_items
from gatehouse.api.endpoints.console.side_menu import side_menu
from gatehouse.api.http.response import Response, success
from gatehouse.auth.sessions.console_versions import ConsoleVersion

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service


class AfterLoginEndpoints:
    def __init__(self, service: Service) -> None:
        self._menus = service.accounts.menus
        self._console_versions = service.console_versions

    def endpoints(self) -> dict[str, Callable[..., Awaitable[Response]]]:
        return {
            "menu_routes": self.menu_routes,
            "own_notices": self.own_notices,
            "dictionary": self.dictionary,
            "dictionaries": self.dictionaries,
        }

    async def menu_routes(self, request: Request, principal: Principal) -> Response:
        roles = await self._menus.of_roles(principal.profile.roles)
        return success(side_menu(await self._menus.all(), roles, request.language), request.language)

    async def own_notices(self, request: Request, principal: Principal) -> Response:
        request.query_as(PageQuery)
        session = principal.claims.session
        if (
            await self._console_versions.of_session(session) is ConsoleVersion.FORM
        ):  # those before 2.25 have asked for dictionaries by now
            await self._console_versions.remember(session, ConsoleVersion.NUMBERS)
        return success(Page[NoticeRow](rows=[], total=0), request.language)

    async def dictionary(self, request: Request, principal: Principal) -> Response:
        if request.path.endswith("/items"):
            await self._console_versions.remember(principal.claims.session, ConsoleVersion.NUMBERS)
        elif not request.path.endswith("/items/options"):
            seen = ConsoleVersion.WORDS if "/dict-data/" in request.path else ConsoleVersion.FORM
            await self._console_versions.remember(principal.claims.session, seen)
        code = request.parameters["code"]
        return success(gender_items(request.language) if code == "gender" else [], request.language)

    async def dictionaries(self, request: Request, principal: Principal) -> Response:
        await self._console_versions.remember(principal.claims.session, ConsoleVersion.WORDS)
        name = "性别" if request.language == "zh" else "Gender"
        return success([DictionaryData("gender", name, gender_items(request.language))], request.language)

"""The current user: profile, sessions, password."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.contract.schemas import EndedData, PasswordBody, SessionData, SessionsData, UserData
from gatehouse.api.endpoints.session_fields import session_fields
from gatehouse.api.http.response import Response, success
from gatehouse.auth.sessions.profile_cache import CACHE_SIZE
from gatehouse.common.bounded_cache import BoundedCache

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service
    from gatehouse.stores.database.users import Profile


class CurrentUserEndpoints:
    def __init__(self, service: Service) -> None:
        # Encoding a profile costs more than the rest of the request. An entry is valid for one object of the profile
        # cache: when that cache invalidates a profile, its responses are not found any more.
        self._responses: BoundedCache[tuple[int, str], tuple[Profile, Response]] = BoundedCache(CACHE_SIZE)
        self._own = service.self_service
        self._default_avatar = service.settings.avatar_url

    async def me(self, request: Request, principal: Principal) -> Response:
        profile, language = principal.profile, request.language
        key = (profile.user.id, language)
        cached = self._responses.get(key)
        if cached is not None and cached[0] is profile:
            return cached[1]
        response = success(self._data(profile), language)
        self._responses[key] = (profile, response)
        return response

    async def sessions(self, request: Request, principal: Principal) -> Response:
        own = await self._own.sessions(principal)
        data = SessionsData([SessionData(**session_fields(each, principal)) for each in own])
        return success(data, request.language)

    async def end_session(self, request: Request, principal: Principal) -> Response:
        await self._own.end_session(principal, request.parameters["id"], request.client)
        return success(language=request.language)

    async def end_other_sessions(self, request: Request, principal: Principal) -> Response:
        ended = await self._own.end_other_sessions(principal, request.client)
        return success(EndedData(ended), request.language)

    async def change_password(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(PasswordBody)
        await self._own.change_password(principal, body.currentPassword, body.newPassword, request.client)
        return success(language=request.language)

    def _data(self, profile: Profile) -> UserData:
        user = profile.user
        return UserData(
            userId=user.id,
            username=user.username,
            nickname=user.nickname,
            avatar=user.avatar or self._default_avatar,
            deptId=user.department,
            roles=list(profile.roles),
            perms=list(profile.perms),
        )

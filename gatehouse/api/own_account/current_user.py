"""The current user, with roles and perms: what a console asks for after login."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Operation
from gatehouse.auth.sessions.profile_cache import CACHE_SIZE
from gatehouse.common.bounded_cache import BoundedCache

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service
    from gatehouse.stores.database.users import Profile


class UserData(Struct):
    userId: int
    username: str
    nickname: str
    avatar: str
    deptId: int
    roles: list[str]
    perms: list[str]


class CurrentUserEndpoint:
    def __init__(self, service: Service) -> None:
        # Encoding a profile costs more than the rest of the request. An entry is valid for one object of the profile
        # cache: when that cache invalidates a profile, its responses are not found any more.
        self._responses: BoundedCache[tuple[int, str], tuple[Profile, Response]] = BoundedCache(CACHE_SIZE)
        self._default_avatar = service.settings.avatar_url

    @Operation(
        "GET",
        "/api/v1/users/me",
        "The user who is logged in",
        data=UserData,
        description="The same in both variants. `roles` and `perms` are always arrays.",
    )
    async def me(self, request: Request, principal: Principal) -> Response:
        profile, language = principal.profile, request.language
        key = (profile.user.id, language)
        cached = self._responses.get(key)
        if cached is not None and cached[0] is profile:
            return cached[1]
        response = success(self._data(profile), language)
        self._responses[key] = (profile, response)
        return response

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

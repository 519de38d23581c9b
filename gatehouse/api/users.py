"""The current user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.reply import Reply, ready_made, success
from gatehouse.api.schemas import UserData

if TYPE_CHECKING:
    from gatehouse.api.request import Request
    from gatehouse.service import Service
    from gatehouse.stores.accounts.users import Profile


class UserEndpoints:
    def __init__(self, service: Service) -> None:
        self._gate = service.gate
        self._default_avatar = service.settings.default_avatar or f"{service.settings.public_url}/avatar.svg"

    async def me(self, request: Request) -> Reply:
        remembered = (await self._gate.enter(request.bearer(), request.caller)).remembered
        language = request.language
        body = remembered.encoded.get(language)
        if body is None:
            body = remembered.encoded[language] = success(self._data(remembered.profile), language).body
        return ready_made(body)

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

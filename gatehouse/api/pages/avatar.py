"""The neutral avatar of users who have none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.http.response import Response, raw_response
from gatehouse.api.resource_declaration import Resource

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request

AVATAR = b"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="avatar">
<rect width="64" height="64" fill="#c3cfdd"/><circle cx="32" cy="25" r="12" fill="#fff"/>
<path d="M10 60c2-14 11-21 22-21s20 7 22 21z" fill="#fff"/></svg>
"""


class AvatarEndpoint:
    @Resource("/avatar.svg")
    async def avatar(self, _request: Request) -> Response:
        return raw_response(AVATAR, "image/svg+xml", cache="public, max-age=86400")

"""Who makes a change, in the form that the rules of `management` need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.management import authority

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.management.authority import Actor


def actor_of(request: Request, principal: Principal) -> Actor:
    return authority.actor_of(principal.profile, request.client)

"""Who makes a change, in the form that the rules of `auth/accounts` need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.accounts import authority

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.accounts.authority import Actor
    from gatehouse.auth.principal import Principal


def actor_of(request: Request, principal: Principal) -> Actor:
    return authority.actor_of(principal.profile, request.client)

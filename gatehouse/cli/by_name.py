"""Finds accounts by the names that an operator types; the changes themselves go by id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.sessions.profile_cache import effective_profile
from gatehouse.stores.errors import Missing

if TYPE_CHECKING:
    from gatehouse.composition import Service
    from gatehouse.stores.database.roles import Role
    from gatehouse.stores.database.users import Profile


async def user_id(service: Service, username: str) -> int:
    user = await service.stores.users.by_name(username)
    if user is None:
        raise Missing(f"there is no user {username!r}")
    return user.id


async def profile_of(service: Service, username: str) -> Profile:
    profile = await effective_profile(service.stores.users, await user_id(service, username))
    if profile is None:
        raise Missing(f"there is no user {username!r}")
    return profile


async def role_of(service: Service, code: str) -> Role:
    role = await service.stores.roles.by_code(code)
    if role is None:
        raise Missing(f"there is no role {code!r}")
    return role

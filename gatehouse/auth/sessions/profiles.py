"""Profiles as users/me shows them, remembered in the process under the user's epoch.

Every change to a user, its roles or their perms raises the user's epoch in the state store, and every request reads
the epoch together with its session: so what is remembered under an epoch is true while that epoch stands. Should a
raise ever get lost (a kill between the two stores), the time limit is the net under it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gatehouse.auth.perms import ADMIN_PERMS, ROOT, expand
from gatehouse.bounded_cache import BoundedCache

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.stores.accounts.users import Profile, Users

CACHE_SIZE = 10_000
CACHE_TTL_SECONDS = 60.0


class CachedProfile:
    """A profile with the epoch it belongs to. `shown` is for the floor above: its own form of it, by language."""

    __slots__ = ("epoch", "profile", "shown", "until")

    def __init__(self, profile: Profile, epoch: int, until: float) -> None:
        self.profile = profile
        self.epoch = epoch
        self.until = until
        self.shown: dict[str, Any] = {}


class Profiles:
    def __init__(self, users: Users, clock: Callable[[], float]) -> None:
        self._users = users
        self._clock = clock
        self._cache: BoundedCache[int, CachedProfile] = BoundedCache(CACHE_SIZE)

    async def get(self, user: int, epoch: int) -> CachedProfile | None:
        """The profile of an enabled user; None if the user is disabled or gone."""
        entry = self._cache.get(user)
        if entry is not None and entry.epoch == epoch and self._clock() < entry.until:
            return entry
        profile = await effective_profile(self._users, user)
        self._cache.pop(user, None)
        if profile is None or not profile.user.enabled:
            return None
        entry = CachedProfile(profile, epoch, self._clock() + CACHE_TTL_SECONDS)
        self._cache[user] = entry
        return entry


async def effective_profile(users: Users, user: int) -> Profile | None:
    """The profile with every perm that the user has, under all its names. Whoever is ROOT has all that exist."""
    profile = await users.profile(user)
    if profile is None:
        return None
    given = [*ADMIN_PERMS, *await users.every_perm()] if ROOT in profile.roles else profile.perms
    return replace(profile, perms=expand(given))

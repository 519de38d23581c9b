"""The cache of profiles, in each worker, by user and epoch.

Every change to a user, its roles or their perms raises the user's epoch in the state store, and every request reads
the epoch together with its session: so a cached profile is valid until the epoch changes, which invalidates it. If a
raise is lost (a kill between the writes to the two stores), the entry still expires after `CACHE_TTL_SECONDS`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gatehouse.auth.perms import ADMIN_PERMS, ROOT, expand
from gatehouse.common.bounded_cache import BoundedCache

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.stores.database.users import Profile, Users

CACHE_SIZE = 10_000
CACHE_TTL_SECONDS = 60.0


class CachedProfile:
    """A profile, the epoch it was read under, and when it expires."""

    __slots__ = ("epoch", "profile", "until")

    def __init__(self, profile: Profile, epoch: int, until: float) -> None:
        self.profile = profile
        self.epoch = epoch
        self.until = until


class Profiles:
    def __init__(self, users: Users, clock: Callable[[], float]) -> None:
        self._users = users
        self._clock = clock
        self._cache: BoundedCache[int, CachedProfile] = BoundedCache(CACHE_SIZE)

    def is_cached(self, user: int) -> bool:
        """Whether it is cached under the epoch of its last read; the current one may be another."""
        entry = self._cache.get(user)
        return entry is not None and self._clock() < entry.until

    async def get(self, user: int, epoch: int) -> Profile | None:
        """The profile of an enabled user; None if the user is disabled or gone."""
        entry = self._cache.get(user)
        if entry is not None and entry.epoch == epoch and self._clock() < entry.until:
            return entry.profile
        profile = await effective_profile(self._users, user)
        self._cache.pop(user, None)
        if profile is None or not profile.user.enabled:
            return None
        self._cache[user] = CachedProfile(profile, epoch, self._clock() + CACHE_TTL_SECONDS)
        return profile


async def effective_profile(users: Users, user: int) -> Profile | None:
    """The profile with every perm of the user, under all names. A user with the role ROOT has all that exist."""
    profile = await users.profile(user)
    if profile is None:
        return None
    given = [*ADMIN_PERMS, *await users.every_perm()] if ROOT in profile.roles else profile.perms
    return replace(profile, perms=expand(given))

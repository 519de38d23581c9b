"""Profiles as users/me shows them, remembered in the process under the user's epoch.

Every change to a user, its roles or their perms raises the user's epoch in the state store, and every request reads
the epoch together with its session: so what is remembered under an epoch is true while that epoch stands. Should a
raise ever get lost (a kill between the two stores), the time limit is the net under it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.stores.accounts.users import Profile, Users

REMEMBERED = 10_000
TIME_LIMIT = 60.0


class Remembered:
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
        self._remembered: dict[int, Remembered] = {}

    async def get(self, user: int, epoch: int) -> Remembered | None:
        """The profile of an enabled user; None if the user is disabled or gone."""
        entry = self._remembered.get(user)
        if entry is not None and entry.epoch == epoch and self._clock() < entry.until:
            return entry
        profile = await self._users.profile(user)
        self._remembered.pop(user, None)
        if profile is None or not profile.user.enabled:
            return None
        if len(self._remembered) >= REMEMBERED:
            self._remembered.pop(next(iter(self._remembered)))
        entry = Remembered(profile, epoch, self._clock() + TIME_LIMIT)
        self._remembered[user] = entry
        return entry

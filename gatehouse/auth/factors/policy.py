"""Who must have a second factor, by the settings. Enforced at login by `login/second_factor.py`."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class FactorMode(StrEnum):
    OPTIONAL = "optional"  # who has one is asked for it
    REQUIRED = "required"  # and everybody must have one
    OFF = "off"  # no login needs one


class FactorPolicy(NamedTuple):
    mode: FactorMode = FactorMode.OPTIONAL
    roles: frozenset[str] = frozenset()  # who holds one of these must have a second factor

    @property
    def is_on(self) -> bool:
        return self.mode is not FactorMode.OFF

    @property
    def requires_some(self) -> bool:
        """Whether any user must have a factor; if not, roles need not be read."""
        return self.mode is FactorMode.REQUIRED or (self.is_on and bool(self.roles))

    def requires(self, roles: Iterable[str]) -> bool:
        return self.mode is FactorMode.REQUIRED or (self.is_on and not self.roles.isdisjoint(roles))

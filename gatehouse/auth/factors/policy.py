"""Who must have a second factor: a rule of the operator's."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class FactorMode(StrEnum):
    OPTIONAL = "optional"  # who has one is asked for it
    REQUIRED = "required"  # and everybody must have one
    OFF = "off"  # nobody is asked


class FactorPolicy(NamedTuple):
    mode: FactorMode = FactorMode.OPTIONAL
    roles: frozenset[str] = frozenset()  # who holds one of these must have a second factor

    @property
    def asks(self) -> bool:
        return self.mode is not FactorMode.OFF

    @property
    def requires_some(self) -> bool:
        """Whether anybody at all must have one; if not, nobody's roles have to be read."""
        return self.mode is FactorMode.REQUIRED or bool(self.roles)

    def requires(self, roles: Iterable[str]) -> bool:
        return self.mode is FactorMode.REQUIRED or not self.roles.isdisjoint(roles)

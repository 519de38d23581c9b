"""The name of a login: as it was typed, and its key, under which it is stored, counted and locked.

The key is computed once, where the name comes in.
"""

from __future__ import annotations

from typing import NamedTuple

from gatehouse.common.name_key import name_key


class LoginName(NamedTuple):
    typed: str
    key: str

    @classmethod
    def of(cls, typed: str) -> LoginName:
        return cls(typed, name_key(typed))

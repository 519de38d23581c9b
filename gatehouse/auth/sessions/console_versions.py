"""Which version of the console a session belongs to, as far as its requests show.

The versions ask the same paths and mean different things: the type of a menu is a letter, a number or a word, and a
role's data scope counts from 1 or from 0. Read in the wrong way, "department and below" becomes "all". The headers
do not tell them apart, but the requests do. Consoles before 4.3 log in by a form. Of these, 2.12 to 2.24 ask for
all dictionaries right after the login; 2.25 to 3.4 do not, and ask for notices; those up to 2.11 do neither. What was
seen is kept as a flag in state for as long as the session can last.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.stores.state.protocol import State


class ConsoleVersion(StrEnum):
    # Named by how the type of a menu is written.
    CURRENT = "current"  # 4.3 and later: letters, data scopes from 1
    NUMBERS = "numbers"  # 2.25 to 3.4: numbers, data scopes from 1
    WORDS = "words"  # up to 2.24: words, data scopes from 0
    FORM = "form"  # up to 2.11, or not known better: read as WORDS, where a wrong scope shows less, not more

    @property
    def is_oldest(self) -> bool:
        return self in {ConsoleVersion.WORDS, ConsoleVersion.FORM}


class ConsoleVersions:
    def __init__(self, state: State, clock: Callable[[], float], kept_seconds: float) -> None:
        self._state = state
        self._clock = clock
        self._kept_seconds = kept_seconds

    async def remember(self, session: str, console_version: ConsoleVersion) -> None:
        now = self._clock()
        if not await self._state.has_flag(_flag(session, console_version), now):
            await self._state.set_flag(_flag(session, console_version), now + self._kept_seconds, now)

    async def of_session(self, session: str) -> ConsoleVersion:
        now = self._clock()
        for console_version in (ConsoleVersion.NUMBERS, ConsoleVersion.WORDS, ConsoleVersion.FORM):
            if await self._state.has_flag(_flag(session, console_version), now):
                return console_version
        return ConsoleVersion.CURRENT


def _flag(session: str, console_version: ConsoleVersion) -> str:
    return f"console|{console_version}|{session}"

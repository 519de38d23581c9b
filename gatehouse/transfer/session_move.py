"""Moves live sessions from the embedded default to another engine. Accounts: `stores/database/database_copy.py`."""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from gatehouse.stores.state.protocol import Session, State

    Progress = Callable[[str, int, int], None]

BATCH = 1_000
# More than any user has: a move must not end anybody's session.
ALL_SESSIONS = 1_000_000_000


async def move_sessions(sessions: Iterable[Session], total: int, target: State, progress: Progress) -> int:
    """Store each under its own id, so a second try changes nothing more."""
    done = 0
    for batch in _in_batches(sessions):
        await asyncio.gather(*(target.open_session(session, ALL_SESSIONS) for session in batch))
        done += len(batch)
        progress("sessions", done, total)
    return done


def _in_batches(sessions: Iterable[Session]) -> Iterator[list[Session]]:
    each = iter(sessions)
    while batch := list(islice(each, BATCH)):
        yield batch

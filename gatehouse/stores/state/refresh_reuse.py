"""When a refresh token counts as reused, as every engine decides it. A pure function.

SQLite's engine calls it. The Lua script of Redis and `postgres/functions.sql` have the same rule, because deciding and
ending the session are one step; a property test in `tests/stores/test_sessions.py` compares them all. What follows for
the caller is in `auth/sessions/sessions.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gatehouse.stores.state.protocol import Session


def is_reused(session: Session, generation: int, now: float, grace: float) -> bool:
    """Whether a token of this generation is neither the current one nor its parent within `grace` seconds.

    A session that has expired has no token that could be reused.
    """
    if session.ends <= now or generation == session.generation:
        return False
    return generation != session.generation - 1 or now >= session.rotated + grace

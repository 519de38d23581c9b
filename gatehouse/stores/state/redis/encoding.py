"""How keys and values are written in Redis: text that a person can read and a script can take apart.

A session is stored as `generation opened rotated ends latest address/proof agent`, where `latest` is its absolute end,
and 0.1.0 writes no proof; failures as `failures since level until`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gatehouse.stores.state.protocol import Failures, Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.common.parsing import Rate
    from gatehouse.stores.state.redis.connection import Argument

LOCKED_KEY = b"gatehouse:{waits}"
ENDS_FIELD = 3  # the index of `ends` in a stored session


def encode_text(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def prefixed_key(prefix: bytes, key: str) -> bytes:
    return prefix + encode_text(key)


def rate_arguments(rate: Rate) -> tuple[Argument, Argument]:
    """The seconds between two events at the full rate, and the seconds of the rate."""
    return repr(rate.seconds / rate.count), rate.seconds


def failures_key(key: str) -> bytes:
    return LOCKED_KEY + b":" + encode_text(key)


def user_key(user: int | str) -> bytes:
    return f"gatehouse:{{{user}}}".encode()


def ttl_seconds(expires: float, now: float) -> int:
    return max(1, math.ceil(expires - now))


def pack_session(session: Session) -> bytes:
    times = " ".join(map(repr, (session.opened, session.rotated, session.ends, session.absolute_end)))
    origin = f"{session.address}/{session.proof}" if session.proof else session.address
    return encode_text(f"{session.generation} {times} {origin} {session.agent}")


def unpack_session(session_id: str, packed: bytes, epoch: bytes | None) -> Session:
    text = packed.decode("utf-8", "surrogatepass")
    generation, opened, rotated, ends, absolute_end, origin, agent = text.split(" ", 6)
    address, _, proof = origin.partition("/")
    return Session(
        session_id,
        int(session_id.partition("-")[0]),
        int(generation),
        float(opened),
        float(rotated),
        float(ends),
        float(absolute_end),
        address,
        agent,
        proof,
        int(epoch or 0),
    )


def unpack_pairs(flat: Sequence[bytes], epoch: bytes | None) -> list[Session]:
    return [unpack_session(flat[i].decode(), flat[i + 1], epoch) for i in range(0, len(flat), 2) if flat[i] != b"epoch"]


def sessions_oldest_first(fields: Sequence[bytes]) -> list[Session]:
    epoch = dict(zip(fields[::2], fields[1::2], strict=True)).get(b"epoch")
    return sorted(unpack_pairs(fields, epoch), key=lambda session: (session.opened, session.id))


def unpack_failures(key: str, found: bytes) -> Failures:
    failures, since, level, until = found.split(b" ")
    return Failures(key, int(failures), float(since), int(level), float(until))

"""State in Redis or Valkey, shared by every node.

    gatehouse:{17}              hash    sessions of user 17 by id, and the user's epoch
    gatehouse:captcha:<hex>     text    a captcha that has been used
    gatehouse:rate:<key>        text    when a rate would be idle again
    gatehouse:mark:<key>        text    a flag, and until when
    gatehouse:value:<key>       text    until when, and a short text
    gatehouse:{waits}:<key>     text    failures under a key
    gatehouse:{waits}           zset    the locked keys, by the end of their lockout
    gatehouse:{ended}           stream  sessions that ended lately
    gatehouse:identity          text    a random name of this store, so that nodes notice if they use different ones
    gatehouse:ping              text    what the readiness check writes

Everything about a user is one key. So a session and its epoch are one read, every change to a user's sessions is one
script over one key, and a Cluster needs nothing else. Redis removes what expires: each key but the identity
has an expiry, never earlier than the time the caller named.

`encoding.py` has the form of each value.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from gatehouse.messages import message
from gatehouse.stores.state.protocol import (
    EPOCH_KEPT_SECONDS,
    EXPIRED_KEPT_SECONDS,
    BackoffPolicy,
    Failures,
    Rotation,
    Session,
    Swept,
)
from gatehouse.stores.state.redis import server_configuration
from gatehouse.stores.state.redis.connection import Argument, ServerError
from gatehouse.stores.state.redis.encoding import (
    ENDS_FIELD,
    LOCKED_KEY,
    encode_text,
    failures_key,
    pack_session,
    prefixed_key,
    rate_arguments,
    sessions_oldest_first,
    ttl_seconds,
    unpack_failures,
    unpack_pairs,
    unpack_session,
    user_key,
)
from gatehouse.stores.state.redis.ended_sessions_log import ENDED_LOG, EndedLog, end_record_arguments, reuse_arguments
from gatehouse.stores.state.redis.script import Script
from gatehouse.stores.state.redis.servers import connect, parse_url

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Mapping, Sequence

    from gatehouse.common.parsing import Rate
    from gatehouse.messages import Message
    from gatehouse.stores.state.protocol import EndedLogPage, EndRecord, ReuseDetection, SessionLogin, SessionStatus

# Epochs that are raised in one pipeline.
EPOCH_BATCH = 1_000

_OPEN_SESSION = Script("common/record_ended", "open_session")
_ROTATE_SESSION = Script("common/record_ended", "rotate_session")
_TOUCH_SESSION = Script("touch_session")
_END_SESSION = Script("common/record_ended", "end_session")
_END_SESSIONS = Script("common/record_ended", "end_sessions")
_RAISE_EPOCH = Script("raise_epoch")
_RATE_LIMIT = Script("common/count_event", "rate_limit")
_ADD_TO_RATE = Script("add_to_rate")
_RECORD_FAILURE = Script("record_failure")
_CLEAR_FAILURES = Script("clear_failures")
_COMPARE_AND_SET = Script("compare_and_set")
# What `rotate_session.lua` has done.
_ROTATED, _REUSED = 1, 2


class RedisState:
    """The `State` protocol over one server, Sentinels or a Cluster. Connects at the first call."""

    def __init__(self, url: str) -> None:
        """Raises `ValueError` if the URL cannot be read."""
        read = parse_url(url)
        self._servers = connect(read)
        self._ended_log = EndedLog(self._run, atomic=read.kind != "cluster")
        self._commands: Counter[str] = Counter()

    def _call(self, key: bytes, name: str, *arguments: Argument) -> Awaitable[Any]:
        self._commands[name.lower()] += 1
        return self._servers.call(key, name, *arguments)

    async def _run(self, script: Script, keys: tuple[bytes, ...], *arguments: Argument) -> Any:
        try:
            return await self._call(keys[0], "EVALSHA", script.digest, len(keys), *keys, *arguments)
        except ServerError as error:
            if error.kind != "NOSCRIPT":
                raise
        # The server has run nothing, so the script can be sent again, this time in full.
        return await self._call(keys[0], "EVAL", script.text, len(keys), *keys, *arguments)

    # Sessions

    async def open_session(
        self, session: Session, sessions_per_user: int, end_record: EndRecord | None = None
    ) -> tuple[Session, Sequence[Session]]:
        keys = (user_key(session.user), *self._ended_log.keys)
        arguments = (session.id, pack_session(session), sessions_per_user, repr(session.opened), EXPIRED_KEPT_SECONDS)
        epoch, *gone = await self._run(_OPEN_SESSION, keys, *arguments, *end_record_arguments(end_record))
        evicted = unpack_pairs(gone, epoch)
        await self._ended_log.append_separately(evicted, end_record)
        return session._replace(epoch=int(epoch or 0)), evicted

    async def session_status(self, session_id: str) -> SessionStatus | None:
        user = session_id.partition("-")[0]
        key = user_key(user)
        packed, epoch = await self._call(key, "HMGET", key, session_id, "epoch")
        return (int(user), float(packed.split(b" ", 4)[ENDS_FIELD]), int(epoch or 0)) if packed else None

    async def rotate_session(
        self, session_id: str, generation: int, now: float, ends: float, reuse: ReuseDetection | None = None
    ) -> Rotation | None:
        keys = (user_key(session_id.partition("-")[0]), *self._ended_log.keys)
        asked = (session_id, generation, repr(now), repr(ends), EXPIRED_KEPT_SECONDS)
        found = await self._run(_ROTATE_SESSION, keys, *asked, *reuse_arguments(reuse))
        if found is None:
            return None
        outcome, packed, epoch = found
        rotation = Rotation(outcome == _ROTATED, unpack_session(session_id, packed, epoch), outcome == _REUSED)
        if reuse is not None and rotation.was_reused:
            await self._ended_log.append_separately([rotation.session], reuse.end_record)
        return rotation

    async def touch_session(
        self, session_id: str, now: float, ends: float, login: SessionLogin | None = None
    ) -> Session | None:
        replaced = (repr(login.opened), login.proof) if login else ()
        asked = (session_id, repr(now), repr(ends), EXPIRED_KEPT_SECONDS, *replaced)
        found = await self._run(_TOUCH_SESSION, (user_key(session_id.partition("-")[0]),), *asked)
        return unpack_session(session_id, *found) if found else None

    async def end_session(self, session_id: str, end_record: EndRecord | None = None) -> Session | None:
        keys = (user_key(session_id.partition("-")[0]), *self._ended_log.keys)
        packed, epoch = await self._run(_END_SESSION, keys, session_id, *end_record_arguments(end_record))
        session = unpack_session(session_id, packed, epoch) if packed else None
        await self._ended_log.append_separately([session] if session else [], end_record)
        return session

    async def sessions_of(self, user: int) -> Sequence[Session]:
        key = user_key(user)
        return sessions_oldest_first(await self._call(key, "HGETALL", key))

    async def end_sessions_of(
        self, user: int, except_session: str | None = None, end_record: EndRecord | None = None
    ) -> Sequence[Session]:
        keys = (user_key(user), *self._ended_log.keys)
        found = await self._run(_END_SESSIONS, keys, except_session or "", user, *end_record_arguments(end_record))
        ended = [session for session in sessions_oldest_first(found) if session.id != except_session]
        await self._ended_log.append_separately(ended, end_record, user)
        return ended

    # The log of ended sessions

    async def ended_sessions(self, after: str, limit: int) -> EndedLogPage:
        return await self._ended_log.read(after, limit)

    async def ended_position(self) -> str:
        found = await self._call(ENDED_LOG, "XREVRANGE", ENDED_LOG, "+", "-", "COUNT", 1)
        return found[0][0].decode() if found else ""

    # Epochs

    async def raise_epochs(self, users: Iterable[int], now: float) -> None:
        everyone = list(users)
        for start in range(0, len(everyone), EPOCH_BATCH):
            batch = everyone[start : start + EPOCH_BATCH]
            await asyncio.gather(
                *(self._run(_RAISE_EPOCH, (user_key(user),), int(now * 1000), EPOCH_KEPT_SECONDS) for user in batch),
            )

    # Captchas

    async def use_captcha(self, fingerprint: bytes, expires: int, now: float) -> bool:
        key = b"gatehouse:captcha:" + fingerprint.hex().encode()
        return await self._call(key, "SET", key, "1", "NX", "EX", ttl_seconds(expires, now)) is not None

    # Limits

    async def rate_limit(self, key: str, rate: Rate, now: float) -> float:
        return float(
            await self._run(_RATE_LIMIT, (prefixed_key(b"gatehouse:rate:", key),), repr(now), *rate_arguments(rate))
        )

    async def rate_level(self, key: str, now: float) -> float:
        name = prefixed_key(b"gatehouse:rate:", key)
        arrival = await self._call(name, "GET", name)
        return 0.0 if arrival is None else max(float(arrival) - now, 0.0)

    async def add_to_rate(self, key: str, seconds: float, ceiling: float, now: float) -> float:
        name = prefixed_key(b"gatehouse:rate:", key)
        return float(await self._run(_ADD_TO_RATE, (name,), repr(now), repr(seconds), repr(ceiling))) - now

    async def record_failure(self, key: str, policy: BackoffPolicy, now: float) -> Failures | None:
        after = await self._run(
            _RECORD_FAILURE,
            (failures_key(key), LOCKED_KEY),
            encode_text(key),
            repr(now),
            policy.failure_limit,
            policy.window,
            policy.kept_seconds,
            *policy.lockout_seconds,
        )
        return unpack_failures(key, after) if after else None

    async def failures(self, key: str) -> Failures | None:
        name = failures_key(key)
        found = await self._call(name, "GET", name)
        return unpack_failures(key, found) if found else None

    async def clear_failures(self, key: str) -> bool:
        return bool(await self._run(_CLEAR_FAILURES, (failures_key(key), LOCKED_KEY), encode_text(key)))

    async def locked(self, now: float) -> Sequence[Failures]:
        found = await self._call(LOCKED_KEY, "ZREVRANGEBYSCORE", LOCKED_KEY, "+inf", f"({now!r}")
        pairs = [member.split(b" ", 4) for member in found]
        return [unpack_failures(name.decode("utf-8", "surrogatepass"), b" ".join(facts)) for *facts, name in pairs]

    async def set_flag(self, key: str, expires: float, now: float) -> None:
        name = prefixed_key(b"gatehouse:mark:", key)
        await self._call(name, "SET", name, repr(expires), "EX", ttl_seconds(expires, now))

    async def has_flag(self, key: str, now: float) -> bool:
        name = prefixed_key(b"gatehouse:mark:", key)
        expires = await self._call(name, "GET", name)
        return expires is not None and float(expires) > now

    # Values

    async def value(self, key: str, now: float) -> str | None:
        name = prefixed_key(b"gatehouse:value:", key)
        expires, _, value = (await self._call(name, "GET", name) or b"0 ").partition(b" ")
        return value.decode("utf-8", "surrogatepass") if float(expires) > now else None

    async def compare_and_set(self, key: str, expected: str | None, new: str, expires: float, now: float) -> bool:
        name = prefixed_key(b"gatehouse:value:", key)
        arguments = (encode_text(expected or ""), int(expected is not None), encode_text(new), repr(expires), repr(now))
        return bool(await self._run(_COMPARE_AND_SET, (name,), *arguments, ttl_seconds(expires, now)))

    # Housekeeping

    async def sweep(self, now: float) -> Swept:  # noqa: ARG002 - the server removes what expires
        await self._ended_log.retry()
        return Swept((), more=False)

    def counts(self) -> Mapping[str, int]:
        return self._commands

    async def ping(self) -> None:
        await self._call(b"gatehouse:ping", "SET", "gatehouse:ping", "1", "EX", 60)

    async def identity(self) -> str:
        name = b"gatehouse:identity"
        await self._call(name, "SET", name, token_hex(16), "NX")
        return str((await self._call(name, "GET", name)).decode())

    async def configuration_warnings(self) -> list[Message]:
        return await server_configuration.warnings(self._servers)

    async def durability(self) -> Message:
        return message("findings.durability_redis")

    async def close(self) -> None:
        await self._servers.close()

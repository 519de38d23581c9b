"""The log of ended sessions as a Redis stream. A position is the id of an entry, which the server makes of its clock.

Entries are removed when they no longer matter, and the oldest when there are more than `ENDED_SESSIONS_MAX`. The
server trims a little less than asked, never more: so as long as there are fewer, nothing that still matters has
been dropped.

An entry is written by the script that ends the session. In a Cluster the log has a slot of its own, so a second call
writes it, before the first one is answered; if that fails it is made again by the next one, or by the next sweep.
Should the node be killed between the two, the entry is lost: then services that verify tokens by themselves
accept the tokens of that session until they expire.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from gatehouse.stores.errors import StoreUnavailable
from gatehouse.stores.state.protocol import ENDED_SESSIONS_MAX, EndedLogEntry, EndedLogPage
from gatehouse.stores.state.redis.script import Script

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from gatehouse.stores.state.protocol import EndRecord, ReuseDetection, Session
    from gatehouse.stores.state.redis.connection import Argument

ENDED_LOG = b"gatehouse:{ended}"
BEFORE_ALL = "0-0"
# Second calls that failed and will be made again.
UNWRITTEN_MAX = 10_000

_APPEND = Script("common/record_ended", "append_ended")
_READ = Script("read_ended")


class EndedLog:
    def __init__(self, run: Callable[..., Awaitable[Any]], *, atomic: bool) -> None:
        self._run = run
        self._atomic = atomic
        self._unwritten: deque[tuple[Argument, ...]] = deque(maxlen=UNWRITTEN_MAX)
        self.keys = (ENDED_LOG,) if atomic else ()  # for the scripts that end sessions

    async def append_separately(
        self, ended: Sequence[Session], end_record: EndRecord | None, user: int | None = None
    ) -> None:
        """The second call, where one is needed. The sessions have ended whatever becomes of it."""
        if self._atomic or end_record is None:
            return
        entries = [str(user)] if user is not None and end_record.credential_changed else []
        entries += [session.id for session in ended if session.ends > end_record.at]
        if entries:
            self._unwritten.append((*end_record_arguments(end_record), *entries))
        with suppress(StoreUnavailable):
            await self.retry()

    async def retry(self) -> None:
        while self._unwritten:
            arguments = self._unwritten.popleft()
            try:
                await self._run(_APPEND, (ENDED_LOG, ENDED_LOG), *arguments)
            except StoreUnavailable:
                self._unwritten.appendleft(arguments)
                raise

    async def read(self, after: str, limit: int) -> EndedLogPage:
        return page(after, *await self._run(_READ, (ENDED_LOG,), after or BEFORE_ALL, limit))


def end_record_arguments(end_record: EndRecord | None) -> tuple[Argument, ...]:
    """The arguments of `record_ended.lua`."""
    if end_record is None:
        return ()
    changed = int(end_record.credential_changed)
    return repr(end_record.at), end_record.reason, ENDED_SESSIONS_MAX, end_record.kept_seconds, changed


def reuse_arguments(reuse: ReuseDetection | None) -> tuple[Argument, ...]:
    """The last arguments of `rotate_session.lua`: the grace window, and those of `record_ended.lua`."""
    if reuse is None:
        return ()
    return repr(reuse.grace), *end_record_arguments(reuse.end_record)


def page(after: str, number: int, first: bytes | None, last: bytes | None, found: list[Any]) -> EndedLogPage:
    entries = [_entry(entry_id, dict(zip(fields[::2], fields[1::2], strict=True))) for entry_id, fields in found]
    begin = _order(after.encode() or BEFORE_ALL.encode())
    dropped = first is not None and number >= ENDED_SESSIONS_MAX and begin < _order(first)
    # A reader ahead of the newest entry has read it from a server that is not the primary any more.
    ahead = last is not None and begin > _order(last)
    return EndedLogPage(entries, entries[-1].position if entries else after, not dropped and not ahead)


def _entry(entry_id: bytes, fields: dict[bytes, bytes]) -> EndedLogEntry:
    return EndedLogEntry(entry_id.decode(), fields[b"s"].decode(), float(fields[b"a"]), fields[b"r"].decode())


def _order(entry_id: bytes) -> tuple[int, int]:
    milliseconds, _, number = entry_id.partition(b"-")
    return int(milliseconds), int(number)

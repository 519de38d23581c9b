"""Follows the sessions that end, so that a token verified offline is refused within a second of the logout.

One thread of the process reads the service's stream; a check looks into a dictionary. The service says every second
that all it knows has been told, so a follower knows when it does not know:

- silence of more than `max_silence` seconds: the feed is stale;
- the service says that entries are missing (the follower was away too long, or the service has lost its state): tokens
  issued before that time are in doubt. They are refused as expired ones are, so clients refresh them, and whose
  session has ended gets none.

A stale feed fails closed: `Unavailable`, 503. Whoever wants a stolen token to outlive a logout would only have to cut
the feed otherwise. `stale_ok=True` is the other choice: tokens are then good until they expire, as without a feed.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from gatehouse.verify.errors import TokenInvalid, Unavailable
from gatehouse.verify.fetch import check_url, open_stream

if TYPE_CHECKING:
    from collections.abc import Callable

PAUSE_SECONDS = (0.1, 0.2, 0.5, 1.0)
LONGEST_LINE = 64 * 1024
# No access token is valid for longer; the service says how long its own are.
MAX_KEEP = 90_000.0


class EndedSessions:
    """`url` is the service's `/events/ended-sessions/stream`; the key comes from `gatehouse service-key add NAME`.

    Starts by itself with the first check, in a forked process too; or with `start`. One is enough for a process.
    """

    def __init__(
        self,
        url: str,
        service_key: str,
        *,
        max_silence: float = 5.0,
        stale_ok: bool = False,
        plain_http: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if max_silence < 2:
            raise ValueError(
                f"max_silence: expected at least 2 seconds, as the service speaks once a second: {max_silence}"
            )
        self._url = check_url(url, plain_http=plain_http)
        self._key = service_key
        self._max_silence = max_silence
        self._stale_ok = stale_ok
        self._clock = clock
        self._ended: OrderedDict[str, float] = OrderedDict()
        self._position = ""
        self._missing_before = 0.0
        self._keep = MAX_KEEP
        self._heard = float("-inf")
        self._caught_up = threading.Event()
        self._problem = "the feed of ended sessions has not been read yet"
        self._starting = threading.Lock()
        self._process = 0
        self._started = float("-inf")
        self._closed = False

    @property
    def starting(self) -> bool:
        """Whether it is worth waiting: not up to date yet in this process, and not known to be late."""
        if self._process != os.getpid():
            return not self._closed
        return not self._caught_up.is_set() and time.monotonic() < self._started + self._max_silence

    @property
    def fresh(self) -> bool:
        return time.monotonic() - self._heard <= self._max_silence

    def check(self, session: str, issued: float) -> None:
        """Raises `TokenInvalid` if the session has ended, or may have; `Unavailable` if that cannot be known."""
        if session in self._ended:
            raise TokenInvalid("the session has ended")
        if self._stale_ok:
            return
        if not self.fresh:
            raise Unavailable(f"ended sessions are not known: {self._problem}")
        if issued < self._missing_before:
            raise TokenInvalid("the session may have ended: the feed has missed what happened before")

    def start(self) -> EndedSessions:
        with self._starting:
            if self._process != os.getpid() and not self._closed:
                # After a fork the thread is the parent's; what it has learned is kept.
                self._process = os.getpid()
                self._started = time.monotonic()
                self._caught_up = threading.Event()
                threading.Thread(target=self._run, name="ended-sessions", daemon=True).start()
        return self

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it is up to date for the first time; False if it is not by then."""
        self.start()
        return self._caught_up.wait(self._max_silence if seconds is None else seconds)

    def close(self) -> None:
        """The thread ends with the next word of the service, or with its silence."""
        self._closed = True

    def __enter__(self) -> EndedSessions:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        tries = 0
        while not self._closed:
            heard = self._heard
            try:
                self._follow()
                self._problem = "the stream has ended"
            except Exception as problem:  # noqa: BLE001 - after any error the feed is stale, and is read again
                self._problem = str(problem) or type(problem).__name__
            tries = tries + 1 if heard == self._heard else 0
            if not self._closed:
                time.sleep(PAUSE_SECONDS[min(tries, len(PAUSE_SECONDS) - 1)])

    def _follow(self) -> None:
        headers = {"Authorization": f"Bearer {self._key}", "Accept": "text/event-stream"}
        url = self._url
        if self._position:
            headers["Last-Event-ID"] = self._position
        else:
            url += "?after=oldest"
        with open_stream(url, self._max_silence, headers) as stream:
            event: dict[str, str] = {}
            while not self._closed and (line := stream.readline(LONGEST_LINE)):
                if line.strip():
                    name, _, value = line.decode().rstrip("\r\n").partition(":")
                    event[name] = value.removeprefix(" ")
                elif "data" in event:
                    self._take(event.get("event", ""), event.get("id", ""), json.loads(event["data"]))
                    event = {}

    def _take(self, name: str, position: str, data: dict[str, Any]) -> None:
        if name == "ended":
            self._ended[str(data["sid"])] = float(data["at"])
        elif name == "gap":
            self._missing_before = max(self._missing_before, float(data["missing_before"]))
        elif name == "position":
            self._keep = min(float(data["keep"]), MAX_KEEP)
            self._forget()
            self._position = position
            self._heard = time.monotonic()
            self._caught_up.set()

    def _forget(self) -> None:
        """Sessions whose last token has expired; oldest first, as they came."""
        horizon = self._clock() - self._keep
        while self._ended and next(iter(self._ended.values())) < horizon:
            self._ended.popitem(last=False)

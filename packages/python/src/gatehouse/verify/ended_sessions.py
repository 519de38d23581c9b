"""Follows the sessions that end, so that a token verified offline is refused within a second of the logout.

One thread of the process reads the service's stream; a check looks into a dictionary. The service sends a
position every second, so a follower knows when its data is stale:

- silence of more than `max_silence` seconds: the feed is stale;
- the service says that entries are missing (the follower was away too long, or the service has lost its state): tokens
  issued before that time may be of ended sessions. They are refused as expired ones are, so clients refresh them, which
  fails for an ended session.

A stale feed fails closed: `Unavailable`, 503. Otherwise a thief could keep a stolen token valid after a logout by
cutting the feed. `fail_open=True` is the other choice: tokens are then good until they expire, as without a feed.
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

RECONNECT_BACKOFF_SECONDS = (0.1, 0.2, 0.5, 1.0)
MAX_LINE_BYTES = 64 * 1024
# No access token is valid for longer; the service says how long its own are.
MAX_KEPT_SECONDS = 90_000.0
# The most that a `Verifier` accepts a token after its expiry.
MAX_LEEWAY = 120.0


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
        fail_open: bool = False,
        allow_http: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if max_silence < 2:
            raise ValueError(
                f"max_silence: expected at least 2 seconds, as the service sends an event every second: {max_silence}"
            )
        self._url = check_url(url, allow_http=allow_http)
        self._key = service_key
        self._max_silence = max_silence
        self._fail_open = fail_open
        self._clock = clock
        self._ended: OrderedDict[str, float] = OrderedDict()
        self._position = ""
        self._missing_before = 0.0
        self._kept_seconds = 0.0
        self._last_event_at = float("-inf")
        self._least_lag = float("inf")  # between the two clocks, by the fastest event of this connection
        self._caught_up = threading.Event()
        self._problem = "the feed of ended sessions has not been read yet"
        self._starting = threading.Lock()
        self._process = 0
        self._started = float("-inf")
        self._closed = False

    @property
    def should_wait(self) -> bool:
        """Whether a check should wait for it: not up to date yet in this process, and not known to be late."""
        if self._process != os.getpid():
            return not self._closed
        return not self._caught_up.is_set() and time.monotonic() < self._started + self._max_silence

    @property
    def fresh(self) -> bool:
        return time.monotonic() - self._last_event_at <= self._max_silence

    def check(self, session: str, issued: float) -> None:
        """Raises `TokenInvalid` if the session has ended, or may have; `Unavailable` if that cannot be known."""
        if session in self._ended:
            raise TokenInvalid("the session has ended")
        if self._fail_open:
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
        """The thread ends with the next event, or when none comes in time."""
        self._closed = True

    def __enter__(self) -> EndedSessions:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        tries = 0
        while not self._closed:
            before = self._last_event_at
            try:
                self._follow()
                self._problem = "the stream has ended"
            except Exception as problem:  # noqa: BLE001 - after any error the feed is stale, and is read again
                self._problem = str(problem) or type(problem).__name__
            tries = tries + 1 if before == self._last_event_at else 0
            if not self._closed:
                time.sleep(RECONNECT_BACKOFF_SECONDS[min(tries, len(RECONNECT_BACKOFF_SECONDS) - 1)])

    def _follow(self) -> None:
        headers = {"Authorization": f"Bearer {self._key}", "Accept": "text/event-stream"}
        url = self._url
        if self._position:
            headers["Last-Event-ID"] = self._position
        else:
            url += "?after=oldest"
        self._least_lag = float("inf")
        with open_stream(url, self._max_silence, headers) as stream:
            event: dict[str, str] = {}
            while not self._closed and (line := stream.readline(MAX_LINE_BYTES)):
                if line.strip():
                    name, _, value = line.decode().rstrip("\r\n").partition(":")
                    event[name] = value.removeprefix(" ")
                elif "data" in event:
                    self._handle_event(event.get("event", ""), event.get("id", ""), json.loads(event["data"]))
                    event = {}

    def _handle_event(self, name: str, position: str, data: dict[str, Any]) -> None:
        if name == "ended":
            self._ended[str(data["sid"])] = float(data["at"])
        elif name == "gap":
            self._missing_before = max(self._missing_before, float(data["missing_before"]))
        elif name == "position":
            self._refuse_late(float(data["at"]))
            # Only ever raised: older tokens may live longer than newer ones, and not every service says so.
            self._kept_seconds = max(self._kept_seconds, min(float(data["keep"]), MAX_KEPT_SECONDS))
            self._drop_expired()
            self._position = position
            self._last_event_at = time.monotonic()
            self._caught_up.set()

    def _refuse_late(self, sent: float) -> None:
        """Whoever is between the two can hold events back and let one through now and then: it is not news then."""
        lag = time.monotonic() - sent
        self._least_lag = min(self._least_lag, lag)
        if lag > self._least_lag + self._max_silence:
            raise Unavailable("the feed arrives late")

    def _drop_expired(self) -> None:
        """Sessions whose last token has expired; oldest first, as they came."""
        horizon = self._clock() - self._kept_seconds - MAX_LEEWAY
        while self._ended and next(iter(self._ended.values())) < horizon:
            self._ended.popitem(last=False)

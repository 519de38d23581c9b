"""The synchronous client. Threads may share one: if several find the token due, one of them renews it."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Self

import httpx

from gatehouse.client import requests_and_answers as wire
from gatehouse.client.errors import GatehouseError, NotLoggedIn, SessionEnded, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.client.requests_and_answers import Call, Captcha, Tokens, User, Variant


class Client:
    def __init__(
        self,
        url: str,
        *,
        variant: Variant = "B",
        timeout: float = 10.0,
        transport: httpx.BaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._http = httpx.Client(base_url=url, timeout=timeout, transport=transport)
        self._variant = variant
        self._clock = clock
        self._tokens: Tokens | None = None
        self._renewing = threading.Lock()

    @property
    def tokens(self) -> Tokens | None:
        """The current tokens; None when logged out."""
        return self._tokens

    def captcha(self) -> Captcha:
        return wire.captcha_from(self._send(wire.CAPTCHA), self._variant)

    def login(
        self, username: str, password: str, captcha: Captcha | None = None, answer: str = "", *, otp_code: str = ""
    ) -> Tokens:
        """Without a captcha only those who are exempt from it get in; `otp_code` is for who has a second factor."""
        now = self._clock()
        data = self._send(wire.login_call(self._variant, username, password, captcha, answer, otp_code=otp_code))
        self._tokens = wire.tokens_from(data, now)
        return self._tokens

    def resume(self, refresh_token: str) -> Tokens:
        """Continue a session that was opened elsewhere."""
        self._tokens = None
        return self._renew(refresh_token)

    def me(self) -> User:
        return wire.user_from(self._authorized(wire.ME))

    def logout(self) -> None:
        """End the session. A session that has ended already is not an error."""
        try:
            self._authorized(wire.logout_call(self._variant))
        except (NotLoggedIn, SessionEnded):
            pass
        finally:
            self._tokens = None

    def access_token(self) -> str:
        """An access token that is valid for a while, for requests to other services."""
        return self._current().access

    def refresh(self) -> Tokens:
        """Renew now. Of several callers at once one does it, and all get the result."""
        if self._tokens is None:
            raise NotLoggedIn("not logged in")
        return self._renew_once(self._tokens)

    def _current(self) -> Tokens:
        tokens = self._tokens
        if tokens is None:
            raise NotLoggedIn("not logged in")
        return tokens if self._clock() < tokens.due else self._renew_once(tokens)

    def _renew_once(self, seen: Tokens) -> Tokens:
        """The successor of the tokens that the caller saw; only the first of several callers asks for it."""
        with self._renewing:
            tokens = self._tokens
            if tokens is None:
                raise NotLoggedIn("not logged in")
            return self._renew(seen.refresh) if tokens is seen else tokens

    def _renew(self, refresh_token: str) -> Tokens:
        call = wire.refresh_call(self._variant, refresh_token)
        try:
            now = self._clock()
            try:
                data = self._send(call)
            except GatehouseError as problem:
                # The answer may be what got lost. The service answers a repeated token with its successor.
                if not wire.may_have_happened(problem):
                    raise
                if not isinstance(problem, Unreachable):
                    time.sleep(wire.REFRESH_PAUSE_SECONDS)
                data = self._send(call._replace(seconds=None))
        except SessionEnded:
            self._tokens = None
            raise
        self._tokens = wire.tokens_from(data, now)
        return self._tokens

    def _authorized(self, call: Call) -> dict[str, Any]:
        tokens = self._current()
        try:
            return self._send(call, tokens.access)
        except NotLoggedIn:
            # Refused before its time, for instance because the two clocks differ: once more with a new one.
            return self._send(call, self._renew_once(tokens).access)

    def _send(self, call: Call, access: str | None = None) -> dict[str, Any]:
        try:
            response = self._http.send(wire.build(self._http, call, access))
        except httpx.TransportError as problem:
            raise Unreachable(f"{type(problem).__name__} at {call.method} {call.path}") from None
        return wire.read(response)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

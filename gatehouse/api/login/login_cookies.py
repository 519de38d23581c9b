"""The cookies of logins with a provider that are under way, one for each: they bind the answer to this browser."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gatehouse.api.http.cookies import cookies_of, set_cookie
from gatehouse.auth.login.company_login import COOKIE_PREFIX, STATE_SECONDS, cookie_name

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.login.company_login import Departure

# Together they must fit into the headers that servers and proxies take.
MAX_UNDER_WAY = 4


class LoginCookies:
    def __init__(self, public_url: str) -> None:
        self._path = f"{urlsplit(public_url).path}/login/"
        self._secure = public_url.startswith("https://")

    def begin(self, departure: Departure, request: Request) -> list[tuple[str, str]]:
        """The new one; the oldest beyond the limit are removed."""
        known = [name for name in cookies_of(request) if name.startswith(COOKIE_PREFIX)]
        surplus = known[: max(0, len(known) + 1 - MAX_UNDER_WAY)]
        return [
            self._set(cookie_name(departure.state), departure.sealed, STATE_SECONDS),
            *(self._set(name, "", 0) for name in surplus),
        ]

    def read(self, state: str, request: Request) -> str:
        return cookies_of(request).get(cookie_name(state), "")

    def end(self, state: str) -> tuple[str, str]:
        return self._set(cookie_name(state), "", 0)

    def _set(self, name: str, value: str, seconds: int) -> tuple[str, str]:
        return set_cookie(name, value, seconds, path=self._path, secure=self._secure)

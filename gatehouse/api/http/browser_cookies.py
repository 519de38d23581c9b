"""The cookies of a browser at our pages: its session, and a random text that its form tokens are made from.

Under https their names begin with `__Host-`: the browser then takes them from this host alone, so nobody who has a
neighbouring name can put one of theirs in its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.http.cookies import cookies_of, set_cookie
from gatehouse.auth.oauth.form_tokens import is_browser, new_browser

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request

Header = tuple[str, str]


class BrowserCookies:
    def __init__(self, public_url: str) -> None:
        self._secure = public_url.startswith("https://")
        prefix = "__Host-" if self._secure else ""
        self._session = f"{prefix}gatehouse_session"
        self._browser = f"{prefix}gatehouse_browser"

    def session(self, request: Request) -> str:
        return cookies_of(request).get(self._session, "")

    def set_session(self, value: str) -> Header:
        return self._set(self._session, value)

    def end_session(self) -> Header:
        return self._set(self._session, "", 0)

    def browser(self, request: Request) -> str:
        """Empty if it has none that we could have set: then it gets one."""
        known = cookies_of(request).get(self._browser, "")
        return known if is_browser(known) else ""

    def with_browser(self, request: Request) -> tuple[str, list[Header]]:
        """The random text of this browser, and the header that sets it where it had none."""
        known = self.browser(request)
        browser = known or new_browser()
        return browser, [] if known else [self._set(self._browser, browser)]

    def _set(self, name: str, value: str, seconds: int | None = None) -> Header:
        return set_cookie(name, value, seconds, path="/", secure=self._secure)

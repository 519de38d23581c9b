"""Tokens in the forms of our pages, which only the browser can send that got the form: no other site can log somebody
in, consent or log out in their place.

A token is made from a random cookie of the browser and from what the form is for, such as a session.
"""

from __future__ import annotations

import hmac
import re
import secrets
from typing import TYPE_CHECKING

from gatehouse.auth.keys.sealing import derive
from gatehouse.common.base64url import base64url

if TYPE_CHECKING:
    from gatehouse.auth.keys.key_ring import KeyRing

PURPOSE = "form tokens"
_BROWSER = re.compile(r"[A-Za-z0-9_-]{24}", re.ASCII)


def new_browser() -> str:
    """The cookie."""
    return secrets.token_urlsafe(18)


def is_browser(cookie: str) -> bool:
    return _BROWSER.fullmatch(cookie) is not None


class FormTokens:
    def __init__(self, ring: KeyRing) -> None:
        self._ring = ring

    def make(self, browser: str, purpose: str) -> str:
        return _token(self._ring.secrets[0], browser, purpose)

    def fits(self, token: str, browser: str, purpose: str) -> bool:
        if not is_browser(browser) or not token.isascii():
            return False
        return any(hmac.compare_digest(_token(secret, browser, purpose), token) for secret in self._ring.secrets)


def _token(secret: bytes, browser: str, purpose: str) -> str:
    return base64url(hmac.digest(derive(secret, PURPOSE), f"{browser}\n{purpose}".encode(), "sha256"))

"""Cookies: read from a request, and written so that no script and no other site gets them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request


def cookies_of(request: Request) -> dict[str, str]:
    """In the order of the request: browsers send older ones first. Of two with one name the first is taken."""
    found: dict[str, str] = {}
    for part in ";".join(request.headers("cookie")).split(";"):
        name, _, value = part.strip().partition("=")
        found.setdefault(name, value)
    return found


def set_cookie(name: str, value: str, seconds: int | None, *, path: str, secure: bool) -> tuple[str, str]:
    """The header; 0 seconds remove it, None keeps it until the browser is closed.

    Lax: the browser sends it when another site leads back to us, and only then.
    """
    age = "" if seconds is None else f"; Max-Age={seconds}"
    flags = "; Secure" if secure else ""
    return ("set-cookie", f"{name}={value}{age}; Path={path}; HttpOnly; SameSite=Lax{flags}")

"""Where a browser goes after a login with a provider: only to pages of ours and of the consoles that are configured.

A ticket travels in that address, so one that anybody could choose would hand sessions to anybody.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from gatehouse.auth.refusals import FieldInvalid

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_LENGTH = 1024  # it is kept in a cookie
TICKET = "ticket"
_PORTS = {"http": 80, "https": 443}
# What RFC 3986 allows. Browsers read a backslash as a slash and skip line breaks, and no parser here must differ.
_CHARACTERS = re.compile(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]*", re.ASCII)


class ReturnAddresses:
    def __init__(self, login_page: str, allowed: Iterable[str]) -> None:
        """`allowed`: URLs whose origins are."""
        self._login_page = login_page
        self._origins = {origin for url in (login_page, *allowed) if (origin := origin_of(url))}

    def check(self, to: str) -> str:
        """The address itself, or our login page if it is empty."""
        if not to:
            return self._login_page
        if len(to) > MAX_LENGTH or not _CHARACTERS.fullmatch(to):
            raise FieldInvalid("to", "not an address")
        # A literal comparison up to the first slash, so that no way to write a URL can lead elsewhere.
        scheme, _, rest = to.partition("://")
        if f"{scheme}://{re.split('[/?#]', rest, maxsplit=1)[0]}" not in self._origins:
            raise FieldInvalid("to", "not an address of this service or of a console that is configured")
        return to


def origin_of(url: str) -> str:
    """As browsers write it: without the usual port. Empty for what has none, such as `*`."""
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    usual = parts.port in {None, _PORTS[parts.scheme]}
    return f"{parts.scheme}://{host}" + ("" if usual else f":{parts.port}")


def with_ticket(to: str, ticket: str) -> str:
    """With the ticket in its query, before any `#`, and none that was there before."""
    parts = urlsplit(to)
    kept = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] != TICKET]
    return urlunsplit(parts._replace(query=urlencode([*kept, (TICKET, ticket)]), path=parts.path or "/"))

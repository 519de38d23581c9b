"""Puts what the operator has set into a page: where the console is, what to do about a forgotten password.

`<a data-link="console">` gets its address, or is hidden where none is set. Settings reach a page only this way, so the
pages stay files that are compressed once.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gatehouse.settings import Settings

_LINK = re.compile(r'data-link="(\w+)"')
_TEXT = re.compile(r'data-setting="(\w+)"([^>]*)>')
_ADDRESS = re.compile(r"(https?://|mailto:)\S+$")


def insert_links(markup: str, settings: Settings) -> str:
    forgot = settings.forgot_password
    is_address = bool(_ADDRESS.match(forgot))
    addresses = {
        "console": settings.console_url,
        "admin": "admin" if settings.console else "",
        "entry": f"{settings.public_url}/oauth2/enter",
        "forgot": forgot if is_address else "",
    }
    texts = {"forgot": "" if is_address else forgot}

    def link(found: re.Match[str]) -> str:
        address = addresses[found[1]]
        return f'{found[0]} href="{html.escape(address)}"' if address else f"{found[0]} hidden"

    def text(found: re.Match[str]) -> str:
        value = texts[found[1]]
        rest = found[0][:-1]
        return f"{rest}>{html.escape(value, quote=False)}" if value else f"{rest} hidden>"

    return _TEXT.sub(text, _LINK.sub(link, markup))

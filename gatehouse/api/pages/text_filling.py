"""Fills a page with the texts of one language. The markup names them, `messages/` has them.

`<h1 data-t="login.title"></h1>` gets its text, `data-t-label` an aria-label, `data-t-placeholder` a placeholder.
The page arrives in the reader's language, so nothing flashes or moves; `words.js` does the same in the browser when
somebody switches.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_TEXT = re.compile(r'data-t="([\w.]+)"([^>]*)>')
_ATTRIBUTE = re.compile(r'data-t-(label|placeholder)="([\w.]+)"')
_ATTRIBUTE_NAMES = {"label": "aria-label", "placeholder": "placeholder"}


def fill(markup: str, words: Mapping[str, str]) -> str:
    def attribute(found: re.Match[str]) -> str:
        return f'{found[0]} {_ATTRIBUTE_NAMES[found[1]]}="{html.escape(words[found[2]])}"'

    def text(found: re.Match[str]) -> str:
        return found[0] + html.escape(words[found[1]], quote=False)

    return _TEXT.sub(text, _ATTRIBUTE.sub(attribute, markup))

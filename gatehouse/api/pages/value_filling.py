"""Fills a page with the values of one request. Every value is escaped, so none of them can be markup.

`{name}` is a value. `data-if="name"` hides its element where that value is empty, and `data-bad="name"` marks a field
as wrong where it is not.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_VALUE = re.compile(r"\{(\w+)\}")
_IF = re.compile(r'data-if="(\w+)"')
_BAD = re.compile(r'data-bad="(\w+)"')


def fill_values(markup: str, values: Mapping[str, str]) -> str:
    markup = _IF.sub(lambda found: found[0] if values.get(found[1]) else "hidden", markup)
    markup = _BAD.sub(lambda found: 'aria-invalid="true"' if values.get(found[1]) else "", markup)
    return _VALUE.sub(lambda found: html.escape(values.get(found[1], "")), markup)

"""Numbers in sentences for people: a plural where there are several, a size in a unit that can be read."""

from __future__ import annotations

import re

_COUNTED = re.compile(r"\b(\d+)((?: [a-z]+)+)\(s\)")


def plural(sentence: str) -> str:
    """`1 worker(s) on 2 core(s)` reads "1 worker on 2 cores"."""
    return _COUNTED.sub(lambda found: f"{found[1]}{found[2]}{'' if found[1] == '1' else 's'}", sentence)


def size(number: int) -> str:
    """Bytes as "75 GB", "9.5 GB" or "512 MB"."""
    if number < 2**30:
        return f"{number // 2**20} MB"
    return f"{number / 2**30:.{0 if number >= 10 * 2**30 else 1}f} GB"

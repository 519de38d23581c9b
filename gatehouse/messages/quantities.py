"""Numbers in sentences for people: a plural where there are several, a size in a unit that can be read."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """1 user, 2 users: for the command line, which is English."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def size(number: int) -> str:
    """Bytes as "75 GB", "9.5 GB" or "512 MB"."""
    if number < 2**30:
        return f"{number // 2**20} MB"
    return f"{number / 2**30:.{0 if number >= 10 * 2**30 else 1}f} GB"

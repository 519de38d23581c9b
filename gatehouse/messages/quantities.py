"""Quantities in sentences for people: a wait in seconds or minutes, a size in a unit that can be read, a plural."""

from __future__ import annotations

import math

from gatehouse.messages.sentences import Message, message


def wait(seconds: float) -> Message:
    whole = max(1, math.ceil(seconds))
    if whole < 120:
        return message("waits.seconds", count=whole)
    return message("waits.minutes", count=math.ceil(whole / 60))


def counted(number: int, noun: str) -> str:
    """1 user, 2 users: for the command line, which is English."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def size(number: int) -> str:
    """Bytes as "75 GB", "9.5 GB" or "512 MB"."""
    if number < 2**30:
        return f"{number // 2**20} MB"
    return f"{number / 2**30:.{0 if number >= 10 * 2**30 else 1}f} GB"

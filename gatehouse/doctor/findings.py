"""What a check finds: ok, warn or fail, and what to do."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gatehouse.messages import Message


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Finding(NamedTuple):
    level: Level
    check: str
    found: Message | str
    advice: Message | str = ""


def ok(check: str, found: Message | str) -> Finding:
    return Finding(Level.OK, check, found)


def warn(check: str, found: Message | str, advice: Message | str) -> Finding:
    return Finding(Level.WARN, check, found, advice)


def fail(check: str, found: Message | str, advice: Message | str) -> Finding:
    return Finding(Level.FAIL, check, found, advice)

"""Values that people write: durations (`90`, `15m`, `7d`), rates (`10/5minutes`), networks, switches.

Pure functions from text to value. Each raises `ValueError` with a sentence that says what was expected.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_UNITS = {
    "s": 1, "sec": 1, "second": 1, "seconds": 1,
    "m": 60, "min": 60, "minute": 60, "minutes": 60,
    "h": 3600, "hour": 3600, "hours": 3600,
    "d": 86400, "day": 86400, "days": 86400,
}  # fmt: skip
_DURATION = re.compile(r"(\d+)\s*([a-z]*)")
_RATE = re.compile(r"(\d+)\s*/\s*(\d*)\s*([a-z]+)")


@dataclass(frozen=True, slots=True)
class Rate:
    """So many events in so many seconds."""

    count: int
    seconds: int

    def __str__(self) -> str:
        for unit in ("day", "hour", "minute", "second"):
            number, rest = divmod(self.seconds, _UNITS[unit])
            if rest == 0:
                break
        return f"{self.count}/{unit}" if number == 1 else f"{self.count}/{number}{unit}s"


def duration(text: str) -> int:
    """Seconds: a bare number, or a number with a unit."""
    found = _DURATION.fullmatch(text.strip().lower())
    if not found or (found[2] and found[2] not in _UNITS):
        raise ValueError(f"expected a duration such as 90, 15m, 2h or 7d, got {text!r}")
    return int(found[1]) * _UNITS[found[2] or "s"]


def rate(text: str) -> Rate:
    """A limit: `30/minute`, `10/5minutes`."""
    found = _RATE.fullmatch(text.strip().lower())
    if not found or found[3] not in _UNITS:
        raise ValueError(f"expected a rate such as 30/minute or 10/5minutes, got {text!r}")
    result = Rate(int(found[1]), int(found[2] or 1) * _UNITS[found[3]])
    if result.count < 1 or result.seconds < 1:
        raise ValueError(f"a rate allows at least one event in at least one second, got {text!r}")
    return result


def switch(text: str) -> bool:
    """`on` or `off`, and the words people use for them."""
    word = text.strip().lower()
    if word in {"on", "true", "yes", "1"}:
        return True
    if word in {"off", "false", "no", "0"}:
        return False
    raise ValueError(f"expected on or off, got {text!r}")


def names(text: str) -> tuple[str, ...]:
    """A list separated by commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def networks(text: str) -> tuple[Network, ...]:
    """Addresses and networks separated by commas: `10.0.0.0/8, ::1`."""
    try:
        return tuple(ipaddress.ip_network(part, strict=False) for part in names(text))
    except ValueError as problem:
        raise ValueError(f"expected addresses or networks such as 10.0.0.0/8: {problem}") from None

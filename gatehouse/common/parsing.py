"""Values that people write: durations (`90`, `15m`, `7d`), rates (`10/5minutes`), networks, switches, addresses.

Pure functions from text to value. Each raises `ValueError` with a sentence that says what was expected.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable

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
    """`count` events in `seconds`."""

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


def with_unit(value: int) -> str:
    """A duration as people write it, in the largest unit that fits: `90s`, `15m`, `7d`."""
    unit = next(unit for unit in ("d", "h", "m", "s") if value % _UNITS[unit] == 0)
    return f"{value // _UNITS[unit]}{unit}"


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


def between(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise ValueError(f"expected a whole number, got {text!r}") from None
        if not low <= value <= high:
            raise ValueError(f"expected a number from {low} to {high}, got {value}")
        return value

    return read


def seconds(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        value = duration(text)
        if not low <= value <= high:
            raise ValueError(f"expected {low} to {high} seconds, got {value}")
        return value

    return read


def one_of(*words: str) -> Callable[[str], str]:
    """One of these words, spelled as here; the case of the text does not matter."""
    by_lowercase = {word.lower(): word for word in words}

    def read(text: str) -> str:
        word = by_lowercase.get(text.strip().lower())
        if word is None:
            raise ValueError(f"expected one of {', '.join(words)}, got {text!r}")
        return word

    return read


def base_path(text: str) -> str:
    path = "/" + text.strip().strip("/")
    if any(c in path for c in "?#%\\ ") or "//" in path:
        raise ValueError(f"expected a path such as /auth, got {text!r}")
    return "" if path == "/" else path


def url(text: str) -> str:
    parts = urlsplit(text.strip())
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise ValueError(f"expected an http or https URL, got {text!r}")
    return text.strip().rstrip("/")


def without_credentials(address: str) -> str:
    """A URL as it may be shown: without the user and password in it."""
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def origins(text: str) -> tuple[str, ...]:
    for origin in names(text):
        parts = urlsplit(origin)
        if origin != "*" and (f"{parts.scheme}://{parts.netloc}" != origin or not parts.netloc):
            raise ValueError(f"expected origins such as https://console.example.com, got {origin!r}")
    return names(text)


def is_loopback(host: str) -> bool:
    """Whether a name or address means this machine; names below localhost never leave it (RFC 6761)."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def on_off_or_address(text: str) -> str:
    word = text.strip().lower()
    host, _, port = word.rpartition(":")
    if word not in {"on", "off"} and not (host and port.isdigit() and 0 < int(port) < 65536):
        raise ValueError(f"expected on, off or an address such as 127.0.0.1:9464, got {text!r}")
    return word


def captcha_answer(text: str) -> str:
    if len(text) != 4 or not (text.isascii() and text.isalnum()):
        raise ValueError("expected four letters or digits")
    return text


def optional_path(text: str) -> Path | None:
    return Path(text) if text else None

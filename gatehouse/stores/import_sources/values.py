"""Values of another system's rows, whose types differ between drivers and versions."""

from __future__ import annotations

from datetime import UTC, datetime


def number(value: object) -> int | None:
    """Whole numbers of every kind that drivers return; `BIT(1)` comes as a byte."""
    match value:
        case None:
            return None
        case bytes():
            return int.from_bytes(value)
        case int():
            return int(value)
    try:
        return int(str(value))
    except ValueError:
        return None


def moment(value: object) -> float | None:
    """Seconds since the epoch. A time without a zone is taken as UTC."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()


def text(value: object) -> str:
    return value.decode("ascii", "replace") if isinstance(value, bytes) else str(value)

"""Values in the forms in which the consoles print and send them."""

from __future__ import annotations

from datetime import UTC, datetime

from gatehouse.api.http.query import ID_MAX
from gatehouse.auth.refusals import FieldInvalid

# What the databases' integer columns hold.
NUMBER_MAX = 2**31 - 1
DAY_SECONDS = 86_400


def console_time(seconds: float) -> str:
    """The consoles print it as it is. UTC; empty if it is not known."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S") if seconds else ""


def number(field: str, value: int | str | bool) -> int:  # noqa: FBT001 - a value like the others
    """Selects of the consoles send the text of a number, switches true and false."""
    try:
        found = int(value)
    except ValueError:
        raise FieldInvalid(field, "not a number") from None
    if not -NUMBER_MAX <= found <= NUMBER_MAX:
        raise FieldInvalid(field, "out of range")
    return found


def parse_id(field: str, value: int | str | None) -> int | None:
    """An id as a number or its text; 0 and nothing mean the top of a tree."""
    if value is None or value == "":
        return None
    try:
        found = int(value)
    except ValueError:
        raise FieldInvalid(field, "not an id") from None
    if not 0 <= found <= ID_MAX:
        raise FieldInvalid(field, "not an id")
    return found or None


def parse_day(field: str, text: str) -> datetime:
    """`YYYY-MM-DD`, with or without a time after it, as the start of that day in UTC."""
    try:
        return datetime.strptime(text[:10], "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise FieldInvalid(field, "not a date") from None


def span(days: list[str], field: str = "createTime") -> tuple[float | None, float | None]:
    """From the first day up to the end of the second, as times; either may be missing."""
    first = parse_day(field, days[0]).timestamp() if days else None
    last = parse_day(field, days[1]).timestamp() + DAY_SECONDS if len(days) > 1 else None
    return first, last

"""Values in the form in which the consoles print them."""

from __future__ import annotations

from datetime import UTC, datetime


def shown_time(seconds: float) -> str:
    """The consoles print it as it is. UTC; empty if it is not known."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S") if seconds else ""

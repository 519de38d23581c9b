"""The audit trail as people read it: who did what, and how often people log in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.management.authority import CLI_ADDRESS, IMPORT_ADDRESS
from gatehouse.messages import languages, section
from gatehouse.stores.database.audit_trail import AuditEntry, TrailFilter
from gatehouse.stores.database.daily_logins import Logins, day_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.stores.database.audit_trail import AuditTrail
    from gatehouse.stores.database.daily_logins import LoginDays
    from gatehouse.stores.database.users import Users

TREND_DAYS = 366
PEOPLE_SEARCHED = 100


class Way(StrEnum):
    """By which way an operator acted who is no user."""

    COMMAND_LINE = "command_line"
    IMPORT = "import"


# What stands in place of an address.
_WAYS = {CLI_ADDRESS: Way.COMMAND_LINE, IMPORT_ADDRESS: Way.IMPORT}


class LogEntry(NamedTuple):
    event: AuditEntry
    operator: str  # who did it, as far as there is a name; of the operating system for the command line and an import
    concerned: str  # the user it was done to, if not the actor
    way: Way | None = None


class Day(NamedTuple):
    date: str
    logins: Logins
    failures: int = 0


class Overview(NamedTuple):
    today: Logins
    yesterday: Logins
    total: Logins


class ActivityLog:
    def __init__(self, trail: AuditTrail, days: LoginDays, users: Users, clock: Callable[[], float]) -> None:
        self._trail = trail
        self._days = days
        self._users = users
        self._clock = clock

    async def page(
        self, keywords: str, since: float | None, until: float | None, *, event: str = "", offset: int, limit: int
    ) -> tuple[list[LogEntry], int]:
        """From the newest on. Keywords are looked for in what events are called, in usernames and among addresses."""
        wanted = TrailFilter(since, until, event)
        if keywords:
            found = await self._users.page(limit=PEOPLE_SEARCHED, search=keywords)
            people = [profile.user.id for profile in found]
            wanted = TrailFilter(since, until, event, _events_titled(keywords), people, keywords)
        events, total = await self._trail.page(wanted, offset=offset, limit=limit)
        names = await self._users.names(
            {one for event in events for one in (event.user, event.actor) if one is not None}
        )
        return [_entry(event, names) for event in events], total

    async def overview(self) -> Overview:
        today = day_of(self._clock())
        days = await self._days.between(today - 1, today)
        none = Logins(0, 0)
        return Overview(days.get(today, none), days.get(today - 1, none), await self._days.total())

    async def trend(self, first: datetime | None, last: datetime | None) -> list[Day]:
        """Every day from `first` to `last`, at most a year; by default the last seven days."""
        end = day_of(last.timestamp()) if last else day_of(self._clock())
        start = day_of(first.timestamp()) if first else end - 6
        start = max(start, end - TREND_DAYS + 1, 1)
        days, failures = await self._days.between(start, end), await self._days.failures(start, end)
        return [Day(_date(day), days.get(day, Logins(0, 0)), failures.get(day, 0)) for day in range(start, end + 1)]


def way_of(event: AuditEntry) -> Way | None:
    """The way of an operator who typed a command. Then the agent is the operator's name in the operating system."""
    return _WAYS.get(event.address or "") if event.actor is None else None


def _date(day: int) -> str:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=day)).strftime("%Y-%m-%d")


def _events_titled(keywords: str) -> list[str]:
    folded = keywords.casefold()
    titles = [(tag, title) for language in languages() for tag, title in section("events", language).items()]
    return list(dict.fromkeys(tag for tag, title in titles if folded in tag or folded in title.casefold()))


def _entry(event: AuditEntry, names: dict[int, str]) -> LogEntry:
    concerned = names.get(event.user, f"#{event.user}") if event.user is not None else ""
    if way := way_of(event):
        return LogEntry(event, event.agent or "", concerned, way)
    if event.actor is None:
        return LogEntry(event, concerned or event.address or "", "")
    return LogEntry(event, names.get(event.actor, f"#{event.actor}"), concerned if event.user != event.actor else "")

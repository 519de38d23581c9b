"""`gatehouse audit`: what happened, who did it, from where, when and why."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click
import msgspec

from gatehouse.auth.audit import Event
from gatehouse.cli import output
from gatehouse.cli.output import Moment
from gatehouse.cli.with_service import with_service
from gatehouse.common.parsing import duration
from gatehouse.management.activity_log import way_of
from gatehouse.stores.errors import Missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.composition import Service
    from gatehouse.stores.database.audit_trail import AuditEntry

FOLLOW_SECONDS = 1.0
# Events get their ids before they are committed, so a smaller id may appear after a larger one: read this far back.
LOOK_BACK = 500

_COLUMNS = {
    "at": "TIME",
    "event": "EVENT",
    "username": "USER",
    "by": "BY",
    "reason": "REASON",
    "address": "ADDRESS",
    "session": "SESSION",
    "detail": "DETAIL",
}


class Since(click.ParamType[float]):
    """A point in time: a duration ago (`2h`), or a date."""

    name = "since"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            return datetime.now(UTC).timestamp() - duration(value)
        except ValueError:
            pass
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"expected 30m, 2h, 7d or a date such as 2026-11-15T08:00, got {value!r}", param, ctx)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


@click.command()
@click.option("--user", "name", metavar="NAME", help="Only events of this user; a deleted user by its id.")
@click.option(
    "--event",
    "events",
    multiple=True,
    type=click.Choice([event.value for event in Event]),
    metavar="EVENT",
    help=f"Only these; may be repeated: {', '.join(event.value for event in Event)}.",
)
@click.option("--since", type=Since(), metavar="WHEN", help="Only later than 30m, 2h, 7d ago, or than a date (UTC).")
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    default=50,
    show_default=True,
    help="How many events to show, the newest.",
)
@click.option("--follow", is_flag=True, help="Then print each new event as it happens, until Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines, one event a line.")
@with_service
async def audit(
    service: Service,
    name: str | None,
    events: tuple[str, ...],
    since: float | None,
    limit: int,
    *,
    follow: bool,
    as_json: bool,
) -> None:
    """Show the audit trail: who did what, from where, when and why.

    Every login, failure, refresh, logout, end of a session and change by an operator is an event. USER is the user whom
    the event is about, BY who changed something: another user, or the command line or an import with the name of the
    operating system's user who ran it. The newest events are shown, oldest
    first.

    \b
    Examples:
      gatehouse audit --user ann --since 2h
      gatehouse audit --event login.failed --event login.locked --follow
      gatehouse audit --since 2026-11-01 --limit 10000 --json
    """
    watch = _Watch(service, await _user(service, name), events, since)
    found = await watch.newest(limit)
    if as_json:
        for entry in found:
            output.as_line(await watch.record(entry))
    elif found or not follow:
        records = [await watch.record(entry) for entry in found]
        output.records(records, _COLUMNS, as_json=False, nothing="No events.")
    if follow:
        with suppress(asyncio.CancelledError):  # Ctrl-C is how this ends
            await _follow(watch, as_json=as_json)


async def _follow(watch: _Watch, *, as_json: bool) -> None:
    while True:
        unseen = await watch.unseen()
        for entry in unseen:
            record = await watch.record(entry)
            output.as_line(record) if as_json else output.echo(_line(record))
        if not unseen:
            await asyncio.sleep(FOLLOW_SECONDS)


class _Watch:
    """Reads the trail by one set of filters, each event once."""

    def __init__(self, service: Service, user: int | None, events: Sequence[str], since: float | None) -> None:
        self._service = service
        self._filters: dict[str, Any] = {"user": user, "events": events, "since": since}
        self._names: dict[int, str] = {}
        self._seen: set[int] = set()
        self._last = 0

    async def newest(self, limit: int) -> Sequence[AuditEntry]:
        everything = await self._service.audit_trail.read(newest=1)
        found = await self._service.audit_trail.read(newest=limit, **self._filters)
        self._last = max([0, *(entry.id for entry in [*everything, *found])])
        # Events before the first read are not new, even if they were not shown.
        self._seen = {entry.id for entry in await self._service.audit_trail.read(after=self._last - LOOK_BACK)}
        return found

    async def unseen(self) -> Sequence[AuditEntry]:
        found = await self._service.audit_trail.read(after=self._last - LOOK_BACK, **self._filters)
        unseen = [entry for entry in found if entry.id not in self._seen]
        self._last = max([self._last, *(entry.id for entry in unseen)])
        self._seen = {each for each in self._seen | {entry.id for entry in unseen} if each > self._last - LOOK_BACK}
        return unseen

    async def record(self, entry: AuditEntry) -> dict[str, Any]:
        return {
            "id": entry.id,
            "at": Moment(entry.at),
            "event": entry.event,
            "user": entry.user,
            "username": await self._name(entry.user),
            "session": entry.session,
            "address": entry.address,
            "request": entry.request,
            "reason": entry.reason,
            "detail": _Detail(msgspec.json.decode(entry.detail)) if entry.detail else None,
            "actor": entry.actor,
            "by": await self._by(entry),
        }

    async def _by(self, entry: AuditEntry) -> str | None:
        if way := way_of(entry):
            return f"{way.value[0]} ({entry.agent})" if entry.agent else way.value[0]
        return await self._name(entry.actor)

    async def _name(self, user: int | None) -> str | None:
        if user is None:
            return None
        if user not in self._names:
            profile = await self._service.accounts.users.profile(user)
            self._names[user] = profile.user.username if profile else f"(deleted, id {user})"
        return self._names[user]


class _Detail(dict[str, Any]):
    """Further facts, in a table as `name=value`."""

    def __str__(self) -> str:
        return " ".join(f"{name}={_words(value)}" for name, value in self.items())


def _words(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _line(record: dict[str, Any]) -> str:
    """One event as it happens; columns would have to know what is still to come."""
    facts = [f"{what}={record[what]}" for what in ("username", "by", "reason", "address", "session") if record[what]]
    detail = [str(record["detail"])] if record["detail"] else []
    return "  ".join([output.absolute(record["at"].at), f"{record['event']:<18}", *facts, *detail])


async def _user(service: Service, name: str | None) -> int | None:
    if name is None:
        return None
    found = await service.accounts.users.by_name(name)
    if found is not None:
        return found.id
    if name.isascii() and name.isdigit() and len(name) < 19:
        return int(name)
    raise Missing(f"there is no user {name!r}")

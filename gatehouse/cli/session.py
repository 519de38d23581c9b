"""`gatehouse session`: who is logged in, and from where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gatehouse.auth.audit import SessionEndReason
from gatehouse.auth.sessions.amr import describe, source_of, unpack_methods
from gatehouse.cli import output
from gatehouse.cli.by_name import profile_of, user_id
from gatehouse.cli.output import Moment, echo, json_option
from gatehouse.cli.with_service import CLI_CLIENT, with_service
from gatehouse.common.user_agent import browser
from gatehouse.messages.quantities import counted
from gatehouse.stores.errors import Missing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gatehouse.composition import Service
    from gatehouse.stores.state.protocol import Session

_COLUMNS = {
    "id": "SESSION",
    "username": "USER",
    "opened": "OPENED",
    "refreshed": "REFRESHED",
    "ends": "ENDS",
    "address": "ADDRESS",
    "browser": "BROWSER",
    "how": "HOW",
}
_PAGE = 500


@click.group(no_args_is_help=True)
def session() -> None:
    """Who is logged in, and from where.

    Every login opens a session. One that is ended here is refused by every node from that moment on.
    """


@session.command("list")
@click.argument("name", required=False)
@click.option("--all", "everybody", is_flag=True, help="Of all users, in the order of their ids.")
@click.option(
    "--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="How many to show at most."
)
@json_option
@with_service
async def list_(service: Service, name: str | None, limit: int, *, everybody: bool, as_json: bool) -> None:
    """List the live sessions of a user, newest first, or of all.

    \b
    Examples:
      gatehouse session list ann
      gatehouse session list --all --limit 1000 --json
    """
    if (name is None) != everybody:
        raise click.UsageError("name a user, or say --all")
    found: list[dict[str, Any]] = []
    async for user, username in _users(service, name):
        found += [_summary(each, username) for each in await service.sessions.of_user(user)]
        if len(found) > limit:
            break
    output.records(found[:limit], _COLUMNS, as_json=as_json, nothing="No sessions.")
    if len(found) > limit and not as_json:
        echo(f"There are more than {limit}: raise --limit.")


@session.command("end")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--user", "name", metavar="NAME", help="Every session of this user.")
@with_service
async def end(service: Service, ids: tuple[str, ...], name: str | None) -> None:
    """End sessions: by their ids, or all of a user.

    \b
    Examples:
      gatehouse session end 12-Jm3vX8m1Tq2wS0u7YbHk3A
      gatehouse session end --user ann
    """
    if bool(ids) == (name is not None):
        raise click.UsageError("give ids of sessions, or --user NAME")
    if name is not None:
        user = await user_id(service, name)
        ended = await service.sessions.end_all(user, SessionEndReason.OPERATOR, CLI_CLIENT)
        return echo(f"Ended {counted(len(ended), 'session')} of {name}.")
    unknown = [each for each in ids if not await service.sessions.end(each, SessionEndReason.OPERATOR, CLI_CLIENT)]
    echo(f"Ended {counted(len(ids) - len(unknown), 'session')}.")
    if unknown:
        raise Missing(f"there is no session {', '.join(unknown)}")
    return None


async def _users(service: Service, name: str | None) -> AsyncIterator[tuple[int, str]]:
    if name is not None:
        user = (await profile_of(service, name)).user
        yield user.id, user.username
        return
    after = 0
    while page := await service.stores.users.page(after=after, limit=_PAGE):
        for profile in page:
            yield profile.user.id, profile.user.username
        after = page[-1].user.id


def _summary(each: Session, username: str) -> dict[str, Any]:
    return {
        "id": each.id,
        "username": username,
        "opened": Moment(each.opened),
        "refreshed": Moment(each.rotated) if each.generation > 1 else Moment(None),
        "ends": Moment(each.ends),
        "address": each.address,
        "browser": browser(each.agent),
        "agent": each.agent,
        "amr": " ".join(unpack_methods(each.proof)),
        "source": source_of(each.proof),
        "how": describe(each.proof),
    }

"""`gatehouse directory sync`: shows what differs from a directory, asks, and brings the users up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gatehouse.cli import output
from gatehouse.cli.exit_codes import EXIT_REFUSED
from gatehouse.cli.output import echo, json_option
from gatehouse.cli.progress import progress_bars
from gatehouse.cli.prompts import confirm
from gatehouse.cli.source_commands import DIRECTORY, opened
from gatehouse.cli.with_service import CLI_CLIENT, with_service
from gatehouse.management.directory_sync import MAX_GONE, SyncAction

if TYPE_CHECKING:
    from gatehouse.composition import Service
    from gatehouse.management.directory_sync import SyncPlan, SyncStep

_COLOURS = {
    SyncAction.ADD: "green",
    SyncAction.CHANGE: "",
    SyncAction.ENABLE: "green",
    SyncAction.DISABLE: "red",
    SyncAction.CONFLICT: "yellow",
}


@click.command("sync")
@click.argument("name")
@click.option("--create", is_flag=True, help="Also make users of people who have none yet.")
@click.option("--preview", "--dry-run", "preview", is_flag=True, help="Only show what would be done.")
@click.option(
    "--max-gone",
    type=click.IntRange(0, 100),
    default=MAX_GONE,
    show_default=True,
    metavar="PERCENT",
    help="Refuse to disable more than this share of the known people.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@with_service
async def sync(
    service: Service, name: str, *, create: bool, preview: bool, max_gone: int, yes: bool, as_json: bool
) -> None:
    """Bring all users of a directory up to date.

    That is: their profiles and roles, and who is gone. First it shows what it would do, then it asks. Users whose
    person is gone, or may not log in any more, are disabled and their sessions end; whoever comes back is enabled
    again. People who have no user yet are left alone unless you say --create. A directory that shows nobody, or far
    fewer than before, is not believed: nothing is done.

    \b
    Examples:
      gatehouse directory sync corp
      gatehouse directory sync corp --preview --json
      gatehouse directory sync corp --create --yes
    """
    async with opened(service, DIRECTORY, name) as source:
        plan = await service.management.directory_sync.plan(source, create=create, max_gone=max_gone)
        if not as_json:
            _print_plan(plan, create=create)
        if plan.refusal is None and not preview and _work(plan):
            confirm(f"Do it for {name}?", yes=yes)
            with progress_bars(hidden=as_json) as report:
                refused = await service.management.directory_sync.apply(
                    source, plan, CLI_CLIENT, lambda done, total: report("people", done, total)
                )
        else:
            refused = []
    if as_json:
        output.as_document(_document(plan, refused, applied=plan.refusal is None and not preview))
    else:
        _print_outcome(plan, refused, preview=preview)
    if plan.refusal or refused:
        raise click.exceptions.Exit(EXIT_REFUSED)


def _work(plan: SyncPlan) -> int:
    return len(plan.steps) - plan.number_of(SyncAction.CONFLICT)


def _print_plan(plan: SyncPlan, *, create: bool) -> None:
    rows = [
        {
            "action": output.Mark(step.action.value, step.action.value, _COLOURS[step.action]),
            "name": step.name,
            "user": step.username,
            "what": "; ".join(_described(step)),
        }
        for step in plan.steps
    ]
    if rows:
        columns = {"action": "ACTION", "name": "PERSON", "user": "USER", "what": "WHAT"}
        output.records(rows, columns, as_json=False, nothing="")
    hint = "" if create or not plan.without_user else " (--create makes them)"
    echo(f"{plan.people} in the directory: {plan.unchanged} unchanged, {plan.without_user} without a user{hint}.")
    if plan.missing_roles:
        echo(f"The mapping names roles that are not there: {', '.join(plan.missing_roles)}.")


def _described(step: SyncStep) -> list[str]:
    values = [f"{field}: {before} -> {after}" for field, (before, after) in step.changed.items() if field != "enabled"]
    roles = [f"+{code}" for code in step.granted] + [f"-{code}" for code in step.revoked]
    gone = ["is gone, or may not log in any more"] if step.action is SyncAction.DISABLE else []
    return [*gone, *values, *([" ".join(roles)] if roles else []), *([str(step.problem)] if step.problem else [])]


def _print_outcome(plan: SyncPlan, refused: list[SyncStep], *, preview: bool) -> None:
    for step in refused:
        click.echo(output.printable(f"gatehouse: {step.username}: {step.problem}"), err=True)
    if plan.refusal:
        click.echo(output.printable(f"gatehouse: nothing was done: {plan.refusal} (see --max-gone)"), err=True)
    elif not _work(plan):
        echo("Nothing to do.")
    elif not preview:
        numbers = ", ".join(f"{plan.number_of(action)} {_PAST[action]}" for action in _PAST)
        echo(f"Done: {numbers}{f', {len(refused)} of them refused' if refused else ''}.")


_PAST = {
    SyncAction.ADD: "added",
    SyncAction.CHANGE: "changed",
    SyncAction.ENABLE: "enabled",
    SyncAction.DISABLE: "disabled",
}


def _document(plan: SyncPlan, refused: list[SyncStep], *, applied: bool) -> dict[str, Any]:
    return {
        "applied": applied,
        "refusal": str(plan.refusal or ""),
        "people": plan.people,
        "known": plan.known,
        "unchanged": plan.unchanged,
        "without_user": plan.without_user,
        "missing_roles": plan.missing_roles,
        "steps": [_step_document(step) for step in plan.steps],
        "refused": [_step_document(step) for step in refused],
    }


def _step_document(step: SyncStep) -> dict[str, Any]:
    return {
        "action": step.action.value,
        "person": step.name,
        "username": step.username,
        "changed": {field: {"before": before, "after": after} for field, (before, after) in step.changed.items()},
        "granted": step.granted,
        "revoked": step.revoked,
        "problem": str(step.problem),
    }

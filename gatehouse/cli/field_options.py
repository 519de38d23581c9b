"""Options for fields of users and roles that several commands take, and how they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from gatehouse.cli.with_service import ID
from gatehouse.stores.database.roles import DataScope
from gatehouse.stores.database.row_changes import set_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gatehouse.stores.database.row_changes import RowChange

F = TypeVar("F", bound="Callable[..., Any]")

GENDERS = ("unknown", "male", "female")  # in the order of their numbers
SCOPES = {
    "all": DataScope.ALL,
    "department-and-below": DataScope.DEPARTMENT_AND_BELOW,
    "department": DataScope.DEPARTMENT,
    "own": DataScope.OWN,
    "chosen": DataScope.CHOSEN,
}


def contact_options(command: F) -> F:
    for option in (
        click.option("--email", metavar="ADDRESS", help="Email address."),
        click.option("--mobile", metavar="NUMBER", help="Mobile number."),
        click.option("--gender", type=click.Choice(GENDERS), help="As the console shows it."),
    ):
        command = option(command)
    return command


def scope_options(command: F) -> F:
    for option in (
        click.option("--sort", type=click.IntRange(0, 2**31 - 1), help="Place in the console's lists."),
        click.option(
            "--dept", "departments", type=ID, multiple=True, metavar="ID", help="A chosen department; may be repeated."
        ),
        click.option(
            "--data-scope",
            type=click.Choice(list(SCOPES)),
            help="Data scope: which rows other services show to users with the role.",
        ),
    ):
        command = option(command)
    return command


def require_change(change: RowChange) -> list[str]:
    """The names of what changes, sorted; an error if no option was given."""
    if not (names := sorted(set_columns(change))):
        raise click.UsageError("nothing to change: give at least one option")
    return names


def gender_number(word: str | None) -> int | None:
    return GENDERS.index(word) if word else None


def claim_values(words: Sequence[str]) -> dict[str, str]:
    """By name; an empty value takes the claim away."""
    if wrong := [word for word in words if "=" not in word]:
        raise click.UsageError(f"--claim reads NAME=VALUE, got {wrong[0]!r}")
    return dict(word.split("=", 1) for word in words)


def stored_scope(scope: str | None, departments: Sequence[int]) -> DataScope | None:
    """The data scope that the options of `scope_options` ask for."""
    if departments and scope not in {None, "chosen"}:
        raise click.UsageError("--dept goes with --data-scope chosen")
    chosen = "chosen" if departments else scope
    return SCOPES[chosen] if chosen else None


def scope_name(value: int) -> str:
    return next((name for name, scope in SCOPES.items() if scope == value), str(value))

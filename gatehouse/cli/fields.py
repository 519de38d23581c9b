"""Options for fields of users and roles that several commands take, and how they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from gatehouse.cli.with_service import ID
from gatehouse.stores.database.roles import DataScope

if TYPE_CHECKING:
    from collections.abc import Callable

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


def contact(given: dict[str, Any]) -> dict[str, Any]:
    """The fields of `contact_options` that were given, as they are stored."""
    values = {name: given[name] for name in ("mobile", "email") if given[name] is not None}
    return values | ({"gender": GENDERS.index(given["gender"])} if given["gender"] else {})


def scope(given: dict[str, Any]) -> tuple[dict[str, Any], list[int] | None]:
    """The fields of `scope_options` that were given, as they are stored, and the chosen departments."""
    departments = list(given["departments"]) or None
    chosen = "chosen" if departments and not given["data_scope"] else given["data_scope"]
    if departments and chosen != "chosen":
        raise click.UsageError("--dept goes with --data-scope chosen")
    values = {"sort": given["sort"], "data_scope": SCOPES[chosen] if chosen else None}
    return {name: value for name, value in values.items() if value is not None}, departments


def scope_name(value: int) -> str:
    return next((name for name, scope in SCOPES.items() if scope == value), str(value))

"""Errors as one line each and an exit code: 1 refused or aborted, 2 usage or input error, 3 unavailable."""

from __future__ import annotations

from typing import NamedTuple

import click

from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.settings import SettingsError
from gatehouse.stores.errors import Duplicate, InUse, Missing, StoreError

EXIT_REFUSED, EXIT_USAGE, EXIT_UNAVAILABLE = 1, 2, 3

# Which extra of the package installs which driver.
_EXTRAS = {"aiomysql": "mysql", "asyncpg": "postgres", "hiredis": "redis"}


class Explanation(NamedTuple):
    lines: list[str]
    exit_code: int


def explain(problem: Exception) -> Explanation | None:
    """None for an unexpected error, which gets a traceback."""
    code = exit_code(problem)
    return None if code is None else Explanation([_one_line(line) for line in _lines(problem)], code)


def exit_code(problem: Exception) -> int | None:
    if isinstance(problem, click.Abort):
        return EXIT_REFUSED
    if isinstance(problem, click.ClickException):
        return problem.exit_code
    if isinstance(problem, (SettingsError, Missing, Duplicate, InUse, ValueError)) or _extra(problem):
        return EXIT_USAGE
    if isinstance(problem, (StoreError, SourceUnavailable, OSError)):
        return EXIT_UNAVAILABLE
    return None


def _lines(problem: Exception) -> list[str]:
    match problem:
        case click.Abort():
            return ["gatehouse: stopped, nothing more was done"]
        case click.UsageError():
            where = problem.ctx.command_path if problem.ctx else "gatehouse"
            return [f"{where}: {problem.format_message()} (see {where} --help)"]
        case click.ClickException():
            return [f"gatehouse: {problem.format_message()}"]
        case SettingsError():
            return [f"gatehouse: {each}" for each in problem.problems]
        case ModuleNotFoundError():
            return [f"gatehouse: a driver is missing: install Gatehouse with [{_extra(problem)}]"]
    return [f"gatehouse: {problem}"]


def _extra(problem: Exception) -> str | None:
    return _EXTRAS.get(problem.name or "") if isinstance(problem, ModuleNotFoundError) else None


def _one_line(text: str) -> str:
    return " ".join(text.split())

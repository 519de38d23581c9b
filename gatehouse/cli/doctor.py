"""`gatehouse doctor`: checks everything that the service depends on, and says what to do.

The checks are in `doctor/diagnosis.py`; those of the servers' settings in `stores/database/sql_engine.py` and
`stores/state/*/server_configuration.py`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from gatehouse.cli import output
from gatehouse.cli.doctor_nodes import check_nodes
from gatehouse.cli.exit_codes import EXIT_REFUSED, explain
from gatehouse.cli.output import json_option
from gatehouse.cli.with_service import require_data, settings_in_force
from gatehouse.common import logs
from gatehouse.composition import Service
from gatehouse.doctor import diagnosis
from gatehouse.doctor.client_checks import check_clients
from gatehouse.doctor.findings import Finding, Level, fail, ok
from gatehouse.doctor.source_checks import check_source_variables, check_sources
from gatehouse.messages import message
from gatehouse.settings import SettingsError

if TYPE_CHECKING:
    from pathlib import Path

    from gatehouse.settings import Settings

_COLOURS = {Level.OK: "green", Level.WARN: "yellow", Level.FAIL: "bold red"}


@click.command()
@json_option
@click.pass_context
def doctor(ctx: click.Context, *, as_json: bool) -> None:
    """Check settings, stores, clock and files; say what to do.

    Each line says ok, warn or fail, what was found, and below it what to do. The exit code is 1 if anything
    failed; warnings do not count. Nothing is changed, and it may run beside the service.

    \b
    Examples:
      gatehouse doctor
      gatehouse doctor --json
    """
    findings = _findings(ctx.find_root().params["config"])
    if as_json:
        output.as_document([_record(each) for each in findings])
    else:
        _print_findings(findings)
    if any(each.level is Level.FAIL for each in findings):
        ctx.exit(EXIT_REFUSED)


def _findings(config: Path | None) -> list[Finding]:
    try:
        settings = settings_in_force()
    except SettingsError as problem:
        return [fail("settings", each, message("advice.setting_invalid")) for each in problem.problems]
    logs.configure("error", settings.log_format)
    return [
        *(list(check_source_variables(settings)) or [ok("settings", message("findings.settings_valid"))]),
        *diagnosis.check_variables(settings),
        *diagnosis.check_secret(settings),
        *diagnosis.check_files(settings, config),
        *asyncio.run(_stores(settings)),
        *diagnosis.check_test_switches(settings),
        *diagnosis.check_workers(settings),
        *diagnosis.check_network(settings),
    ]


async def _stores(settings: Settings) -> list[Finding]:
    """The stores can only be checked once they are open; if they cannot be opened, that is the finding."""
    try:
        require_data(settings)
        service = Service(settings)
    except Exception as problem:
        explanation = explain(problem)
        if explanation is None:
            raise
        return [fail("stores", str(problem), message("advice.stores"))]
    try:
        accounts = [each async for each in diagnosis.check_accounts(service)]
        return [
            *accounts,
            *[each async for each in diagnosis.check_state(service)],
            *[each async for each in check_nodes(service)],
            *([each async for each in check_sources(service)] if len(accounts) > 1 else []),
            *([each async for each in check_clients(service)] if len(accounts) > 1 else []),
        ]
    finally:
        await service.stop()


def _record(each: Finding) -> dict[str, Any]:
    return {"level": each.level, "check": each.check, "found": str(each.found), "advice": str(each.advice)}


def _print_findings(findings: list[Finding]) -> None:
    for each in findings:
        line = Text.assemble(
            (f"{each.level:<5}", _COLOURS[each.level]), f"{each.check:<14}", output.printable(str(each.found))
        )
        if each.advice:
            line.append(f"\n{'':<19}-> {each.advice}", style="italic")
        output.show(line)

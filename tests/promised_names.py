"""The names that releases have promised: `tests/promised_names.json` has those of every release together.

`python -m tests.promised_names` adds those of this tree, after a release.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from gatehouse.api.error_catalogue import CATALOGUE
from gatehouse.api.telemetry.metric_names import HELP
from gatehouse.auth.audit import REASONS, Event
from gatehouse.cli import gatehouse
from gatehouse.settings import descriptions

FILE = Path(__file__).with_suffix(".json")


def promised() -> dict[str, list[str]]:
    names: dict[str, list[str]] = json.loads(FILE.read_text())
    return names


def names_now() -> dict[str, set[str]]:
    return {
        "settings": {setting.variable for setting in descriptions()},
        "error codes": {entry.code for entry in CATALOGUE.values()},
        "audit events": {str(tag) for tag in Event},
        "reasons of audit events": {f"{event} {reason.value}" for event, tags in REASONS.items() for reason in tags},
        "metrics": set(HELP),
        "commands": set(commands(gatehouse)),
    }


def commands(group: click.Group, *path: str) -> list[str]:
    context = click.Context(group)
    found = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            found += commands(command, *path, name)
        else:
            found.append(" ".join([*path, name]))
    return found


if __name__ == "__main__":
    before = promised()
    together = {kind: sorted(names.union(before.get(kind, ()))) for kind, names in names_now().items()}
    FILE.write_text(json.dumps(together, indent=1) + "\n")

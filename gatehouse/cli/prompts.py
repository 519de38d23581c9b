"""Questions to the operator."""

from __future__ import annotations

import click


def confirm(question: str, *, yes: bool) -> None:
    """Ask before what cannot be undone; without a terminal, --yes is required."""
    if not yes:
        click.confirm(question, abort=True, err=True)

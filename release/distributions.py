"""Wheel and sdist of the server (gatehouse-auth) and of the client library (gatehouse-client)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from release.tools import run_tool

if TYPE_CHECKING:
    from pathlib import Path

PROJECTS = (".", "packages/python")


def build(root: Path, folder: Path) -> None:
    """Times in the files are `SOURCE_DATE_EPOCH`."""
    for project in PROJECTS:
        run_tool("hatchling", "build", "--directory", folder, folder=root / project)

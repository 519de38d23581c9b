"""The sources of identity that the environment defines, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.identity_sources.environment import read_sources
from gatehouse.management.environment_sources import check_defined
from gatehouse.settings import SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.identity_sources.environment import DefinedSource
    from gatehouse.settings import Settings


def defined_sources(settings: Settings) -> Sequence[DefinedSource]:
    """Raises `SettingsError`, which names every variable that is wrong."""
    problems: list[str] = []
    defined = list(read_sources(settings.source_variables, problems))
    problems += check_defined(defined)
    if problems:
        raise SettingsError(problems)
    return defined

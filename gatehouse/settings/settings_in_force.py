"""The settings in force, as an administrator may see them: without what is secret."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gatehouse.messages import in_language
from gatehouse.settings.description import descriptions, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatehouse.settings.settings import Settings


class EffectiveSetting(NamedTuple):
    variable: str
    value: str  # empty for a secret, whether it is set or not
    default: str
    source: str  # empty for a default
    meaning: str
    secret: bool


def effective_settings(settings: Settings, language: str) -> Iterator[EffectiveSetting]:
    for each in descriptions(language):
        value = "" if each.secret else format_value(settings, each.name)
        source = in_language(settings.sources.get(each.name, ""), language)
        yield EffectiveSetting(each.variable, value, each.default, source, each.meaning, each.secret)

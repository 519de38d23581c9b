"""The settings in force, as an administrator may see them: without what is secret."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gatehouse.settings.description import descriptions, shown_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gatehouse.settings.settings import Settings


class ShownSetting(NamedTuple):
    variable: str
    value: str  # empty for a secret, whether it is set or not
    default: str
    source: str  # empty for a default
    meaning: str
    secret: bool


def shown_settings(settings: Settings) -> Iterator[ShownSetting]:
    for each in descriptions():
        value = "" if each.secret else shown_value(settings, each.name)
        source = settings.sources.get(each.name, "")
        yield ShownSetting(each.variable, value, each.default, source, each.meaning, each.secret)

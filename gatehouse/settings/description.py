"""The settings as documentation and `--help` show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gatehouse.messages import DEFAULT, section
from gatehouse.settings.loading import PREFIX
from gatehouse.settings.settings import Settings, setting_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True)
class SettingDescription:
    name: str
    variable: str
    flag: str
    default: str
    meaning: str
    secret: bool


def descriptions(language: str = DEFAULT) -> Iterator[SettingDescription]:
    meanings = section("settings", language)
    for field in setting_fields():
        variable = PREFIX + field.name.upper()
        yield SettingDescription(
            name=field.name,
            variable=variable,
            flag="--" + field.name.replace("_", "-"),
            default=_format(field.default, field.metadata["show"]),
            meaning=meanings[variable],
            secret=field.metadata["secret"],
        )


def _format(value: object, show: Callable[[Any], str]) -> str:
    if value is None or value in ("", ()):
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    return show(value)


def format_value(settings: Settings, name: str) -> str:
    """A value in force, written as its default is."""
    [field] = [field for field in setting_fields() if field.name == name]
    value = getattr(settings, name)
    if isinstance(value, tuple):
        return ", ".join(str(part) for part in value)
    return _format(value, field.metadata["show"])

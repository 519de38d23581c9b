"""The fields of a configuration as texts, for the environment and the command line.

A table of roles reads `group=ROLE,ROLE; group=ROLE`, one of departments `value=ID; value=ID`. The last `=` of an entry
counts, because the names of groups have some of their own: `CN=Admins,DC=example,DC=org=ADMIN`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from gatehouse.common.parsing import names, switch
from gatehouse.identity_sources.definitions import DirectoryConfig, Mapping

if TYPE_CHECKING:
    from gatehouse.identity_sources.definitions import Config

# An escaped semicolon is part of a DN.
_BETWEEN_ENTRIES = re.compile(r"(?<!\\);")


def field_types(config: type[Config]) -> dict[str, Any]:
    """Every field by its name, those of the mapping included. The groups of a directory are searched for, not named."""
    own = {field.name: field.type for field in msgspec.structs.fields(config) if field.name != "mapping"}
    mapped = {field.name: field.type for field in msgspec.structs.fields(Mapping)}
    if config is DirectoryConfig:
        del mapped["groups"]
    return own | mapped


def field_value(config: Config, name: str) -> Any:
    return getattr(config if name in config.__struct_fields__ else config.mapping, name)


def with_fields(config: Config, values: dict[str, Any]) -> Config:
    """The configuration with these values in place of its own."""
    own = {name: value for name, value in values.items() if name in config.__struct_fields__}
    mapped = {name: value for name, value in values.items() if name not in own}
    mapping = msgspec.structs.replace(config.mapping, **mapped)
    return msgspec.structs.replace(config, **own, mapping=mapping)


def read_field(kind: Any, text: str) -> Any:
    """Raises `ValueError` with what was expected."""
    if kind is str:
        return text.strip()
    if kind is bool:
        return switch(text)
    if kind in {int, float}:
        return _number(kind, text)
    if kind == tuple[str, ...]:
        return names(text)
    entries = [entry for entry in _BETWEEN_ENTRIES.split(text) if entry.strip()]
    return table(kind, entries)


def table(kind: Any, entries: list[str]) -> dict[str, Any]:
    """From `group=ROLE,ROLE` each, or `value=ID`."""
    found: dict[str, Any] = {}
    for entry in entries:
        key, _, value = (part.strip() for part in entry.rpartition("="))
        if not key or not value:
            raise ValueError(f"expected {'name=ID' if kind == dict[str, int] else 'group=ROLE'}, got {entry.strip()!r}")
        found[key] = _number(int, value) if kind == dict[str, int] else (*found.get(key, ()), *names(value))
    return found


def _number(kind: type[int] | type[float], text: str) -> int | float:
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"expected a {'whole ' if kind is int else ''}number, got {text.strip()!r}") from None

"""The configuration of a source as requests and answers have it: the stored fields, named in camel case."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from gatehouse.auth.identity.sources import read_config
from gatehouse.auth.refusals import AccountFieldInvalid, FieldInvalid
from gatehouse.identity_sources.definitions import Config, DirectoryConfig, Mapping, ProviderConfig, config_type
from gatehouse.management.identity_sources import check_config

if TYPE_CHECKING:
    from gatehouse.identity_sources.definitions import SourceKind
    from gatehouse.stores.database.identity_sources import StoredSource

# Where msgspec says that a value is wrong: "... - at `$.mapping.roles[...]`", "... unknown field `x`".
_PLACE = re.compile(r"`\$\.([\w.]+)|unknown field `([^`]*)`")


def _in_camel_case(stored: type[msgspec.Struct], **types: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """Keys of the tables in a mapping are names of groups and departments, and stay as they are."""
    fields = [
        (each.name, types.get(each.name, each.type), types[each.name]() if each.name in types else _default(each))
        for each in msgspec.structs.fields(stored)
    ]
    return msgspec.defstruct(f"{stored.__name__}Data", fields, rename="camel", forbid_unknown_fields=True, frozen=True)


def _default(field: msgspec.structs.FieldInfo) -> Any:
    if field.default_factory is not msgspec.NODEFAULT:
        return msgspec.field(default_factory=field.default_factory)
    return field.default


_MAPPING = _in_camel_case(Mapping)
_TYPES = {each: _in_camel_case(each, mapping=_MAPPING) for each in (DirectoryConfig, ProviderConfig)}


def read_config_data(kind: SourceKind, data: dict[str, Any]) -> Config:
    stored = config_type(kind)
    try:
        config: Config = msgspec.convert(msgspec.convert(data, _TYPES[stored]), stored, from_attributes=True)
    except msgspec.ValidationError as problem:
        found = _PLACE.search(str(problem))
        raise FieldInvalid((found[1] or found[2]) if found else "config", str(problem)) from None
    try:
        check_config(config, kind)
    except AccountFieldInvalid as problem:
        raise FieldInvalid(_camel(problem.field), str(problem)) from None
    return config


def config_data(row: StoredSource) -> dict[str, Any]:
    """Empty if it cannot be read: then the source has a `problem`, and can be given another configuration."""
    try:
        config = read_config(row)
    except msgspec.MsgspecError:
        return {}
    return in_camel_case(config)


def in_camel_case(config: Config) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(msgspec.convert(config, _TYPES[type(config)], from_attributes=True))
    return shown


def _camel(name: str) -> str:
    return re.sub("_(.)", lambda found: found[1].upper(), name)

"""Query strings and ids in paths, as values of the contract's types."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_origin

import msgspec

from gatehouse.auth.refusals import FieldInvalid, FieldMissing

if TYPE_CHECKING:
    from collections.abc import Sequence

S = TypeVar("S", bound=msgspec.Struct)

# What JavaScript holds exactly; the consoles turn ids into numbers and back.
ID_MAX = 2**53 - 1

_INDEX = re.compile(r"\[\d{0,4}\]\Z")


def read_query(pairs: Sequence[tuple[str, str]], query_type: type[S]) -> S:
    """Fields by name; unknown ones are passed over, empty ones count as missing.

    A list takes `name` several times, and also `name[]` and `name[0]` as older front ends write it.
    """
    values: dict[str, Any] = {}
    for field in msgspec.structs.fields(query_type):
        listed = get_origin(_without_annotation(field.type)) is list
        given = [value for key, value in pairs if value and _matches(key, field.encode_name, listed=listed)]
        if not given:
            if field.required:
                raise FieldMissing(field.encode_name)
            continue
        try:
            values[field.name] = msgspec.convert(given if listed else given[0], field.type, strict=False)
        except msgspec.ValidationError as problem:
            raise FieldInvalid(field.encode_name, str(problem)) from None
    return query_type(**values)


def _without_annotation(kind: Any) -> Any:
    return kind.__origin__ if get_origin(kind) is Annotated else kind


def _matches(key: str, name: str, *, listed: bool) -> bool:
    return key == name or (listed and key.startswith(name) and bool(_INDEX.fullmatch(key[len(name) :])))


def read_id(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 16 and 0 < int(text) <= ID_MAX):
        raise FieldInvalid(name, "not an id")
    return int(text)

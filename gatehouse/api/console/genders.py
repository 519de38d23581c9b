"""The genders that a user can have, as the consoles show them."""

from __future__ import annotations

from msgspec import Struct

from gatehouse.messages import section

# The values are text here and numbers elsewhere, because the forms of the consoles expect it so.
_GENDERS = {"1": "primary", "2": "danger", "0": "info"}


class DictionaryItem(Struct):
    value: str
    label: str
    tagType: str


def gender_items(language: str) -> list[DictionaryItem]:
    labels = section("genders", language)
    return [DictionaryItem(value, labels[value], tag) for value, tag in _GENDERS.items()]


def gender_label(gender: int, language: str) -> str:
    return section("genders", language).get(str(gender), "")

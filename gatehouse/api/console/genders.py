"""The genders that a user can have, as the consoles show them."""

from __future__ import annotations

from msgspec import Struct

# The values are text here and numbers elsewhere, because the forms of the consoles expect it so.
_GENDERS = (("1", "Male", "男", "primary"), ("2", "Female", "女", "danger"), ("0", "Unknown", "保密", "info"))


class DictionaryItem(Struct):
    value: str
    label: str
    tagType: str


def gender_items(language: str) -> list[DictionaryItem]:
    return [DictionaryItem(value, zh if language == "zh" else en, tag) for value, en, zh, tag in _GENDERS]


def gender_label(gender: int, language: str) -> str:
    return next((item.label for item in gender_items(language) if item.value == str(gender)), "")

"""Finds a sentence by its code and fills in the values.

A code is `section.name`. In a sentence `{count}` is a value, and `{count:user|users}` the first of the two where that
is one; `api/pages/static/words.js` fills in the sentences of the pages in the same way.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).parent
DEFAULT = "en"

_VALUE = re.compile(r"\{(\w+)(?::([^|}]*)\|([^}]*))?\}")


class Message(NamedTuple):
    """What is to be said, before it is known in which language. As a text it is English."""

    code: str
    values: tuple[tuple[str, object], ...] = ()

    def __str__(self) -> str:
        return in_language(self, DEFAULT)


def message(code: str, /, **values: object) -> Message:
    """A value may itself be a message, or several."""
    return Message(code, tuple(values.items()))


def in_language(said: Message | str, language: str) -> str:
    """A plain text is the same in every language: a command, an address, the words of another program."""
    if isinstance(said, str):
        return said
    name, _, code = said.code.partition(".")
    sentence = section(name, language)[code]
    return _fill(sentence, dict(said.values), language) if said.values else sentence


@cache
def languages() -> tuple[str, ...]:
    return tuple(sorted(file.stem for file in FOLDER.glob("*.json")))


def section(name: str, language: str = DEFAULT) -> Mapping[str, str]:
    """The sentences of one kind, by the second part of their codes."""
    return _sections(language)[name]


@cache
def _sections(language: str) -> Mapping[str, Mapping[str, str]]:
    """A language is read when it is first needed: the command line reads English alone."""
    content: dict[str, dict[str, str]] = json.loads((FOLDER / f"{language}.json").read_bytes())
    return content


def _fill(sentence: str, values: Mapping[str, object], language: str) -> str:
    def value(found: re.Match[str]) -> str:
        name, one, many = found.groups()
        if name not in values:
            return found[0]
        if many is not None:
            return one if values[name] == 1 else many
        return _text(values[name], language)

    return _VALUE.sub(value, sentence)


def _text(value: object, language: str) -> str:
    if isinstance(value, Message):
        return in_language(value, language)
    return "".join(_text(part, language) for part in value) if isinstance(value, tuple) else str(value)

"""Choices in the forms of the console."""

from __future__ import annotations

from msgspec import Struct


class OptionData(Struct, omit_defaults=True):
    """`children` is absent where there are none."""

    value: str
    label: str
    children: list[OptionData] = []

"""Types that several pages of the console share."""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

from msgspec import Meta, Struct, field

T = TypeVar("T")

PAGE_MAX = 1000

# Selects of the consoles send the text of a number, switches true and false.
Id = int | str
Flag = int | str | bool

# What the databases' integer columns hold.
Number = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
IdNumber = Annotated[int, Meta(ge=0, le=2**53 - 1)]


class PageQuery(Struct):
    pageNum: Annotated[int, Meta(ge=1, le=1_000_000)] = 1
    pageSize: Annotated[int, Meta(ge=1, le=PAGE_MAX)] = 10
    keywords: Annotated[str, Meta(max_length=128)] = ""

    @property
    def offset(self) -> int:
        return (self.pageNum - 1) * self.pageSize


class Page(Struct, Generic[T]):
    rows: list[T] = field(name="list")
    total: int


class OptionData(Struct, omit_defaults=True):
    """`children` is absent where there are none."""

    value: str
    label: str
    children: list[OptionData] = []

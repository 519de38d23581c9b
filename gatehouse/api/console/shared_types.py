"""Pages of results, in the format of the consoles."""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

from msgspec import Meta, Struct, field

T = TypeVar("T")

PAGE_MAX = 1000


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

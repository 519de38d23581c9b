"""What is served outside `/api/v1` (health, keys, events), declared at the method that serves it, as operations are."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.api.http.response import Response

Serve = TypeVar("Serve", bound="Callable[..., Awaitable[Response]]")


class Resource(msgspec.Struct, frozen=True):
    """The name of the method is its name in the metrics. A path may have parameters, as in `/login/{name}`."""

    path: str
    methods: tuple[str, ...] = ("GET", "HEAD")
    also_at: str | None = None
    name: str = ""

    def __call__(self, serve: Serve) -> Serve:
        serve.__dict__["resource"] = msgspec.structs.replace(self, name=serve.__name__)
        return serve

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.path, self.also_at) if self.also_at else (self.path,)


def resources_of(endpoints: Callable[..., object]) -> tuple[Resource, ...]:
    """Those that the methods of a class serve."""
    return tuple(method.__dict__["resource"] for method in vars(endpoints).values() if hasattr(method, "resource"))

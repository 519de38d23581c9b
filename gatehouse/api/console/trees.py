"""Rows with an id, a parent and a sort number, as the trees that the consoles draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class TreeNode(Protocol):
    @property
    def id(self) -> int: ...
    @property
    def parent(self) -> int | None: ...
    @property
    def sort(self) -> int: ...


N = TypeVar("N", bound=TreeNode)
R = TypeVar("R")


def tree(nodes: Sequence[N], make: Callable[[N, list[R]], R]) -> list[R]:
    """Children below their parents, by sort number; a node whose parent is not in the list is at the top."""
    known = {node.id for node in nodes}
    below: dict[int | None, list[N]] = {}
    for node in sorted(nodes, key=lambda node: (node.sort, node.id)):
        below.setdefault(node.parent if node.parent in known else None, []).append(node)

    def made(parent: int | None) -> list[R]:
        return [make(node, made(node.id)) for node in below.get(parent, [])]

    return made(None)

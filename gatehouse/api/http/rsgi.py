"""granian's own types of a request (RSGI). For annotations: nothing of it is used at run time."""

from __future__ import annotations

from typing import Protocol

from granian._granian import RSGIHTTPProtocol as HTTPProtocol
from granian._granian import RSGIHTTPStreamTransport as Transport
from granian.rsgi import Scope

__all__ = ["HTTPProtocol", "Headers", "Scope", "Transport"]


class Headers(Protocol):
    """The headers of a scope. granian's stubs leave out `get_all`, which the specification of RSGI has."""

    def get(self, key: str) -> str | None: ...

    def get_all(self, key: str) -> list[str]: ...

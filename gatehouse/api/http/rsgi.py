"""What the API uses of granian: the types of a request (RSGI), and the error of a client that has disconnected.

The only file that imports granian's private module, which is the only place where it has these names.
"""

from __future__ import annotations

from typing import Protocol

from granian._granian import RSGIHTTPProtocol as HTTPProtocol
from granian._granian import RSGIHTTPStreamTransport as Transport
from granian._granian import RSGIProtocolClosed as ProtocolClosed
from granian.rsgi import Scope

__all__ = ["HTTPProtocol", "Headers", "ProtocolClosed", "Scope", "Transport"]


class Headers(Protocol):
    """The headers of a scope. granian's stubs leave out `get_all`, which the specification of RSGI has."""

    def get(self, key: str) -> str | None: ...

    def get_all(self, key: str) -> list[str]: ...

"""What binds a ticket to the browser that it was made for: for everybody else it has expired."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gatehouse.auth.audit import ClientInfo


def binding_of(client: ClientInfo) -> bytes:
    return hashlib.sha256(f"{client.address}\n{client.user_agent}".encode(errors="replace")).digest()[:16]

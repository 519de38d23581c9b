"""Lua scripts: the files in `scripts`, some with a file of common functions before them."""

from __future__ import annotations

import hashlib
from pathlib import Path


class Script:
    """Known to the server by its digest after the first use."""

    def __init__(self, *names: str) -> None:
        self.text = b"".join((Path(__file__).parent / "scripts" / f"{name}.lua").read_bytes() for name in names)
        self.digest = hashlib.sha1(self.text, usedforsecurity=False).hexdigest()

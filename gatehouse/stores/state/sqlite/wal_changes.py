"""Detects whether any process has committed to a WAL database since the last look. Invalidates the session cache.

Every commit rewrites the first 96 bytes of the shared file `<database>-shm`, two copies of a header with a counter and
a checksum, after the log is synced and before the commit returns (sqlite.org/walformat.html, "The WAL-Index Header").
Comparing them takes 0.3 us instead of the 3.1 us of a read; `PRAGMA data_version` takes 2.4 us
(`python -m benchmarks.breakdown`). `GATEHOUSE_SESSION_CACHE=off` reads every time, and so does an unknown header.
"""

from __future__ import annotations

import mmap
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import apsw

_HEADERS = 96
_FORMAT = (3_007_000).to_bytes(4, sys.byteorder)  # what a header of the kind described above begins with


class WalChanges:
    """Opened after the database and closed after the last of this process's connections to it.

    Closing any descriptor of the shared file releases every POSIX lock that this process holds on it, SQLite's too.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        # The connection's own file name: it follows symbolic links.
        self._descriptor = os.open(f"{connection.filename}-shm", os.O_RDONLY)
        self._shared = mmap.mmap(self._descriptor, _HEADERS, access=mmap.ACCESS_READ)
        self._seen = b""

    def any_new(self) -> bool:
        """True if there was a commit since the last call, or one is under way."""
        headers = self._shared[:_HEADERS]
        if headers == self._seen:
            return False
        # An unknown header format counts as a commit every time.
        self._seen = headers if headers.startswith(_FORMAT) else b""
        return True

    def close(self) -> None:
        self._shared.close()
        os.close(self._descriptor)

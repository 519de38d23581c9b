"""Whether anything was committed to a WAL database since one last looked, by whichever process.

SQLite itself asks a file that all processes map, `<database>-shm`: its first 96 bytes are two copies of a header which
every commit writes anew, with a counter and a checksum of all that was written, after the log has been synced and
before the commit returns (sqlite.org/walformat.html, "The WAL-Index Header"). To compare them takes a fraction of a
microsecond. `PRAGMA data_version` answers the same question, and takes half as long as the read that it could save.
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


class Commits:
    """Made over an open connection to the database, and closed after all that this process has to it.

    For as long as a process has the database open, no descriptor of that file may be closed in it: the system would
    take all locks that SQLite holds there, and with them SQLite's knowledge of who else is using the file.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        # The connection's own name for it: behind a symbolic link the file stands elsewhere.
        self._descriptor = os.open(f"{connection.filename}-shm", os.O_RDONLY)
        self._shared = mmap.mmap(self._descriptor, _HEADERS, access=mmap.ACCESS_READ)
        self._seen = b""

    def any(self) -> bool:
        """True if there has been a commit since this was last asked, or one is under way."""
        headers = self._shared[:_HEADERS]
        if headers == self._seen:
            return False
        # Of a kind that we do not know nothing is believed: then there is always something new.
        self._seen = headers if headers.startswith(_FORMAT) else b""
        return True

    def close(self) -> None:
        self._shared.close()
        os.close(self._descriptor)

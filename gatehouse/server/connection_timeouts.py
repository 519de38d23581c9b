"""How long a connection may take over each phase of a request. `docs/operations.md` lists the same bounds.

- Silence, half a request line, slow headers, an idle connection between two requests: `HEADER_SECONDS`, counted anew
  for each request.
- A slow body: `BODY_SECONDS` in `api/http/request.py`.
- An answer that is not read: `UNREAD_SECONDS`, by the kernel.
- Another protocol: HTTP/1.1 is all that is spoken, so an HTTP/2 preface ends the connection at once.
"""

from __future__ import annotations

import os
import socket
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from granian.http import HTTP1Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

HEADER_SECONDS = 10
UNREAD_SECONDS = 30
# Request line and headers together, looked at whenever more has arrived; beyond it the answer is 431.
HEADER_BYTES = 64 * 1024


def http1_settings() -> HTTP1Settings:
    return HTTP1Settings(
        header_read_timeout=HEADER_SECONDS * 1000,
        keep_alive=True,
        max_buffer_size=HEADER_BYTES,
        # With it on, the server closes a malformed request without sending its 400, 414 or 431.
        pipeline_flush=False,
    )


def bound_unread_answers(port: int) -> None:
    """Set TCP_USER_TIMEOUT on the listening sockets, so that the kernel drops peers that do not read.

    The server has no such limit. A connection inherits the option from the socket that accepts it, which the server
    makes by itself, so it is found among the open files of this process. Systems without the option have no limit.
    """
    option = getattr(socket, "TCP_USER_TIMEOUT", None)
    if option is None:
        return
    for listener in _listeners(port):
        with listener:
            listener.setsockopt(socket.IPPROTO_TCP, option, UNREAD_SECONDS * 1000)


def _listeners(port: int) -> Iterator[socket.socket]:
    """The sockets of this process that listen on the port, each as a duplicate to be closed."""
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - names are all that is needed
        with suppress(OSError):  # already closed
            if stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                found = socket.socket(fileno=os.dup(int(name)))
                if _listens(found, port):
                    yield found
                else:
                    found.close()


def _listens(found: socket.socket, port: int) -> bool:
    is_tcp = found.family in {socket.AF_INET, socket.AF_INET6} and found.type == socket.SOCK_STREAM
    return is_tcp and bool(found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)) and found.getsockname()[1] == port

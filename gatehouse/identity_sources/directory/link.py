"""A connection to one server: name, TCP, StartTLS, TLS, and the socket that libldap gets at the end.

libldap would resolve, connect and shake hands while everything waits, the last without a limit of time. Here asyncio
does it, and Python's TLS checks authority and host name. libldap gets one end of a socket pair; bytes between it and
the server are passed on. Closing the link therefore ends whatever libldap waits for.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

from gatehouse.identity_sources.directory.failures import ConnectionBroken
from gatehouse.identity_sources.errors import SourceUnavailable

LARGEST_ANSWER = 32 * 1024 * 1024  # bytes, of one operation
_STARTTLS_OID = b"1.3.6.1.4.1.1466.20037"
_STARTTLS = b"\x30\x1d\x02\x01\x01\x77\x18\x80\x16" + _STARTTLS_OID
_EXTENDED_RESPONSE = 0x78
_PORTS = {"ldap": 389, "ldaps": 636}


class ServerAddress(NamedTuple):
    url: str
    host: str
    port: int
    tls: str  # "ldaps", "starttls" or "" where it is allowed


def server_address(url: str, *, allow_plain: bool) -> ServerAddress:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or _PORTS[parts.scheme]
    except (KeyError, ValueError):
        host, port = None, 0
    if not host:
        raise SourceUnavailable(f"{url!r} is not like ldaps://host:636 or ldap://host:389", "resolve")
    tls = "ldaps" if parts.scheme == "ldaps" else "" if allow_plain else "starttls"
    return ServerAddress(url, host, port, tls)


def tls_context(ca_file: str) -> ssl.SSLContext:
    """Checks authority and host name."""
    try:
        context = ssl.create_default_context(cafile=ca_file or None)
    except (OSError, ssl.SSLError) as error:
        raise SourceUnavailable(f"the CA file {ca_file} cannot be used: {error}", "tls") from None
    # Python 3.13 refuses authorities that leave out what RFC 5280 asks for, which those of companies often do.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


async def resolve(server: ServerAddress) -> list[tuple[Any, ...]]:
    try:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(server.host, server.port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ConnectionBroken(f"the host name {server.host} cannot be resolved: {error}", "resolve") from None
    return [(family, address) for family, _, _, _, address in found]


async def connect(server: ServerAddress, addresses: list[tuple[Any, ...]]) -> socket.socket:
    """To the first address that takes it."""
    problem: OSError | None = None
    for family, address in addresses:
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.settimeout(0)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await asyncio.get_running_loop().sock_connect(sock, address)
        except OSError as error:
            sock.close()
            problem = error
        except BaseException:
            sock.close()
            raise
        else:
            return sock
    raise ConnectionBroken(f"{server.host}:{server.port} does not take connections: {problem}") from None


class Link:
    """An open connection. `handed_over` is the socket for libldap, which closes it."""

    def __init__(self) -> None:
        self._server_side = _Side(counts=True)
        self._library_side = _Side()
        self._server_side.other, self._library_side.other = self._library_side, self._server_side
        self.handed_over, self._own = socket.socketpair()
        for end in (self.handed_over, self._own):
            end.settimeout(0)

    @classmethod
    async def open(cls, server: ServerAddress, sock: socket.socket, context: ssl.SSLContext | None) -> Link:
        """Speaks TLS on the socket, unless `context` is None, and owns it from now on."""
        link = cls()
        try:
            if server.tls == "starttls":
                await _start_tls(server, sock)
            await link._attach(server, sock, context)
        except BaseException:
            sock.close()
            link.close()
            link.handed_over.close()
            raise
        return link

    async def _attach(self, server: ServerAddress, sock: socket.socket, context: ssl.SSLContext | None) -> None:
        loop = asyncio.get_running_loop()
        await loop.create_unix_connection(lambda: self._library_side, sock=self._own)
        tls: dict[str, Any] = {"ssl": context, "server_hostname": server.host} if context else {}
        try:
            await loop.create_connection(lambda: self._server_side, sock=sock, **tls)
        except ssl.SSLCertVerificationError as error:
            raise ConnectionBroken(
                f"the certificate of {server.host}:{server.port} is not accepted: {error.verify_message}", "tls"
            ) from None
        except (OSError, ssl.SSLError) as error:
            raise ConnectionBroken(f"{server.host}:{server.port} does not speak TLS: {error!r}", "tls") from None

    @property
    def tls_version(self) -> str:
        session = self._server_side.transport and self._server_side.transport.get_extra_info("ssl_object")
        return str(session.version()) if session else ""

    @property
    def is_open(self) -> bool:
        return not self._server_side.closed and not self._library_side.closed

    def begin_operation(self) -> None:
        self._server_side.received = 0

    def close(self) -> None:
        """At once: what is under way ends with an error."""
        self._server_side.abort()
        self._library_side.abort()
        self._own.close()


class _Side(asyncio.Protocol):
    """One end of a link. What it receives goes to the other; when one is lost, so is the other."""

    other: _Side

    def __init__(self, *, counts: bool = False) -> None:
        self.transport: asyncio.Transport | None = None
        self.closed = False
        self.received = 0
        self._counts = counts

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        if self.closed:
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        if self._counts and self.received > LARGEST_ANSWER:
            self.abort()
        elif self.other.transport:
            self.other.transport.write(data)

    def connection_lost(self, _exc: Exception | None) -> None:
        self.closed = True
        if self.other.transport and not self.other.closed:
            self.other.transport.close()

    def pause_writing(self) -> None:
        if self.other.transport:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other.transport and not self.other.closed:
            self.other.transport.resume_reading()

    def abort(self) -> None:
        self.closed = True
        if self.transport:
            self.transport.abort()


async def _start_tls(server: ServerAddress, sock: socket.socket) -> None:
    """Ask for TLS, on the bare socket: nothing that follows the answer in plain text can be taken for part of what
    comes inside TLS."""
    loop = asyncio.get_running_loop()
    try:
        await loop.sock_sendall(sock, _STARTTLS)
        code = _result_code(await _read_message(sock))
    except (OSError, ValueError, IndexError) as error:
        raise ConnectionBroken(f"{server.host}:{server.port} does not answer StartTLS: {error!r}", "tls") from None
    if code != 0:
        raise ConnectionBroken(f"{server.host}:{server.port} refuses StartTLS (result code {code})", "tls")


async def _read_message(sock: socket.socket) -> bytes:
    """The content of one BER sequence of at most 64 KiB."""
    tag, length = await _exactly(sock, 2)
    if tag != 0x30:
        raise ValueError("not an LDAP message")
    if length & 0x80:
        size = length & 0x7F
        if not 0 < size <= 2:
            raise ValueError("too long")
        length = int.from_bytes(await _exactly(sock, size), "big")
    return await _exactly(sock, length)


async def _exactly(sock: socket.socket, number: int) -> bytes:
    data = b""
    while len(data) < number:
        part = await asyncio.get_running_loop().sock_recv(sock, number - len(data))
        if not part:
            raise ValueError("the connection was closed")
        data += part
    return data


def _result_code(message: bytes) -> int:
    """Of an extended response with a short header: message id 1, then an enumerated number."""
    start = 3  # the message id: 02 01 01
    if message[:start] != b"\x02\x01\x01" or message[start] != _EXTENDED_RESPONSE:
        raise ValueError("not an answer to StartTLS")
    content = start + 2 + (message[start + 1] & 0x7F if message[start + 1] & 0x80 else 0)
    if message[content : content + 2] != b"\x0a\x01":
        raise ValueError("no result code")
    return message[content + 2]

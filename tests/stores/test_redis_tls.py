"""`rediss://`: the server's certificate is checked. TLS ends in front of the server, as many providers have it."""

from __future__ import annotations

import asyncio
import datetime as dt
import ipaddress
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from gatehouse.stores.errors import StoreUnavailable
from gatehouse.stores.state.redis.engine import RedisState
from tests.support.engines import Redis


def certificate(folder: Path) -> Path:
    """One file with key and certificate of 127.0.0.1, its own authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "state")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "state.pem"
    path.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + made.public_bytes(Encoding.PEM)
    )
    return path


async def tls_in_front_of(server: Redis, pem: Path) -> asyncio.Server:
    async def pipe(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65536):
            sink.write(data)
        sink.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", server.port)
        await asyncio.gather(pipe(reader, inner_writer), pipe(inner_reader, writer), return_exceptions=True)
        writer.close()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    return await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)


async def test_tls_is_spoken_and_a_stranger_is_refused(redis_server: Redis, tmp_path: Path) -> None:
    pem = certificate(tmp_path)
    front = await tls_in_front_of(redis_server, pem)
    url = f"rediss://127.0.0.1:{front.sockets[0].getsockname()[1]}"
    known, stranger = RedisState(f"{url}?ca={pem}"), RedisState(url)
    await known.ping()
    assert not await known.has_flag("tls", 1.0)
    with pytest.raises(StoreUnavailable, match="CERTIFICATE_VERIFY_FAILED"):
        await stranger.ping()
    await known.close()
    await stranger.close()
    front.close()

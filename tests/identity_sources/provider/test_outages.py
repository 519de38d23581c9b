"""Stopped, slow, garbage, wrong certificate: nobody is let in, and the text says what to look at."""

from __future__ import annotations

import asyncio
import datetime as dt
import gzip
import ssl
from collections.abc import Callable
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from gatehouse.identity_sources.clients import CallbackRefused
from gatehouse.identity_sources.errors import SourceUnavailable
from tests.identity_sources.provider.hostile_provider import (
    CALLBACK,
    DISCOVERY,
    KEYS,
    TOKEN,
    USERINFO,
    HostileProvider,
    sign,
)
from tests.identity_sources.provider.loopback_server import Asked, Reply, json_reply
from tests.support.waiting import async_wait_until

Answers = dict[str, tuple[Callable[[HostileProvider], Reply], str]]
ANSWERS: Answers = {
    "a page": (lambda _: Reply(b"<html>", content_type="text/html"), "'text/html' instead of JSON"),
    "no type": (lambda _: Reply(b"{}", content_type=""), "no type of content"),
    "not JSON": (lambda _: Reply(b"{"), "not JSON"),
    "not UTF-8": (lambda _: Reply(b'{"a":"\xff"}'), "not JSON"),
    "deep": (lambda _: Reply(b"[" * 100_000), "not JSON"),
    "no object": (lambda _: Reply(b"[]"), "not an object"),
    "much": (lambda _: json_reply({"a": "x" * 600_000}), "more than 512 KiB"),
    "compressed": (
        lambda _: Reply(gzip.compress(b"{}" + b" " * 10_000_000), headers={"Content-Encoding": "gzip"}),
        "compressed",
    ),
    "elsewhere": (
        lambda hostile: json_reply(hostile.metadata, 302, Location=f"{hostile.url}/elsewhere"),
        "redirects, which is not followed",
    ),
    "an error": (lambda _: json_reply({"oops": 1}, 500), "500"),
}


def _always(reply: Reply, _: Asked) -> Reply:
    return reply


@pytest.mark.parametrize(
    ("path", "step"), [(DISCOVERY, "discovery"), (KEYS, "keys"), (TOKEN, "token"), (USERINFO, "userinfo")]
)
async def test_an_answer_that_makes_no_sense(hostile: HostileProvider, path: str, step: str) -> None:
    for answer, text in ANSWERS.values():
        reply = answer(hostile)
        hostile.routes[path] = partial(_always, reply)
        with pytest.raises(SourceUnavailable, match=text) as problem:
            await hostile.login(hostile.client(userinfo=True))
        assert f"{hostile.url}{path}" in str(problem.value)
        assert problem.value.step == step
    assert hostile.times("/elsewhere") == 0


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"issuer": "https://other.example"}, "configure exactly that"),
        ({"issuer": None}, "describes no OpenID provider"),
        ({"token_endpoint": None}, "describes no OpenID provider"),
        ({"jwks_uri": 7}, "describes no OpenID provider"),
        ({"authorization_endpoint": "http://example.com/"}, "expected an https:// address"),
        ({"token_endpoint": "file:///etc/passwd"}, "expected an https:// address"),
        ({"jwks_uri": "https://[::1"}, "expected an https:// address"),
        ({"userinfo_endpoint": "https://user@example.com/"}, "expected an https:// address"),
        ({"end_session_endpoint": "javascript:alert(1)"}, "expected an https:// address"),
        ({"id_token_signing_alg_values_supported": ["HS256", "none"]}, "sign with a key pair"),
    ],
)
async def test_a_description_that_must_not_be_used(hostile: HostileProvider, changes: Any, text: str) -> None:
    hostile.metadata |= changes
    with pytest.raises(SourceUnavailable, match=text):
        await hostile.client().begin(CALLBACK)


async def test_the_issuer_is_compared_exactly(hostile: HostileProvider) -> None:
    with pytest.raises(SourceUnavailable, match="configure exactly that"):
        await hostile.client(issuer=f"{hostile.url}/").begin(CALLBACK)
    hostile.metadata["issuer"] = f"{hostile.url}/"
    await hostile.client(issuer=f"{hostile.url}/").begin(CALLBACK)


@pytest.mark.parametrize("issuer", ["http://example.com", "", "ftp://127.0.0.1", "http://127.0.0.1.example.com"])
async def test_a_provider_without_https_is_not_asked(hostile: HostileProvider, issuer: str) -> None:
    with pytest.raises(SourceUnavailable, match="expected an https:// address"):
        await hostile.client(issuer=issuer).begin(CALLBACK)


async def test_an_empty_key_set(hostile: HostileProvider) -> None:
    hostile.keys = []
    with pytest.raises(SourceUnavailable, match="no public key"):
        await hostile.login(hostile.client())


async def test_a_provider_that_is_slow_costs_no_more_than_the_timeout(hostile: HostileProvider) -> None:
    client = hostile.client(timeout=0.2)
    hostile.hold.clear()
    with pytest.raises(SourceUnavailable, match=r"does not answer within 0\.2 s") as problem:
        await client.begin(CALLBACK)
    assert problem.value.step == "discovery"
    steps = [step async for step in client.test()]
    assert [(step.step, step.works) for step in steps] == [("discovery", False)]
    hostile.hold.set()
    await hostile.login(hostile.client())


async def test_a_provider_that_has_stopped_and_comes_back(hostile: HostileProvider) -> None:
    client = hostile.client()
    request = await client.begin(CALLBACK)
    hostile.stop()
    with pytest.raises(SourceUnavailable, match="cannot be reached"):
        await client.complete(hostile.answer(request), request, CALLBACK)
    with pytest.raises(SourceUnavailable, match="cannot be reached"):
        await hostile.client().begin(CALLBACK)
    with HostileProvider() as other:
        await other.login(other.client())


async def test_a_name_that_does_not_exist(hostile: HostileProvider) -> None:
    with pytest.raises(SourceUnavailable, match="https://nowhere"):
        await hostile.client(issuer="https://nowhere.invalid").begin(CALLBACK)


def _certificate(folder: Path, address: str) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "provider")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, SHA256())
    )
    file = folder / f"{address}.pem"
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(certificate.public_bytes(Encoding.PEM) + private)
    return file


async def test_a_token_that_fits_into_no_header(hostile: HostileProvider) -> None:
    for access_token in ("é", "a\r\nb: c", {"a": 1}):
        hostile.access_token = access_token
        hostile.userinfo = {"sub": "somebody else"}
        with pytest.raises((SourceUnavailable, CallbackRefused)):
            await hostile.login(hostile.client(userinfo=True))


async def test_logins_go_on_while_the_keys_are_fetched_again(hostile: HostileProvider) -> None:
    client = hostile.client(timeout=30)
    known, unknown = sign(hostile.logout_claims()), sign(hostile.logout_claims(), kid="unknown")
    await client.read_logout_token(known)
    hostile.clock.now += 20
    hostile.hold.clear()
    waiting = asyncio.create_task(client.read_logout_token(unknown))
    await async_wait_until(lambda: _true(hostile.times(KEYS) == 2))
    await client.read_logout_token(known)
    assert not waiting.done()
    hostile.hold.set()
    with pytest.raises(CallbackRefused):
        await waiting


async def _true(value: bool) -> bool:
    return value


async def test_the_certificate_is_checked(tmp_path: Path) -> None:
    right, wrong = _certificate(tmp_path, "127.0.0.1"), _certificate(tmp_path, "127.0.0.2")
    for file, ca_file, text in ((right, "", "self.signed"), (wrong, str(wrong), "IP address mismatch")):
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(file)
        with HostileProvider(tls=tls) as provider:
            with pytest.raises(SourceUnavailable, match=f"certificate is not accepted .*{text}.* ca_file"):
                await provider.client(ca_file=ca_file).begin(CALLBACK)
            if file == right:
                client = provider.client(ca_file=str(right))
                await provider.login(client)
                provider.metadata["token_endpoint"] = "http://127.0.0.1/token"
                with pytest.raises(SourceUnavailable, match=r"token_endpoint .* expected an https:// address"):
                    await provider.client(ca_file=str(right)).begin(CALLBACK)


def test_a_file_of_authorities_that_is_not_there(hostile: HostileProvider) -> None:
    with pytest.raises(SourceUnavailable, match="ca_file /nowhere cannot be read"):
        hostile.client(ca_file="/nowhere")

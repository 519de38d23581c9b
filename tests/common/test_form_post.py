"""Forms posted to servers of others: certificates are checked, time is bounded, and what went wrong is said."""

from __future__ import annotations

import asyncio
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gatehouse.common.form_post import FormPost, PostFailed
from tests.support.certificates import Authority
from tests.support.running import free_port

FORM = {"logout_token": "a.b+c&d"}


@asynccontextmanager
async def server(answer: bytes, tls: ssl.SSLContext | None = None) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Answers every request with these bytes, and then with no more; its address, and what it was sent."""
    sent: list[bytes] = []
    writers: list[asyncio.StreamWriter] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0])
        sent.append(head + await reader.readexactly(length))
        writer.write(answer)
        await writer.drain()
        writers.append(writer)

    listening = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=tls)
    port = listening.sockets[0].getsockname()[1]
    async with listening:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{port}/logout", sent
        for writer in writers:
            writer.transport.abort()


@pytest.fixture
async def post() -> AsyncIterator[FormPost]:
    made = FormPost(5.0)
    yield made
    await made.close()


async def test_the_status_is_the_answer_however_long_its_body(post: FormPost) -> None:
    async with server(b"HTTP/1.1 418 X\r\nContent-Length: 99999999\r\nSet-Cookie: a=b\r\n\r\nbegin") as (url, sent):
        assert [await post.post(url, FORM), await post.post(url, FORM)] == [418, 418]
    assert all(each.endswith(b"\r\n\r\nlogout_token=a.b%2Bc%26d") for each in sent)
    assert b"content-type: application/x-www-form-urlencoded" in sent[0].lower()
    assert b"cookie" not in sent[1].lower()


async def test_no_answer_in_time_is_a_failure() -> None:
    post = FormPost(0.2)
    async with server(b"HTTP/1.1 200 OK\r\n") as (url, _):
        with pytest.raises(PostFailed, match=r"does not answer within 0\.2 s"):
            await post.post(url, FORM)
    await post.close()


@pytest.mark.parametrize("answer", [b"", b"no HTTP at all\r\n\r\n"])
async def test_what_is_no_answer_is_a_failure(answer: bytes) -> None:
    post = FormPost(0.5)
    async with server(answer) as (url, _):
        with pytest.raises(PostFailed):
            await post.post(url, FORM)
    await post.close()


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:{port}/", "http://nowhere.invalid/", "ftp://127.0.0.1/", "https://", "x"]
)
async def test_an_address_without_a_server_is_a_failure(post: FormPost, url: str) -> None:
    with pytest.raises(PostFailed, match="cannot be reached"):
        await post.post(url.format(port=free_port()), FORM)


async def test_a_certificate_must_be_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = Authority(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*authority.certificate("127.0.0.1"))
    async with server(b"HTTP/1.1 204 X\r\n\r\n", tls) as (url, sent):
        post = FormPost(5.0)
        with pytest.raises(PostFailed, match="its certificate is not accepted"):
            await post.post(url, FORM)
        await post.close()
        assert sent == []
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
        post = FormPost(5.0)
        assert await post.post(url, FORM) == 204
        await post.close()


async def test_without_the_extra_it_says_what_to_install(post: FormPost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(PostFailed, match=r"install Gatehouse with \[openid\]"):
        await post.post("http://127.0.0.1/", FORM)


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "http://127.0.0.1:none"])
async def test_a_proxy_that_cannot_be_used_is_a_failure(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    """A SOCKS proxy needs a package that is not installed here."""
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(PostFailed, match="cannot be reached"):
        await FormPost(5.0).post("https://app.example/logout", FORM)

"""Builds responses: the envelope, its headers, its language."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from gatehouse.api.error_catalogue import SUCCESS, entry_for, headers_for, text_for
from gatehouse.messages import DEFAULT, languages, section

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from gatehouse.api.http.rsgi import HTTPProtocol, Transport

# Browsers send less than a tenth of it.
MAX_LANGUAGES_LENGTH = 256

Headers = list[tuple[str, str]]

JSON: Headers = [
    ("content-type", "application/json"),
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
]

EVENT_STREAM: Headers = [
    ("content-type", "text/event-stream"),
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
    ("x-accel-buffering", "no"),  # nginx would hold events back
]

_encode = msgspec.json.Encoder().encode


class Response:
    __slots__ = ("body", "code", "headers", "status")

    def __init__(self, status: int, body: bytes, headers: Headers, code: str = SUCCESS) -> None:
        self.status = status
        self.body = body
        self.headers = headers
        self.code = code


class Stream(Response):
    """A streamed answer: `send` writes to the transport until it is done."""

    __slots__ = ("send",)

    def __init__(self, headers: Headers, send: Callable[[Transport, HTTPProtocol], Awaitable[None]]) -> None:
        super().__init__(200, b"", headers)
        self.send = send


def envelope(code: str, text: str, data: object = None) -> bytes:
    content: dict[str, object] = {"code": code, "msg": text}
    if data is not None:
        content["data"] = data
    return _encode(content)


def success(data: object = None, language: str = "en") -> Response:
    return Response(200, envelope(SUCCESS, section("answers", language)["success"], data), JSON)


def failure(problem: Exception, language: str) -> Response:
    entry = entry_for(problem)
    body = envelope(entry.code, text_for(problem, entry, language))
    return Response(entry.status, body, [*JSON, *headers_for(problem, entry)], entry.code)


def plain_failure(problem: Exception) -> Response:
    """Outside the contract's paths a failure is a line of text."""
    entry = entry_for(problem)
    headers = [("content-type", "text/plain; charset=utf-8"), *JSON[1:], *headers_for(problem, entry)]
    return Response(entry.status, f"{text_for(problem, entry, DEFAULT)}\n".encode(), headers, entry.code)


def raw_response(
    body: bytes,
    media_type: str,
    *,
    status: int = 200,
    extra: Sequence[tuple[str, str]] = (),
    cache: str = "no-store",
) -> Response:
    headers = [
        ("content-type", media_type),
        ("cache-control", cache),
        ("x-content-type-options", "nosniff"),
        *extra,
    ]
    return Response(status, body, headers)


def redirect(url: str, *extra: tuple[str, str], status: int = 302) -> Response:
    """To a page. Addresses may hold tickets, so neither a cache nor the next page's Referer gets them."""
    headers = [("location", url), ("cache-control", "no-store"), ("referrer-policy", "no-referrer"), *extra]
    return Response(status, b"", headers)


def language_of(accepted: str | None) -> str:
    """The language that an Accept-Language header prefers among those there are. Only its beginning is read."""
    return _language_of(accepted[:MAX_LANGUAGES_LENGTH]) if accepted else DEFAULT


@lru_cache(maxsize=256)
def _language_of(accepted: str) -> str:
    """Of equal weights the one that the browser wrote first."""
    weights: dict[str, float] = {}
    for part in accepted.lower().split(",")[:20]:
        tag, _, parameters = part.strip().partition(";")
        name, _, value = parameters.strip().partition("=")
        try:
            weight = float(value) if name.strip() == "q" else 1.0
        except ValueError:
            weight = 0.0
        language = tag.strip().partition("-")[0]
        if language in languages():
            weights[language] = max(weights.get(language, 0.0), weight)
    return max(weights, key=weights.__getitem__) if any(weights.values()) else DEFAULT

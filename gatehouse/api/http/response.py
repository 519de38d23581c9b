"""Builds responses: the envelope, its headers, its language."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from gatehouse.api.contract.errors import SUCCESS, entry_for, headers_for, message

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from gatehouse.api.http.rsgi import HTTPProtocol, Transport

# Browsers send less than a tenth of it.
MAX_LANGUAGES_LENGTH = 256

_SUCCESS_WORDS = {"en": "OK", "zh": "成功"}

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
    return Response(200, envelope(SUCCESS, _SUCCESS_WORDS[language], data), JSON)


def failure(problem: Exception, language: str) -> Response:
    entry = entry_for(problem)
    body = envelope(entry.code, message(problem, entry, language))
    return Response(entry.status, body, [*JSON, *headers_for(problem, entry)], entry.code)


def plain_failure(problem: Exception) -> Response:
    """Outside the contract's paths a failure is a line of text."""
    entry = entry_for(problem)
    headers = [("content-type", "text/plain; charset=utf-8"), *JSON[1:], *headers_for(problem, entry)]
    return Response(entry.status, f"{entry.en}\n".encode(), headers, entry.code)


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


def language_of(accepted: str | None) -> str:
    """`zh` where an Accept-Language header prefers it to English, else `en`. Only its beginning is read."""
    return _language_of(accepted[:MAX_LANGUAGES_LENGTH]) if accepted else "en"


@lru_cache(maxsize=256)
def _language_of(accepted: str) -> str:
    if "zh" not in accepted.lower():
        return "en"
    weights = {"zh": 0.0, "en": 0.0}
    for part in accepted.lower().split(",")[:20]:
        tag, _, parameters = part.strip().partition(";")
        name, _, value = parameters.strip().partition("=")
        try:
            weight = float(value) if name.strip() == "q" else 1.0
        except ValueError:
            weight = 0.0
        family = tag.strip().partition("-")[0]
        if family in weights:
            weights[family] = max(weights[family], weight)
    return "zh" if weights["zh"] > weights["en"] or _comes_first(accepted, weights) else "en"


def _comes_first(accepted: str, weights: dict[str, float]) -> bool:
    """Equal weights: the order in which the browser wrote them decides."""
    if weights["zh"] != weights["en"] or not weights["zh"]:
        return False
    lowered = accepted.lower()
    return lowered.find("zh") < lowered.find("en") or "en" not in lowered

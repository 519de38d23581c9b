"""One file as it goes over the wire: compressed once, with an ETag of its content and security headers."""

from __future__ import annotations

import gzip
import hashlib
from functools import cached_property
from typing import TYPE_CHECKING

from gatehouse.api.http.response import Headers, Response

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request

# Nothing but what this service serves may be loaded, run, framed or sent to. Scripts may not even turn text into
# markup: `trusted-types` refuses every such call.
CONTENT_SECURITY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)

SECURITY_HEADERS: Headers = [
    ("content-security-policy", CONTENT_SECURITY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
]

MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}

# Below this the header of gzip and a second entry in every cache cost more than they save.
COMPRESS_MIN_BYTES = 512


class StaticFile:
    def __init__(self, body: bytes, suffix: str, *, cache: str, vary: str = "") -> None:
        self._digest = hashlib.sha256(body).hexdigest()[:32]
        self._headers = [
            ("content-type", MEDIA_TYPES[suffix]),
            ("cache-control", cache),
            ("vary", f"{vary}, accept-encoding" if vary else "accept-encoding"),
            *SECURITY_HEADERS,
        ]
        self._plain = _Representation(body, f'"{self._digest}"', self._headers)

    @cached_property
    def _gzip(self) -> _Representation:
        """Made when it is first asked for: a start need not wait for it."""
        if len(self._plain.body) < COMPRESS_MIN_BYTES:
            return self._plain
        packed = gzip.compress(self._plain.body, 9, mtime=0)
        # Two byte sequences, so two strong tags.
        return _Representation(packed, f'"{self._digest}-gzip"', [*self._headers, ("content-encoding", "gzip")])

    def response_to(self, request: Request) -> Response:
        form = self._gzip if _accepts_gzip(request.header("accept-encoding")) else self._plain
        if _etag_matches(request.header("if-none-match"), form.tag):
            return Response(304, b"", form.headers)
        return Response(200, form.body, form.headers)


class _Representation:
    """The file in one encoding."""

    __slots__ = ("body", "headers", "tag")

    def __init__(self, body: bytes, tag: str, headers: Headers) -> None:
        self.body = body
        self.tag = tag
        self.headers = [*headers, ("etag", tag)]


def _accepts_gzip(accepted: str | None) -> bool:
    for part in (accepted or "").lower().split(","):
        coding, _, weight = part.partition(";")
        if coding.strip() in {"gzip", "*"}:
            return weight.replace(" ", "") not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
    return False


def _etag_matches(tags: str | None, tag: str) -> bool:
    if not tags:
        return False
    held = {held.strip().removeprefix("W/") for held in tags.split(",")}
    return tag in held or "*" in held

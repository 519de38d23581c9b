"""One HTTP request with the standard library: bounded in time and size, without redirects."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

from gatehouse.common.parsing import is_loopback
from gatehouse.verify.errors import Unavailable

MAX_ANSWER_BYTES = 256 * 1024


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A service key must not follow a redirect to somewhere else."""

    def redirect_request(self, *_: object) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirects)


def check_url(url: str, *, allow_http: bool = False) -> str:
    """An attacker who can change an answer decides which tokens are valid, so plain http is for loopback only."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError(f"expected an http or https URL, got {url!r}")
    if parts.scheme == "http" and not allow_http and not is_loopback(parts.hostname):
        raise ValueError(f"{url!r} is not https: on a network that you trust, say allow_http=True")
    return url


def open_stream(url: str, timeout: float, headers: dict[str, str]) -> http.client.HTTPResponse:
    """An answer to be read line by line; `timeout` is how long it may be silent."""
    request = urllib.request.Request(url, None, headers)  # noqa: S310 - as below
    try:
        answer: http.client.HTTPResponse = _opener.open(request, timeout=timeout)
    except urllib.error.HTTPError as refused:
        with refused:
            raise Unavailable(_refusal(request, refused.code)) from None
    except (OSError, http.client.HTTPException) as problem:
        raise Unavailable(f"{url}: {problem}") from None
    return answer


def _refusal(request: urllib.request.Request, status: int) -> str:
    wrong_key = status == http.HTTPStatus.UNAUTHORIZED and request.has_header("Authorization")
    return f"{request.full_url} answered HTTP {status}{': check the service key' if wrong_key else ''}"


def fetch(url: str, timeout: float, *, body: bytes | None = None, headers: dict[str, str] | None = None) -> Any:
    """The JSON that is answered; everything else is `Unavailable`."""
    request = urllib.request.Request(url, body, headers or {})  # noqa: S310 - `check_url` has seen the scheme
    try:
        with _opener.open(request, timeout=timeout) as answer:
            content = answer.read(MAX_ANSWER_BYTES + 1)
    except urllib.error.HTTPError as refused:
        with refused:
            raise Unavailable(_refusal(request, refused.code)) from None
    except (OSError, http.client.HTTPException) as problem:
        raise Unavailable(f"{url}: {problem}") from None
    if len(content) > MAX_ANSWER_BYTES:
        raise Unavailable(f"{url} answered more than {MAX_ANSWER_BYTES} bytes")
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise Unavailable(f"{url} did not answer JSON") from None

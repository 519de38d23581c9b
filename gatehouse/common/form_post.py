"""Posts a form to somebody else's server: bounded in time, no redirects, no cookies; what it answers is not read."""

from __future__ import annotations

import asyncio
import ssl
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING

from gatehouse.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

MAX_CONNECTIONS = 20
SHOWN_CHARACTERS = 200


class PostFailed(Exception):
    """There is no answer; the text says why."""


class FormPost:
    """Made when it is first used: httpx is an extra, and takes a while to import."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._client: httpx.AsyncClient | None = None
        self._errors: tuple[type[Exception], ...] = (OSError, ValueError)

    async def post(self, url: str, form: Mapping[str, str]) -> int:
        """The status of the answer. Raises `PostFailed`."""
        client = self._client or self._open()
        try:
            async with asyncio.timeout(self._seconds), client.stream("POST", url, data=dict(form)) as response:
                return response.status_code
        except TimeoutError:
            raise PostFailed(f"does not answer within {self._seconds:g} s") from None
        except self._errors as problem:
            raise PostFailed(f"cannot be reached: {_explain(problem)}") from None

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    def _open(self) -> httpx.AsyncClient:
        try:
            import httpx  # noqa: PLC0415 - an extra
        except ImportError:
            raise PostFailed("needs an extra: install Gatehouse with [openid]") from None
        self._errors = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, ValueError)
        try:
            self._client = httpx.AsyncClient(
                verify=ssl.create_default_context(),
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
                follow_redirects=False,
                timeout=None,  # noqa: S113 - `post` bounds the whole of it
                limits=httpx.Limits(max_connections=MAX_CONNECTIONS),
                headers={"User-Agent": f"gatehouse/{__version__}", "Accept-Encoding": "identity"},
            )
        except (ImportError, *self._errors) as problem:  # a proxy of the environment that httpx cannot use
            raise PostFailed(f"cannot be reached: {_explain(problem)}") from None
        return self._client


def _explain(problem: BaseException) -> str:
    cause: BaseException | None = problem
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate is not accepted ({cause.verify_message})"
        cause = cause.__cause__ or cause.__context__
    return ascii(str(problem)[:SHOWN_CHARACTERS] or type(problem).__name__)

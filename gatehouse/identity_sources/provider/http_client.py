"""How a provider is asked: bounded in time and size, no redirects, no cookies, JSON or nothing.

Everything that goes wrong becomes `SourceUnavailable` with a text that says what an operator can look at.
"""

from __future__ import annotations

import asyncio
import ssl
from contextlib import asynccontextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import msgspec

from gatehouse.common.parsing import is_loopback
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.version import __version__

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx

    from gatehouse.identity_sources.definitions import ProviderConfig

MAX_RESPONSE = 512 * 1024
MAX_CONNECTIONS = 20
SHOWN_CHARACTERS = 200


class Answer(NamedTuple):
    status: int
    body: dict[str, Any]


class HttpClient:
    """`name` is what the provider is called in errors."""

    def __init__(self, config: ProviderConfig, name: str) -> None:
        try:
            import httpx  # noqa: PLC0415 - an extra
        except ImportError:
            raise SourceUnavailable("providers need an extra: install Gatehouse with [openid]") from None
        self._name = name
        self._timeout = config.timeout
        self._ca_file = config.ca_file
        # Cookies of one person's login must not go out with the next. `within` bounds the time of everything.
        self._client = httpx.AsyncClient(
            verify=self._tls(),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            follow_redirects=False,
            timeout=None,  # noqa: S113 - see above
            limits=httpx.Limits(max_connections=MAX_CONNECTIONS),
            headers={
                "User-Agent": f"gatehouse/{__version__}",
                "Accept": "application/json",
                "Accept-Encoding": "identity",
            },
        )
        self._transport_errors = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, ValueError)

    def _tls(self) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=self._ca_file or None)
        except OSError as problem:
            raise SourceUnavailable(f"{self._name}: ca_file {self._ca_file} cannot be read: {problem}") from None

    @asynccontextmanager
    async def within(self, step: str = "") -> AsyncIterator[None]:
        """Bounds all requests that are made inside, together, by the time of the configuration."""
        try:
            async with asyncio.timeout(self._timeout):
                yield
        except TimeoutError:
            raise SourceUnavailable(f"{self._name} does not answer within {self._timeout:g} s", step) from None

    async def get(self, url: str, step: str, headers: dict[str, str] | None = None) -> Answer:
        return await self._send("GET", url, step, headers=headers)

    async def post_form(self, url: str, form: dict[str, str], step: str, headers: dict[str, str]) -> Answer:
        return await self._send("POST", url, step, data=form, headers=headers)

    async def post_json(self, url: str, body: dict[str, str], step: str) -> Answer:
        return await self._send("POST", url, step, json=body)

    async def _send(self, method: str, url: str, step: str, **content: Any) -> Answer:
        where = f"{method} {url.partition('?')[0]}"
        try:
            async with self._client.stream(method, url, **content) as response:
                raw = await self._read(response, where, step)
        except self._transport_errors as problem:
            raise SourceUnavailable(f"{where}: {self._explain(problem)}", step) from None
        return Answer(response.status_code, _object(raw, where, step))

    async def _read(self, response: httpx.Response, where: str, step: str) -> bytes:
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if response.is_redirect:
            raise SourceUnavailable(f"{where} redirects, which is not followed: configure the address itself", step)
        # A few compressed bytes can become more than memory holds, and nobody has asked for them.
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise SourceUnavailable(f"{where} answers {response.status_code} in a compressed form", step)
        if media_type != "application/json" and not media_type.endswith("+json"):
            kind = shown(media_type) if media_type else "no type of content"
            raise SourceUnavailable(f"{where} answers {response.status_code} with {kind} instead of JSON", step)
        raw = b""
        async for chunk in response.aiter_raw():
            raw += chunk
            if len(raw) > MAX_RESPONSE:
                raise SourceUnavailable(f"{where} answers with more than {MAX_RESPONSE // 1024} KiB", step)
        return raw

    def _explain(self, problem: Exception) -> str:
        cause: BaseException | None = problem
        while cause is not None:
            if isinstance(cause, ssl.SSLCertVerificationError):
                return (
                    f"its certificate is not accepted ({cause.verify_message}); if an authority of your own has "
                    "signed it, name that in ca_file"
                )
            cause = cause.__cause__ or cause.__context__
        return f"cannot be reached: {shown(str(problem) or type(problem).__name__)}"

    async def close(self) -> None:
        await self._client.aclose()


def _object(raw: bytes, where: str, step: str) -> dict[str, Any]:
    try:
        body = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise SourceUnavailable(f"{where} answers with something that is not JSON", step) from None
    if not isinstance(body, dict):
        raise SourceUnavailable(f"{where} answers with JSON that is not an object", step)
    return body


def shown(text: object) -> str:
    """What others have written, for a log: one line, not too long."""
    return ascii(str(text)[:SHOWN_CHARACTERS])


def check_url(url: object, what: str, step: str, *, plain: bool = True) -> str:
    """https; with `plain` also http on the machine itself."""
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        usable = parts.hostname and not parts.fragment and not parts.username
        is_plain = parts.scheme == "http" and is_loopback(parts.hostname or "")
        if usable and (parts.scheme == "https" or (plain and is_plain)):
            return str(url)
    except ValueError:
        pass
    raise SourceUnavailable(f"{what} is {shown(url)}: expected an https:// address", step)


def with_query(url: str, parameters: dict[str, str]) -> str:
    """The address with these parameters after those that it may have."""
    return f"{url}{'&' if '?' in url else '?'}{urlencode(parameters)}"

"""Reads a request: body, query, bearer token, client address.

Over an RSGI scope and protocol; everything is parsed lazily. `either` reads a value that variants A and B name
differently.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl

import msgspec

from gatehouse.api.error_catalogue import BodyTooLarge, BodyUnreadable, UnsupportedMediaType
from gatehouse.api.http.client_address import client_address, peer_address
from gatehouse.api.http.forms import FIELDS_MAX, is_form, is_multipart, multipart_parts, read_form
from gatehouse.api.http.query import read_id, read_query
from gatehouse.api.http.response import language_of
from gatehouse.api.http.rsgi import ProtocolClosed
from gatehouse.auth.audit import ClientInfo
from gatehouse.auth.refusals import FieldInvalid, FieldMissing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gatehouse.api.http.rsgi import Headers, HTTPProtocol, Scope
    from gatehouse.common.parsing import Network

S = TypeVar("S", bound=msgspec.Struct)
T = TypeVar("T")

BODY_LIMIT = 64 * 1024
BODY_SECONDS = 10.0
# A body over the limit is read on and thrown away up to here, so that the client gets to read the answer.
DRAIN_LIMIT = 8 * 1024 * 1024
MAX_MEDIA_TYPE_LENGTH = 128

_NO_PARAMETERS: Mapping[str, str] = {}

_decode = msgspec.json.Decoder().decode


class Request:
    __slots__ = (
        "_body",
        "_body_begun",
        "_body_ended",
        "_headers",
        "_protocol",
        "_scope",
        "_trusted",
        "id",
        "method",
        "parameters",
        "path",
    )

    def __init__(self, scope: Scope, protocol: HTTPProtocol, request_id: str, trusted: Sequence[Network]) -> None:
        self._scope = scope
        self._headers: Headers = scope.headers  # type: ignore[assignment]  # granian's stub has no `get_all`
        self._protocol = protocol
        self._trusted = trusted
        self._body: bytes | None = None  # once it has arrived
        self._body_begun = self._body_ended = False  # reading it
        self.id = request_id
        self.method: str = scope.method
        self.path: str = scope.path
        self.parameters = _NO_PARAMETERS  # values of `{id}` and the like in the route's path

    def header(self, name: str) -> str | None:
        return self._headers.get(name)

    def headers(self, name: str) -> Sequence[str]:
        return self._headers.get_all(name)

    @property
    def language(self) -> str:
        return language_of(self._headers.get("accept-language"))

    @property
    def client(self) -> ClientInfo:
        peer = peer_address(self._scope.client)
        if self._trusted:
            peer = client_address(peer, self._trusted, self.headers("x-forwarded-for"), self.headers("forwarded"))
        return ClientInfo(peer, self.header("user-agent") or "", self.id)

    def bearer(self) -> str | None:
        """The access token, if there is exactly one `Authorization: Bearer` header."""
        values = self._headers.get_all("authorization")
        if len(values) != 1:
            return None
        scheme, _, token = values[0].partition(" ")
        return token.strip() if scheme.lower() == "bearer" else None

    def query(self, name: str) -> list[str]:
        return [value for key, value in self._query_pairs() if key == name]

    def query_as(self, query_type: type[S]) -> S:
        """The query string as one of the contract's types."""
        return read_query(self._query_pairs(), query_type)

    def query_once(self) -> dict[str, str]:
        """All of the query string, where no name may come twice, as OAuth has it."""
        pairs = self._query_pairs()
        if len({name for name, _ in pairs}) < len(pairs):
            raise FieldInvalid("query", "a name comes twice")
        return dict(pairs)

    def path_id(self, name: str = "id") -> int:
        return read_id(name, self.parameters[name])

    def path_ids(self, name: str = "ids") -> list[int]:
        """Several ids in one segment, as in `users/3,5,8`; each once."""
        return list(dict.fromkeys(read_id(name, part) for part in self.parameters[name].split(",")))

    def _query_pairs(self) -> list[tuple[str, str]]:
        text = self._scope.query_string
        if not text:
            return []
        try:
            return parse_qsl(text, keep_blank_values=True, max_num_fields=FIELDS_MAX, errors="strict")
        except ValueError:
            raise FieldInvalid("query", "the query string cannot be read") from None

    @property
    def is_form(self) -> bool:
        return is_form(self.header("content-type") or "")

    async def form(self) -> dict[str, str]:
        """The body as `application/x-www-form-urlencoded`, the first value of each name."""
        return dict(reversed(await self._form_pairs()))

    async def form_once(self) -> dict[str, str]:
        """The same where the media type says so and no name may come twice, as OAuth has it."""
        media_type = self.header("content-type") or ""
        if not is_form(media_type) or is_multipart(media_type):
            raise UnsupportedMediaType(media_type)
        pairs = await self._form_pairs()
        if len({name for name, _ in pairs}) < len(pairs):
            raise FieldInvalid("body", "a name comes twice")
        return dict(pairs)

    async def _form_pairs(self) -> list[tuple[str, str]]:
        try:
            return parse_qsl(
                (await self.body()).decode(), keep_blank_values=True, max_num_fields=FIELDS_MAX, errors="strict"
            )
        except ValueError:
            raise BodyUnreadable("not a form") from None

    async def fields(self, body_type: type[S], *, forms: bool = False) -> S:
        """The body as one of the contract's types; an absent body is an empty one. `forms`: also a form."""
        body = await self.body()
        if not body:
            return read_fields({}, body_type)
        media_type = self.header("content-type")
        if media_type is not None and not _is_json(media_type):
            if not forms or not is_form(media_type):
                raise UnsupportedMediaType(media_type)
            return read_fields(read_form(body, media_type), body_type)
        try:
            return _decode_as(body_type, body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            # A field is wrong, or empty where it may be missing: reading field by field tells which.
            return read_fields(_object(body), body_type)

    async def json_as(self, kind: type[T]) -> T:
        """The body as a JSON value that is not an object, such as a list."""
        body = await self.body()
        media_type = self.header("content-type")
        if media_type is not None and not _is_json(media_type):
            raise UnsupportedMediaType(media_type)
        if not body:
            raise FieldMissing("body")
        try:
            return msgspec.json.decode(body, type=kind)
        except msgspec.ValidationError as problem:
            raise FieldInvalid("body", str(problem)) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise BodyUnreadable("not JSON") from None

    async def upload(self, field: str) -> bytes:
        """The file of that name in a multipart form."""
        media_type = self.header("content-type") or ""
        if not is_multipart(media_type):
            raise UnsupportedMediaType(media_type)
        parts = multipart_parts(await self.body(), media_type)
        found = [part.content for part in parts if part.name == field and part.filename is not None]
        if not found or not found[0]:
            raise FieldMissing(field)
        return found[0]

    async def body(self, limit: int = BODY_LIMIT) -> bytes:
        if self._body is None:
            self._body_begun = True
            try:
                async with asyncio.timeout(BODY_SECONDS):
                    self._body = await self._whole_body(limit)
            except TimeoutError:
                raise BodyUnreadable("the body did not arrive in time") from None
            except ProtocolClosed:
                raise BodyUnreadable("the body ended before its length") from None
        return self._body

    @property
    def has_unread_body(self) -> bool:
        if self._body_ended:
            return False
        return self.header("content-length") not in {None, "0"} or self.header("transfer-encoding") is not None

    async def discard_body(self) -> bool:
        """Read the body that the answer did not need, and say whether its end was reached.

        After an answer the server closes a connection whose request was not read to its end, without announcing it. A
        client that sends its next request at that moment gets no answer.
        """
        if self._body_begun or self.header("expect") is not None:
            return False  # it was too long or too slow; or the client sends it only when asked
        with suppress(BodyTooLarge, BodyUnreadable):
            await self.body(limit=0)
        return self._body_ended

    async def _whole_body(self, limit: int) -> bytes:
        length = self.header("content-length")
        chunked = self.header("transfer-encoding") is not None  # then the length says nothing
        if length is not None and length.isdecimal() and int(length) <= limit and not chunked:
            body: bytes = await self._protocol()  # no longer than it says: the server checks that
            self._body_ended = True
            return body
        chunks: list[bytes] = []
        size = 0
        async for chunk in self._protocol:
            size += len(chunk)
            if size <= limit:
                chunks.append(chunk)
            elif size > DRAIN_LIMIT:
                break
        else:
            self._body_ended = True
        if size > limit:
            raise BodyTooLarge(f"{size} bytes or more")
        return b"".join(chunks)


def _decode_as(body_type: type[S], body: bytes) -> S:
    content: S = _decoder_of(body_type).decode(body)
    return content


_decoder_of = cache(msgspec.json.Decoder)


def _object(body: bytes) -> dict[str, Any]:
    try:
        content = _decode(body)
    except msgspec.ValidationError:
        raise FieldInvalid("body", "a number out of range") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BodyUnreadable("not JSON") from None
    if not isinstance(content, dict):
        raise BodyUnreadable("not an object")
    return content


def read_fields(content: dict[str, Any], body_type: type[S]) -> S:
    """Fields by name; unknown ones are passed over. Null and empty count as missing, the rest must fit its type."""
    values: dict[str, Any] = {}
    for field in msgspec.structs.fields(body_type):
        value = content.get(field.encode_name)
        if value is None or value == "":
            if field.required:
                raise FieldMissing(field.encode_name)
            continue
        try:
            values[field.name] = msgspec.convert(value, field.type)
        except msgspec.ValidationError as problem:
            raise FieldInvalid(field.encode_name, str(problem)) from None
    return body_type(**values)


def either(name: str, *candidates: str | None) -> str | None:
    """One value that may come under several names: all that are there must agree."""
    given = {candidate for candidate in candidates if candidate}
    if len(given) > 1:
        raise FieldInvalid(name, "given twice, and differently")
    return given.pop() if given else None


def _is_json(media_type: str) -> bool:
    return len(media_type) <= MAX_MEDIA_TYPE_LENGTH and _names_json(media_type)


@lru_cache(maxsize=64)
def _names_json(media_type: str) -> bool:
    kind, _, parameters = media_type.partition(";")
    kind = kind.strip().lower()
    charset = parameters.lower().replace(" ", "").replace('"', "").partition("charset=")[2].partition(";")[0]
    json = kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))
    return json and charset in {"", "utf-8", "utf8"}

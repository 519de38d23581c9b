"""Bodies that are forms, as older consoles send them: urlencoded or multipart, UTF-8, all in memory."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl

from gatehouse.api.error_catalogue import BodyUnreadable
from gatehouse.auth.refusals import FieldInvalid

FIELDS_MAX = 64


class Part(NamedTuple):
    """One part of a multipart body. `filename` is None where the part is a plain field."""

    name: str
    filename: str | None
    content: bytes


_FORMS = {"application/x-www-form-urlencoded", "multipart/form-data"}
_CHARSET = re.compile(r";\s*charset\s*=\s*(?!\"?utf-?8\"?\s*(;|\Z))", re.IGNORECASE)


def is_form(media_type: str) -> bool:
    """A form in UTF-8: other charsets are not taken."""
    return _kind(media_type) in _FORMS and not _CHARSET.search(media_type)


def is_multipart(media_type: str) -> bool:
    return _kind(media_type) == "multipart/form-data"


def read_form(body: bytes, media_type: str) -> dict[str, str]:
    """The fields by name. A file is refused, and so is a name that comes twice with different values."""
    try:
        pairs = _multipart(body, media_type) if _kind(media_type) == "multipart/form-data" else _urlencoded(body)
    except UnicodeDecodeError:
        raise BodyUnreadable("not UTF-8") from None
    fields: dict[str, str] = {}
    for name, value in pairs:
        if fields.setdefault(name, value) != value:
            raise FieldInvalid(name, "given twice, and differently")
    return fields


def multipart_parts(body: bytes, media_type: str) -> list[Part]:
    # Imported by the first request that needs it: it takes longer than the rest of the start.
    from multipart import MultipartError, PushMultipartParser, parse_options_header  # noqa: PLC0415

    parts: list[Part] = []
    try:
        boundary = parse_options_header(media_type)[1].get("boundary", "")
        with PushMultipartParser(boundary, max_segment_count=FIELDS_MAX, strict=True) as parser:
            content = bytearray()
            for event in parser.parse(body):
                if isinstance(event, bytearray | bytes):
                    content += event
                elif event is not None:
                    segment, content = event, bytearray()
                else:
                    parts.append(Part(segment.name or "", segment.filename, bytes(content)))
    except (MultipartError, ValueError, LookupError) as problem:
        raise BodyUnreadable(f"not a form: {type(problem).__name__}") from None
    return parts


def _multipart(body: bytes, media_type: str) -> list[tuple[str, str]]:
    parts = multipart_parts(body, media_type)
    for part in parts:
        if part.filename is not None:
            raise FieldInvalid(part.name or "file", "a file, where a field is expected")
    return [(part.name, part.content.decode()) for part in parts]


def _urlencoded(body: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=FIELDS_MAX, errors="strict")
    except ValueError:
        raise BodyUnreadable("not a form") from None


def _kind(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()

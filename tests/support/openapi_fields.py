"""What an OpenAPI document offers, as a set: so that a later release can be compared with an earlier one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]


def offered(document: Json) -> set[str]:
    """Every operation, and every field of its successful answer: `get /users/me`, `get /users/me .data.roles`."""
    found = set()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            found.add(f"{method} {path}")
            for media in operation["responses"].get("200", {}).get("content", {}).values():
                fields = _fields(document["components"]["schemas"], media.get("schema", {}), "", ())
                found |= {f"{method} {path} {field}" for field in fields}
    return found


def _fields(schemas: Json, schema: Json, above: str, inside: tuple[str, ...]) -> Iterator[str]:
    if name := schema.get("$ref", "").rpartition("/")[2]:
        if name not in inside:  # a menu has menus in it
            yield from _fields(schemas, schemas[name], above, (*inside, name))
        return
    items = [schema["items"]] if isinstance(schema.get("items"), dict) else []
    for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *items):
        yield from _fields(schemas, part, above, inside)
    for name, part in schema.get("properties", {}).items():
        yield f"{above}.{name}"
        yield from _fields(schemas, part, f"{above}.{name}", inside)

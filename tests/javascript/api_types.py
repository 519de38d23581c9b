"""The types of the API in TypeScript, from its OpenAPI document: the pages are checked against what is sent.

`AnswerOf<"GET users/me">` is the data of an operation, `BodyOf<"PUT users/me/password">` what it takes.
"""

from __future__ import annotations

import json
import re
from typing import Any

from gatehouse.api.description.openapi import document
from gatehouse.settings import Settings

Json = dict[str, Any]

PREFIX = "/api/v1/"
TYPES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def typescript(schema: Json) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema:
        return " | ".join(map(json.dumps, schema["enum"]))
    if "properties" in schema:
        return _object(schema)
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(map(typescript, schema["anyOf"])))
    if schema.get("type") == "array":
        return f"Array<{typescript(schema['items'])}>"
    if schema.get("type") == "object":
        return "Record<string, any>"
    return TYPES.get(schema.get("type", ""), "any")


def _object(schema: Json) -> str:
    required = schema.get("required", ())
    fields = (
        f"{name}{'' if name in required else '?'}: {typescript(field)}" for name, field in schema["properties"].items()
    )
    return f"{{ {'; '.join(fields)} }}"


def operations(paths: Json) -> list[tuple[str, Json]]:
    """Each as `GET users/${string}`; a fixed path comes before the patterns that match it, too."""
    named = [
        (f"{method.upper()} {re.sub('{[^}]+}', '${string}', path.removeprefix(PREFIX))}", operation)
        for path, methods in paths.items()
        if path.startswith(PREFIX)
        for method, operation in methods.items()
    ]
    return sorted(named, key=lambda pair: ("$" in pair[0], -pair[0].count("/")))


def data(operation: Json) -> str:
    schema = operation["responses"]["200"]["content"].get("application/json", {}).get("schema")
    carried = schema and schema["properties"].get("data")
    return typescript(carried) if carried else "null"


def body(operation: Json) -> str:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    return typescript(content["schema"]) if content else "undefined"


def chosen(name: str, cases: list[tuple[str, str]]) -> str:
    """Fixed paths by a table: the compiler gives up on a chain of conditions that is as long as the API."""
    fixed = "".join(f"\n  '{path}': {kind};" for path, kind in cases if "$" not in path)
    lines = "".join(f"\n  : O extends `{pattern}` ? {kind}" for pattern, kind in cases if "$" in pattern)
    table = f"{name}Fixed"
    chain = f"O extends keyof {table} ? {table}[O]{lines}\n  : never"
    return f"interface {table} {{{fixed}\n}}\ntype {name}<O extends string> = {chain};"


def types() -> str:
    described = document(Settings())
    named = operations(described["paths"])
    return "\n".join(
        [
            *(f"type {name} = {typescript(schema)};" for name, schema in described["components"]["schemas"].items()),
            chosen("AnswerOf", [(pattern, data(operation)) for pattern, operation in named]),
            chosen("BodyOf", [(pattern, body(operation)) for pattern, operation in named]),
        ]
    )

"""OpenAPI 3.1, made from the table of operations and the types that decode and encode them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from gatehouse.api.error_catalogue import CATALOGUE, SUCCESS, ErrorEntry
from gatehouse.api.login.password_login import LoginBody
from gatehouse.api.operation_declaration import JSON, PATH_VALUE, Operation
from gatehouse.api.operation_table import operations
from gatehouse.messages import message
from gatehouse.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gatehouse.settings import Settings

Json = dict[str, Any]

EMPTY_TEXT: Json = {"type": "string", "maxLength": 0}


def document(settings: Settings) -> Json:
    shown = operations(settings)
    schemas, components = _schemas(shown)
    login = components[LoginBody.__name__]
    # The variants, and the consoles of 2023, differ in the names of the id and of the answer.
    login["anyOf"] = [
        {"required": ["captchaKey", "captchaCode"]},
        {"required": ["captchaId", "captchaCode"]},
        {"required": ["verifyCodeKey", "verifyCode"]},
    ]
    paths: Json = {}
    for operation in shown:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Gatehouse",
            "version": __version__,
            "description": "Captcha, login, token refresh, logout and current user, in both variants of the contract.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": settings.base_path or "/"}],
        "tags": [{"name": group} for group in dict.fromkeys(operation.group for operation in shown)],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
    }


def _schemas(shown: Sequence[Operation]) -> tuple[dict[Any, Json], Json]:
    """The schema of each body and each data, and the components they refer to."""
    types = list({kind: None for operation in shown for kind in (operation.body, operation.data) if kind is not None})
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    for operation in shown:
        if isinstance(operation.body, type):
            _allow_empty_text(components[operation.body.__name__])
    return dict(zip(types, schemas, strict=True)), components


def _allow_empty_text(body: Json) -> None:
    """`http/request.py` takes an empty text for a missing field, also where the field is a number or a list."""
    for name, field in body["properties"].items():
        if name not in body.get("required", ()) and not _allows_text(field):
            body["properties"][name] = field | {"anyOf": [*field["anyOf"], EMPTY_TEXT]}


def _allows_text(schema: Json) -> bool:
    return schema.get("type") == "string" or any(map(_allows_text, schema.get("anyOf", ())))


def _operation(operation: Operation, schemas: dict[Any, Json]) -> Json:
    described: Json = {
        "operationId": f"{operation.name}_{operation.method.lower()}",
        "summary": operation.summary,
        "tags": [operation.group],
        "responses": {"200": _success(operation, schemas)},
        # Stated even where it is empty: these operations ignore a token.
        "security": [{"bearer": []}] if not operation.public else [],
    }
    description = _description(operation)
    if description:
        described["description"] = description
    if operation.body is not None:
        described["requestBody"] = _body(operation, schemas[operation.body])
    parameters = [*_path_parameters(operation), *_query_parameters(operation)]
    if parameters:
        described["parameters"] = parameters
    for status, entries in sorted(_by_status(operation).items()):
        described["responses"][str(status)] = _failure(status, entries)
    return described


def _description(operation: Operation) -> str:
    """What the variants differ in, the perm it needs, its rate limits, and its older paths."""
    parts = [operation.description]
    if operation.perm:
        perms = " or ".join(f"`{perm}`" for perm in (operation.perm, *operation.or_perms))
        parts.append(f"Needs the perm {perms}.")
    if operation.limits:
        names = ", ".join(f"`{limit.value.upper()}`" for limit in operation.limits)
        parts.append(f"Rate limits: {names}.")
    if operation.older_paths:
        parts.append("Also at " + ", ".join(f"`{path}`" for path in operation.older_paths) + ".")
    return " ".join(part for part in parts if part)


def _success(operation: Operation, schemas: dict[Any, Json]) -> Json:
    if operation.produces == JSON:
        return _response("Success", _envelope([SUCCESS], schemas.get(operation.data)))
    described = _response("Success", {})
    described["content"] = {operation.produces: {}}
    return described


def _body(operation: Operation, schema: Json) -> Json:
    content: Json = {"schema": schema}
    if operation.body_examples:
        content["examples"] = _examples(operation.body_examples)
    described = {media_type: content if media_type == JSON else {"schema": schema} for media_type in operation.takes}
    return {"required": operation.body_required, "content": described}


def _examples(values: Mapping[str, Any]) -> Json:
    return {name: {"summary": f"Variant {name}", "value": value} for name, value in values.items()}


def _path_parameters(operation: Operation) -> list[Json]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "pattern": PATH_VALUE}}
        for name in re.findall(r"{(\w+)}", operation.path)
    ]


def _query_parameters(operation: Operation) -> list[Json]:
    if operation.query is None:
        return []
    described = []
    for field in msgspec.structs.fields(operation.query):
        name = field.encode_name
        parameter: Json = {"name": name, "in": "query", "required": field.required, "schema": _query_schema(field.type)}
        values = {variant: query[name] for variant, query in (operation.query_examples or {}).items()}
        described.append(parameter | ({"examples": _examples(values)} if values else {}))
    return described


def _query_schema(kind: Any) -> Json:
    """A query has no null: what may be absent is just not required."""
    schema = msgspec.json.schema(kind)
    some = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    return some[0] if len(some) == 1 else schema


def _by_status(operation: Operation) -> dict[int, list[ErrorEntry]]:
    """The refusals of an operation, and those of every operation."""
    grouped: dict[int, list[ErrorEntry]] = {}
    for kind in (*operation.all_refusals, Exception):
        entry = CATALOGUE[kind]
        grouped.setdefault(entry.status, []).append(entry)
    return grouped


def _failure(status: int, entries: list[ErrorEntry]) -> Json:
    described = _response(
        "; ".join(f"`{entry.code}` {_words(entry)}" for entry in entries),
        _envelope([entry.code for entry in entries]),
    )
    if status in {429, 503}:
        described["headers"]["Retry-After"] = _header("Seconds to wait.", "integer")
    if status == 401:
        described["headers"]["WWW-Authenticate"] = _header("Always `Bearer`.", "string")
    return described


def _words(entry: ErrorEntry) -> str:
    sentence = str(message(entry.message))
    if sentence == "{problem}":
        return "The new password is refused, with the reason"
    return sentence.removesuffix(". {need}")


def _response(description: str, schema: Json) -> Json:
    return {
        "description": description,
        "headers": {"X-Request-Id": _header("Names this request in the logs.", "string")},
        "content": {"application/json": {"schema": schema}},
    }


def _header(description: str, kind: str) -> Json:
    return {"description": description, "schema": {"type": kind}}


def _envelope(codes: list[str], data: Json | None = None) -> Json:
    properties: Json = {"code": {"type": "string", "enum": sorted(set(codes))}, "msg": {"type": "string"}}
    if data is not None:
        properties["data"] = data
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }

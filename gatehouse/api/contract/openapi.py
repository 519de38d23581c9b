"""OpenAPI 3.1, made from the table of operations and the types that decode and encode them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

import gatehouse
from gatehouse.api.contract.errors import CATALOGUE, ErrorEntry
from gatehouse.api.contract.operations import OPERATIONS, Operation
from gatehouse.api.contract.schemas import LoginBody, RefreshToken
from gatehouse.api.contract.variants import BODY_EXAMPLES, DESCRIPTIONS, QUERY_EXAMPLES, examples
from gatehouse.api.http.reply import SUCCESS

if TYPE_CHECKING:
    from gatehouse.settings import Settings

Json = dict[str, Any]


def document(settings: Settings) -> Json:
    types = {kind for operation in OPERATIONS for kind in (operation.body, operation.data) if kind is not None}
    _, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    login = components[LoginBody.__name__]
    # The variants differ in the name of the id; one of the two has to be there.
    login["required"] = [*login["required"], "captchaCode"]
    login["anyOf"] = [{"required": ["captchaKey"]}, {"required": ["captchaId"]}]
    paths: Json = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Gatehouse",
            "version": gatehouse.__version__,
            "description": "Captcha, login, token refresh, logout and current user, in both variants of the contract.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": settings.base_path or "/"}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
    }


def _operation(operation: Operation) -> Json:
    described: Json = {
        "operationId": f"{operation.name}_{operation.method.lower()}",
        "summary": operation.summary,
        "tags": [operation.path.split("/")[3]],
        "responses": {"200": _response("Success", _envelope([SUCCESS], operation.data))},
        # Stated even where it is empty: these operations ignore whatever token comes along.
        "security": [{"bearer": []}] if operation.secured else [],
    }
    if operation.name in DESCRIPTIONS:
        described["description"] = DESCRIPTIONS[operation.name]
    if operation.body is not None:
        described["requestBody"] = _body(operation, operation.body)
    if operation.query:
        described["parameters"] = [_query(operation, name) for name in operation.query]
    if "{id}" in operation.path:
        described["parameters"] = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]
    for status, entries in sorted(_by_status(operation).items()):
        described["responses"][str(status)] = _failure(status, entries)
    return described


def _body(operation: Operation, body: type[msgspec.Struct]) -> Json:
    content: Json = {"schema": {"$ref": f"#/components/schemas/{body.__name__}"}}
    if operation.name in BODY_EXAMPLES:
        content["examples"] = examples(BODY_EXAMPLES[operation.name])
    return {"required": operation.body_required, "content": {"application/json": content}}


def _query(operation: Operation, name: str) -> Json:
    parameter: Json = {
        "name": name,
        "in": "query",
        "required": False,
        "schema": msgspec.json.schema(RefreshToken),
    }
    values = {variant: query[name] for variant, query in QUERY_EXAMPLES.get(operation.name, {}).items()}
    return parameter | ({"examples": examples(values)} if values else {})


def _by_status(operation: Operation) -> dict[int, list[ErrorEntry]]:
    """The refusals of an operation, and those that any of them may meet."""
    grouped: dict[int, list[ErrorEntry]] = {}
    for kind in (*operation.refusals, Exception):
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
    return "The new password is refused, with the reason" if entry.en == "{problem}" else entry.en


def _response(description: str, schema: Json) -> Json:
    return {
        "description": description,
        "headers": {"X-Request-Id": _header("Names this request in the logs.", "string")},
        "content": {"application/json": {"schema": schema}},
    }


def _header(description: str, kind: str) -> Json:
    return {"description": description, "schema": {"type": kind}}


def _envelope(codes: list[str], data: type[msgspec.Struct] | None = None) -> Json:
    properties: Json = {"code": {"type": "string", "enum": sorted(set(codes))}, "msg": {"type": "string"}}
    if data is not None:
        properties["data"] = {"$ref": f"#/components/schemas/{data.__name__}"}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }

"""The description against the service: generated requests, valid and not, must get what is described."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
import requests
import schemathesis
import schemathesis.specs.openapi.checks as openapi_checks
from hypothesis import HealthCheck, assume, given, settings
from schemathesis.core.parameters import ParameterLocation

from gatehouse.api.operation_declaration import Operation
from gatehouse.api.operation_table import OPERATIONS
from tests.api.description.adapter import LocalAdapter
from tests.support.conversation import bearer, login
from tests.support.local import Local
from tests.support.selection import cases

EXAMPLES = 15


@pytest.fixture(scope="session")
def described(service: Local) -> schemathesis.BaseSchema:
    with service.client() as client:
        description = client.get("/openapi.json").json()
    schema = schemathesis.openapi.from_dict(description)
    schema.config.update(base_url=service.url)
    return schema


@pytest.fixture
def over_requests(service: Local, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every session of `requests`, those that a check opens by itself too, reaches the service in this process."""
    monkeypatch.setattr(requests.Session, "get_adapter", lambda *_, **__: LocalAdapter(service))


# A body of the right form is refused all the same if its captcha, password or token is not one of ours.
NOT_PROMISED = [openapi_checks.positive_data_acceptance]
VALID, INVALID = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
# To make requests from a description takes a second of CPU for each operation: by default the contract's own alone.
ALWAYS = {"captcha", "login", "refresh", "logout", "me", "add_department"}
CASES = [
    pytest.param(
        operation,
        mode,
        id=f"{operation.method} {operation.path} {mode.value}",
        marks=[] if operation.name in ALWAYS else [pytest.mark.full],
    )
    for operation in OPERATIONS
    if operation.produces != "text/event-stream"  # a stream has no end to wait for: see server/test_streams.py
    for mode in (VALID, INVALID)
    if mode is VALID or operation.body  # without a body there is nothing to get wrong
]


def is_wrong_without_headers(case: schemathesis.Case[Any]) -> bool:
    """Whether body, path or query is wrong: a missing `Authorization` is put right by the test itself."""
    parts = case.meta.components.items() if case.meta else ()
    return any(part.mode is INVALID for location, part in parts if location is not ParameterLocation.HEADER)


def test_an_empty_text_is_described_where_a_number_may_be_missing(client: httpx.Client) -> None:
    body = {"name": "Warehouse", "sort": "", "status": ""}
    assert client.post("/api/v1/depts", json=body, headers=bearer(login(client))).status_code == 200
    described = client.get("/openapi.json").json()["components"]["schemas"]["DepartmentBody"]["properties"]
    assert all({"type": "string", "maxLength": 0} in described[name]["anyOf"] for name in ("sort", "status"))


@pytest.mark.parametrize(("operation", "mode"), CASES)
def test_answers_are_as_described(
    described: schemathesis.BaseSchema,
    over_requests: None,
    client: httpx.Client,
    operation: Operation,
    mode: schemathesis.GenerationMode,
) -> None:
    target = described[operation.path][operation.method]
    headers = bearer(login(client)) if not operation.public else {}

    @settings(max_examples=cases(EXAMPLES), deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(case=target.as_strategy(generation_mode=mode))
    def check(case: schemathesis.Case[Any]) -> None:
        # Not the administrator and the first role and department: the other tests on this service need them.
        assume("1" not in str((case.path_parameters or {}).values()))
        assume(mode is VALID or is_wrong_without_headers(case))
        response = case.call(headers=headers)
        # The check does not know that 413 is a refusal, too.
        too_large = [openapi_checks.negative_data_rejection] if response.status_code == 413 else []
        case.validate_response(response, excluded_checks=[*NOT_PROMISED, *too_large])

    check()

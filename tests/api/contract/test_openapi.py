"""The description against the service: generated requests, valid and not, must get what is described."""

from __future__ import annotations

import httpx
import pytest
import schemathesis
import schemathesis.specs.openapi.checks as openapi_checks
from hypothesis import HealthCheck, assume, given, settings
from schemathesis.core.parameters import ParameterLocation

from gatehouse.api.contract.operations import OPERATIONS, Operation
from tests.support.conversation import bearer, login
from tests.support.running import Running

EXAMPLES = 15


@pytest.fixture(scope="module")
def described(service: Running) -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_url(f"{service.url}/openapi.json")


# A body of the right form is refused all the same if its captcha, password or token is not one of ours.
NOT_PROMISED = [openapi_checks.positive_data_acceptance]
VALID, INVALID = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
CASES = [
    (operation, mode)
    for operation in OPERATIONS
    if operation.produces != "text/event-stream"  # a stream has no end to wait for: see serving/test_streams.py
    for mode in (VALID, INVALID)
    if mode is VALID or operation.body  # without a body there is nothing to get wrong
]


def is_wrong_without_headers(case: schemathesis.Case) -> bool:
    """Whether body, path or query is wrong: a missing `Authorization` is put right by the test itself."""
    parts = case.meta.components.items() if case.meta else ()
    return any(part.mode is INVALID for location, part in parts if location is not ParameterLocation.HEADER)


def test_an_empty_text_is_described_where_a_number_may_be_missing(client: httpx.Client) -> None:
    body = {"name": "Warehouse", "sort": "", "status": ""}
    assert client.post("/api/v1/depts", json=body, headers=bearer(login(client))).status_code == 200
    described = client.get("/openapi.json").json()["components"]["schemas"]["DepartmentBody"]["properties"]
    assert all({"type": "string", "maxLength": 0} in described[name]["anyOf"] for name in ("sort", "status"))


@pytest.mark.parametrize(
    ("operation", "mode"), CASES, ids=[f"{case[0].method} {case[0].path} {case[1].value}" for case in CASES]
)
def test_answers_are_as_described(
    described: schemathesis.BaseSchema,
    client: httpx.Client,
    operation: Operation,
    mode: schemathesis.GenerationMode,
) -> None:
    target = described[operation.path][operation.method]
    headers = bearer(login(client)) if operation.requires_token else {}

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(case=target.as_strategy(generation_mode=mode))
    def check(case: schemathesis.Case) -> None:
        # Not the administrator and the first role and department: the other tests on this service need them.
        assume("1" not in str((case.path_parameters or {}).values()))
        assume(mode is VALID or is_wrong_without_headers(case))
        response = case.call(headers=headers)
        # The check does not know that 413 is a refusal, too.
        too_large = [openapi_checks.negative_data_rejection] if response.status_code == 413 else []
        case.validate_response(response, excluded_checks=[*NOT_PROMISED, *too_large])

    check()

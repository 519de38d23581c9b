"""The table of operations: paths with parameters, older names of a path, and limits that are where it says they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gatehouse.api.operation_declaration import Limit, Operation
from gatehouse.api.operation_table import OPERATIONS
from gatehouse.api.routes import Route, Routes, parameter_names
from gatehouse.api.telemetry.metrics import OperationMetrics
from gatehouse.auth.audit import ClientInfo
from gatehouse.auth.login.company_tickets import Arrival, CompanyTickets
from tests.support.factors import enrol
from tests.support.inprocess import InProcess
from tests.support.running import PASSWORD


async def _nothing(*_: object) -> Any: ...


def route(path: str) -> Route:
    return Route(path, _nothing, OperationMetrics(), parameters=parameter_names(path))


PATHS = ("/users/{id}", "/users/{id}/form", "/users/me/sessions/{id}", "/dicts/{code}/items/options", "/roles/{ids}")


@pytest.mark.parametrize(
    ("path", "found", "values"),
    [
        ("/users/7", "/users/{id}", {"id": "7"}),
        ("/users/me", "/users/{id}", {"id": "me"}),
        ("/users/7/form", "/users/{id}/form", {"id": "7"}),
        ("/users/me/form", "/users/{id}/form", {"id": "me"}),
        ("/users/me/sessions/x", "/users/me/sessions/{id}", {"id": "x"}),
        ("/dicts/gender/items/options", "/dicts/{code}/items/options", {"code": "gender"}),
        ("/roles/1,2", "/roles/{ids}", {"ids": "1,2"}),
        ("/users", None, {}),
        ("/users/", None, {}),
        ("/users//form", None, {}),
        ("/users/7/", None, {}),
        ("/users/7/form/x", None, {}),
        ("/users/{}", None, {}),
        ("/users/7;x", None, {}),
        ("", None, {}),
        ("/", None, {}),
    ],
)
def test_paths_with_parameters(path: str, found: str | None, values: dict[str, str]) -> None:
    routes = Routes()
    for template in PATHS:
        routes.add(template, "GET", route(template))
    assert routes.exact(path) is None
    match = routes.match(path)
    assert (match[0]["GET"].operation if match else None) == found
    assert (match[1] if match else []) == list(values.values())


def test_methods_of_one_path_may_name_its_parameter_differently() -> None:
    routes = Routes()
    routes.add("/users/{id}", "PUT", route("/users/{id}"))
    routes.add("/users/{ids}", "DELETE", route("/users/{ids}"))
    match = routes.match("/users/7")
    assert match is not None
    assert {method: found.parameters for method, found in match[0].items()} == {"PUT": ("id",), "DELETE": ("ids",)}


def test_an_older_path_has_the_parameters_of_the_current_one() -> None:
    with pytest.raises(ValueError, match="does not have the parameters"):
        Routes().add("/roles/{role}/menuIds", "GET", route("/roles/{id}/menu-ids"))


def limited(limit: Limit) -> list[Operation]:
    return [operation for operation in OPERATIONS if limit in operation.limits]


def pending_ticket(gatehouse: InProcess) -> str:
    """Of an administrator who has come from a provider, and owes a code."""
    arrival = Arrival(1, 1, "https://corp.example", "admin", "", "", ("oidc@corp",), gatehouse.clock(), "/")
    pending = CompanyTickets(
        ring=gatehouse.service.key_ring,
        state=gatehouse.service.stores.state,
        audit=gatehouse.service.audit,
        clock=gatehouse.clock,
        pending=True,
    )
    return gatehouse.run(pending.make(arrival, ClientInfo("127.0.0.1")))


def exhausted(gatehouse: InProcess, operation: Operation, token: str) -> list[str]:
    """The codes of four calls in a row, each with something to count."""
    response = dict.fromkeys(("clientDataJSON", "authenticatorData", "signature"), "AAAA")
    bodies: dict[str, object] = {
        "begin_enrolment": {"ticket": "x"},
        "confirm_enrolment": {"ticket": "x", "code": "123456"},
        **{name: {"ticket": "x"} for name in ("qr_login", "qr_scan", "qr_confirm", "qr_refuse")},
        "password_link_owner": {"ticket": "x"},
        "set_password_by_link": {"ticket": "x", "newPassword": "Another-12345"},
        "passkey_login": {"credential": {"id": "AAAA", "rawId": "AAAA", "type": "public-key", "response": response}},
        "refresh": {"refreshToken": "x"},
        "change_password": {"currentPassword": "wrong", "newPassword": "Another-12345"},
        "own_password": {"oldPassword": "wrong", "newPassword": "Another-12345", "confirmPassword": "Another-12345"},
    }
    if operation.name == "login":
        return [gatehouse.login(password="wrong").code for _ in range(4)]
    if operation.name in {"end_totp", "renew_recovery_codes", "company_login_code"}:
        enrol(lambda *words: gatehouse.request(*words[:2], body=words[2], token=token).data, gatehouse.clock)
    if operation.name == "company_login_code":
        bodies["company_login_code"] = {"ticket": pending_ticket(gatehouse), "otpCode": "000000"}
    # Whatever else is limited by name checks the current password.
    proof = (
        {"currentPassword": "wrong", "code": "123456", "enabled": False}
        if Limit.LOGIN_NAME in operation.limits
        else None
    )
    body = bodies.get(operation.name, proof)
    path = operation.path.replace("{id}", "1").replace("{source}", "corp")
    return [gatehouse.request(operation.method, path, body=body, token=token).code for _ in range(4)]


@pytest.mark.parametrize(
    ("limit", "operation"),
    [(limit, operation) for limit in Limit for operation in limited(limit)],
    ids=lambda value: value.name,
)
def test_every_limit_is_where_the_table_says(tmp_path: Path, limit: Limit, operation: Operation) -> None:
    """With two calls a minute allowed, and one that the login before has earned, one of four is refused in its way."""
    allowed: dict[str, Any] = {limit.value: "2/minute"}
    with InProcess(tmp_path / "data", limits="on", **allowed) as gatehouse:
        token = gatehouse.login(password=PASSWORD).data["accessToken"]
        code = "A0211" if limit is Limit.LOGIN_NAME else "A0502"
        assert code in exhausted(gatehouse, operation, token)

"""Every operation with a perm, from the table of operations: refused without it, so that none can be forgotten."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest

from gatehouse.api.operation_declaration import Group, Operation
from gatehouse.api.operation_table import OPERATIONS
from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.stores.database.users import NewUser
from tests.support.conversation import bearer, login
from tests.support.inprocess import InProcess
from tests.support.local import Local
from tests.support.people import add_user
from tests.support.running import PASSWORD

NEEDS_PERM = [operation for operation in OPERATIONS if operation.perm]
NEEDS_BEARER = [operation for operation in OPERATIONS if not operation.public]


def name_of(operation: Operation) -> str:
    return f"{operation.method} {operation.path}"


def paths_of(operation: Operation) -> list[str]:
    return [re.sub(r"{\w+}", "1", path) for path in (operation.path, *operation.older_paths)]


@pytest.fixture(scope="module")
def gatehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    with InProcess(tmp_path_factory.mktemp("perms") / "data") as running:
        yield running


@pytest.fixture(scope="module")
def nobody(gatehouse: InProcess) -> str:
    """The token of a user who holds no perm at all."""
    new = NewUser("nobody", "nobody", hash_password(PASSWORD), 1, 0)
    gatehouse.run(gatehouse.service.stores.users.add(new))
    return str(gatehouse.login("nobody").data["accessToken"])


@pytest.mark.parametrize("operation", NEEDS_PERM, ids=name_of)
def test_refused_without_the_perm(gatehouse: InProcess, nobody: str, operation: Operation) -> None:
    for path in paths_of(operation):
        answer = gatehouse.request(operation.method, path, token=nobody)
        assert (answer.status, answer.code) == (403, "A0301"), path


def test_a_running_service_refuses_each_without_the_perm(service: Local, client: httpx.Client) -> None:
    add_user(service, "holds-nothing")
    headers = bearer(login(client, username="holds-nothing"))
    refused = {
        f"{operation.method} {path}": client.request(operation.method, path, headers=headers)
        for operation in NEEDS_PERM
        for path in paths_of(operation)
    }
    wrong = {
        name: answer.text for name, answer in refused.items() if answer.status_code != 403 or "A0301" not in answer.text
    }
    assert wrong == {}


@pytest.mark.parametrize("operation", NEEDS_BEARER, ids=name_of)
def test_refused_without_a_token(gatehouse: InProcess, operation: Operation) -> None:
    for path in paths_of(operation):
        answer = gatehouse.request(operation.method, path)
        assert (answer.status, answer.code) == (401, "A0230"), path


def test_whatever_changes_or_lists_what_belongs_to_others_needs_a_perm() -> None:
    """The console's calls without a perm are one's own things, and figures without names."""
    free = {operation.name for operation in OPERATIONS if operation.group is Group.CONSOLE and not operation.perm}
    assert free == {
        "menu_routes",
        "own_notices",
        "online_events",
        "dictionary",
        "dictionaries",
        "own_profile",
        "edit_own_profile",
        "own_password",
        "login_overview",
        "login_trend",
        "visit_statistics",
    }
    assert all(not operation.public for operation in OPERATIONS if operation.group is Group.CONSOLE)


def test_only_these_are_answered_without_a_token() -> None:
    assert {operation.name for operation in OPERATIONS if operation.public} == {
        "captcha",
        "providers",
        "company_login_code",
        "login",
        "refresh",
        "begin_enrolment",
        "confirm_enrolment",
        "passkey_options",
        "passkey_login",
        "qr_generate",
        "qr_status",
        "qr_login",
        "password_link_owner",
        "set_password_by_link",
    }


def test_the_console_can_be_switched_off(tmp_path_factory: pytest.TempPathFactory) -> None:
    with InProcess(tmp_path_factory.mktemp("off") / "data", console="off") as gatehouse:
        token = gatehouse.login().data["accessToken"]
        for operation in OPERATIONS:
            if operation.group is Group.CONSOLE:
                for path in paths_of(operation):
                    assert gatehouse.request(operation.method, path, token=token).status in {404, 405}, path
        assert gatehouse.me(token).status == 200
        described = gatehouse.request("GET", "/openapi.json").json
        assert "/api/v1/depts" not in described["paths"]

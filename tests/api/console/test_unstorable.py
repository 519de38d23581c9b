"""Characters that PostgreSQL does not store are the caller's mistake, and not an outage."""

from __future__ import annotations

import pytest

from tests.api.console.conftest import Console
from tests.support.inprocess import InProcess

pytestmark = pytest.mark.every_engine


@pytest.mark.parametrize("path", ["users", "roles", "depts", "menus", "logs"])
def test_a_search_for_the_character_nul_is_answered(gatehouse: InProcess, console: Console, path: str) -> None:
    answer = gatehouse.request("GET", f"/api/v1/{path}", raw_query="keywords=a%00b", token=console.token)
    assert (answer.status, answer.code) in {(200, "00000"), (400, "A0421")}


def test_a_name_with_the_character_nul_is_not_looked_up_for_ever(gatehouse: InProcess, console: Console) -> None:
    answer = gatehouse.request("DELETE", "/api/v1/lockouts", body={"name": "a\0b"}, token=console.token)
    assert (answer.status, answer.code) in {(200, "00000"), (400, "A0421")}
    assert "retry-after" not in answer.headers

"""What a request for a captcha does not do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, event

from tests.support.inprocess import InProcess


@pytest.fixture
def gatehouse(tmp_path: Path) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data", limits="on", limit_captcha_address="1000/minute") as running:
        yield running


def test_issuing_writes_to_no_store(gatehouse: InProcess) -> None:
    """Counted where writing happens: operations of the state store, statements of the database, bytes of the files."""
    statements: list[str] = []
    own = str(gatehouse.settings.data_dir)

    def note(connection: Connection, _cursor: object, statement: str, *_: object) -> None:
        # There are services of other tests in this process, and each looks into its outbox every two seconds.
        if own in str(connection.engine.url) and not {"outbox", "grants"} & set(statement.split()):
            statements.append(statement)

    event.listen(Engine, "before_cursor_execute", note)  # every engine of it, also the one that answers look-ups

    def files() -> dict[str, int]:
        return {file.name: file.stat().st_mtime_ns for file in gatehouse.settings.data_dir.iterdir()}

    before, operations = files(), dict(gatehouse.service.stores.state.counts())
    for _ in range(200):
        assert gatehouse.request("GET", "/api/v1/auth/captcha").status == 200
    assert dict(gatehouse.service.stores.state.counts()) == operations
    assert statements == []
    assert files() == before
    gatehouse.login()
    assert dict(gatehouse.service.stores.state.counts()) != operations, "the counting works"
    assert statements


def test_a_login_may_answer_with_look_alikes(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", captcha_test_answer="42HX") as running:
        assert running.login(changes={"captchaCode": "aznk"}).status == 200
        assert running.login(changes={"captchaCode": "aznl"}).code == "A0240"

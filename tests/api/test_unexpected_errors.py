"""What nobody foresaw: a fault in our own code, planted here."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatehouse.auth.authentication import Authenticator
from tests.support.inprocess import InProcess


def test_the_caller_learns_nothing_and_the_log_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("SELECT secret FROM /etc/passwd")

    monkeypatch.setattr(Authenticator, "authenticate", broken)
    with InProcess(tmp_path / "data") as gatehouse:
        answer = gatehouse.me("x")
        assert (answer.status, answer.code) == (500, "B0001")
        assert set(answer.json) == {"code", "msg"}
        for hint in ("SELECT", "secret", "/etc", "RuntimeError", "Traceback", ".py"):
            assert hint not in answer.content.decode()
    log = capsys.readouterr().err
    assert "SELECT secret FROM /etc/passwd" in log
    assert answer.headers["x-request-id"] in log

"""Behind an https issuer browsers are told to come back over https only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.inprocess import InProcess

NAME = "strict-transport-security"


def test_an_https_issuer_is_reached_over_https_only(tmp_path: Path) -> None:
    behind: dict[str, Any] = {"issuer": "https://login.example.com", "limits": "on", "captcha_test_answer": ""}
    with InProcess(tmp_path / "data", **behind) as gatehouse:
        for path in ("/api/v1/auth/captcha", "/api/v1/users/me", "/", "/nothing"):
            assert gatehouse.request("GET", path).headers[NAME] == "max-age=31536000"


def test_without_tls_nothing_is_promised(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data") as gatehouse:
        assert NAME not in gatehouse.request("GET", "/api/v1/auth/captcha").headers

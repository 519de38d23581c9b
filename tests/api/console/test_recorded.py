"""What real consoles sent from login to logout, sent to a running service: every call succeeds, in the shape they read.

Recorded in Chromium: `recorded_current.json` from vue3-element-admin 4.8.0, `recorded_older.json` from 2.18.6,
`recorded_oldest.json` from 2.11.5. A first start numbers everything in the same order again, so the ids that a console
sent back still fit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.inprocess import InProcess
from tests.support.local import Local
from tests.support.running import PASSWORD

RECORDINGS = sorted(Path(__file__).parent.glob("recorded_*.json"))
KINDS: dict[str, Any] = {"str": str, "int": int, "bool": bool, "number": (int, float), "null": object}


class Replay:
    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        self._token = ""
        self._captcha = ""

    def send(self, call: dict[str, Any]) -> httpx.Response:
        body, headers = call.get("body"), {}
        if body is not None:
            headers["content-type"] = call["type"]
        if call.get("bearer"):
            headers["authorization"] = f"Bearer {self._token}"
        content = body if isinstance(body, str) else "" if body is None else json.dumps(body)
        answer = self._client.request(
            call["method"],
            call["path"] + (f"?{query}" if (query := call.get("query")) else ""),
            content=content.replace("{captcha}", self._captcha).replace("{password}", PASSWORD).encode(),
            headers=headers,
        )
        if answer.status_code == 200 and call["path"].endswith("/auth/captcha"):
            self._captcha = answer.json()["data"]["captchaId"]
        if answer.status_code == 200 and call["path"].endswith("/auth/login"):
            self._token = answer.json()["data"]["accessToken"]
        return answer


def fits(value: Any, shape: Any, where: str) -> None:
    """All that was there is there, and of the same type; a list is judged by its first."""
    if isinstance(shape, dict):
        assert isinstance(value, dict), where
        for name, inner in shape.items():
            assert name in value, f"{where}.{name}"
            fits(value[name], inner, f"{where}.{name}")
    elif isinstance(shape, list):
        assert isinstance(value, list), where
        if shape and value:
            fits(value[0], shape[0], f"{where}[0]")
    else:
        assert value is None or isinstance(value, KINDS[shape]), f"{where} is {value!r} and not {shape}"


def test_every_generation_is_recorded() -> None:
    assert [path.stem for path in RECORDINGS] == ["recorded_current", "recorded_older", "recorded_oldest"]


@pytest.fixture
def started(engine_set: str, engines: None, tmp_path: Path) -> Iterator[Local]:
    """As a first start leaves it."""
    with Local(tmp_path / "data", **InProcess.engines(True)) as local:
        yield local


@pytest.mark.every_engine
@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_what_a_console_sent_still_works(started: Local, recording: Path) -> None:
    calls = json.loads(recording.read_text(encoding="utf-8"))
    assert len(calls) > 80
    with started.client() as client:
        replay = Replay(client)
        for call in calls:
            answer = replay.send(call)
            where = f"{call['step']}: {call['method']} {call['path']}"
            assert answer.status_code == 200, f"{where}: {answer.text[:300]!r}"
            if call.get("file"):
                assert answer.headers["content-type"].startswith("application/vnd.openxml"), where
                continue
            assert answer.json()["code"] == "00000", where
            if "data" in call:
                fits(answer.json()["data"], call["data"], where)

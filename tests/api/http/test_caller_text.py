"""What a caller writes fills no cache and no log line."""

from __future__ import annotations

import itertools
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from gatehouse.api.http import client_address, request, response
from gatehouse.auth.authentication import Authenticator
from gatehouse.common.parsing import networks
from tests.support.inprocess import InProcess

SIZE = 50_000
MANY = 200
_numbers = itertools.count()


def kept_by(work: Callable[[str], object]) -> int:
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in itertools.islice(_numbers, MANY):  # never the same text twice: it would be cached already
            work(f"{number:x}" + "é" * SIZE)
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "read",
    [
        response.language_of,
        lambda text: response.language_of("zh," + text),
        request._is_json,
        lambda text: request._is_json("application/json;" + text),
        lambda text: client_address.is_trusted(text, ()),
        lambda text: client_address.client_address("127.0.0.1", networks("127.0.0.1"), [text], []),
    ],
)
def test_header_text_is_not_kept(read: Callable[[str], object]) -> None:
    assert kept_by(read) < MANY * 2_000


def test_a_log_line_holds_no_more_than_the_beginning_of_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(Authenticator, "authenticate", broken)
    with InProcess(tmp_path / "data") as gatehouse:
        path = "/api/v1/users/me/sessions/" + "a" * 900
        assert gatehouse.request("DELETE", path, token="x").code == "B0001"
    [line] = map(json.loads, capsys.readouterr().err.splitlines())
    assert path.startswith(line["path"])
    assert 60 < len(line["path"]) < 600

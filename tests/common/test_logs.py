"""How log lines are written: whole, in order, in ASCII, and not one write for each."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from gatehouse.common import logs
from gatehouse.common.logs import log
from tests.support.waiting import async_wait_until


class File(io.StringIO):
    """Remembers how often it was written to."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[str] = []

    def write(self, text: str) -> int:
        self.writes.append(text)
        return super().write(text)


@pytest.fixture
def file(monkeypatch: pytest.MonkeyPatch) -> Iterator[File]:
    before = log.level, log.render
    file = File()
    monkeypatch.setattr(logs, "sys", SimpleNamespace(stderr=file))  # pytest puts its own into `sys` before each test
    logs.configure("info", "json")
    yield file
    log.level, log.render = before


def events(file: File) -> list[str]:
    return [json.loads(line)["event"] for line in file.getvalue().splitlines()]


async def written(file: File, writes: int) -> None:
    async def is_written() -> bool:
        return len(file.writes) >= writes

    await async_wait_until(is_written, lambda: f"{writes} writes, not {len(file.writes)}")


async def test_lines_of_a_moment_are_one_write(file: File) -> None:
    for event in ("first", "second", "third"):
        log.info(event)
        await asyncio.sleep(0)
    assert file.writes == []
    await written(file, 1)
    assert len(file.writes) == 1
    assert events(file) == ["first", "second", "third"]
    log.info("later")
    await written(file, 2)


async def test_what_waits_is_written_at_the_end(file: File) -> None:
    log.info("last")
    logs.flush()
    assert events(file) == ["last"]


async def test_a_warning_does_not_wait_and_keeps_its_place(file: File) -> None:
    log.info("before")
    log.warning("trouble")
    assert events(file) == ["before", "trouble"]


async def test_an_exception_is_written_at_once_with_its_traceback(file: File) -> None:
    try:
        raise ValueError("odd")
    except ValueError:
        log.exception("unexpected error")
    written = json.loads(file.getvalue())
    assert written["level"] == "error"
    assert "ValueError: odd" in written["exception"]


def test_a_thread_without_an_event_loop_writes_at_once(file: File) -> None:
    thread = threading.Thread(target=log.info, args=("from a thread",))
    thread.start()
    thread.join()
    assert events(file) == ["from a thread"]


def test_a_loop_that_ended_before_it_flushed_holds_nothing_up(file: File) -> None:
    loop = asyncio.new_event_loop()
    loop.call_soon(log.info, "last")
    loop.call_soon(loop.stop)
    loop.run_forever()
    loop.close()
    log.info("after the loop")
    assert events(file) == ["last", "after the loop"]


def test_a_line_is_ascii_and_one_line_whatever_is_in_it(file: File) -> None:
    log.info("plain", user=1)
    log.info("odd", text="\u2028\x9b\n\udc80", number=2**80, thing=ValueError("x"))
    plain, odd = file.getvalue().splitlines()
    assert plain.startswith('{"user": 1, "event": "plain", "level": "info", "timestamp": "')
    assert odd.isascii()
    assert json.loads(odd)["text"] == "\u2028\x9b\n\udc80"
    assert json.loads(odd)["number"] == 2**80
    assert json.loads(odd)["thing"] == "ValueError('x')"


def test_on_a_terminal_a_value_cannot_forge_a_line(file: File) -> None:
    logs.configure("info", "pretty")
    log.warning("store unavailable", problem="a\nforged \x1b[31m line", user=1, word="plain")
    [line] = file.getvalue().splitlines()
    assert line.endswith(
        r"[warning] store unavailable              problem='a\nforged \x1b[31m line' user=1 word=plain"
    )

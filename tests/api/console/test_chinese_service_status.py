"""Every setting and every finding of the doctor has Chinese words for the administration page."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from types import ModuleType

import pytest

from gatehouse.api.endpoints.console.chinese_checks import check_in_chinese
from gatehouse.api.endpoints.console.chinese_settings import MEANINGS, source_in_chinese
from gatehouse.doctor import diagnosis
from gatehouse.settings.description import descriptions
from gatehouse.stores.database import sql_engine as database
from gatehouse.stores.state.postgres import server_configuration as postgres_configuration
from gatehouse.stores.state.redis import engine as redis_engine
from gatehouse.stores.state.redis import server_configuration as redis_configuration
from gatehouse.stores.state.sqlite import engine as sqlite_engine
from tests.api.console.conftest import Console

CHINESE = re.compile(r"[\u4e00-\u9fff]")
# Functions that write sentences, by module; without names: all of the module.
WRITERS: dict[ModuleType, set[str]] = {
    diagnosis: set(),
    postgres_configuration: set(),
    redis_configuration: {"warnings", "_of_info", "_of_config"},
    database: {"configuration_warnings"},
    redis_engine: {"durability"},
    sqlite_engine: {"durability"},
}


def sentences(module: ModuleType, functions: set[str]) -> Iterator[str]:
    """Its sentences with 7 in the place of each value: strings with a space that are not docstrings."""
    for function in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and (
            not functions or function.name in functions
        ):
            yield from _written(function)


def _written(function: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(function):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue  # a docstring
        if isinstance(child, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "7" for part in child.values]
            yield from _if_sentence("".join(map(str, parts)))
        elif isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield from _if_sentence(child.value)
        else:
            yield from _written(child)


def _if_sentence(text: str) -> Iterator[str]:
    names = {"test switches", "signing keys", "second factor"}  # of checks, which are keys
    if " " in text and text not in names and not text.startswith(("SELECT", "chmod")):
        yield text


ALL = sorted({each for module, functions in WRITERS.items() for each in sentences(module, functions)})


def test_the_sentences_are_found() -> None:
    assert len(ALL) > 40
    assert "7 worker(s) on 7 core(s)" in ALL


@pytest.mark.parametrize("sentence", [each for each in ALL if each != "7; 7 older one(s) to decrypt with"])
def test_a_finding_has_chinese_words(sentence: str) -> None:
    assert CHINESE.search(check_in_chinese(sentence)), sentence


def test_values_keep_their_places() -> None:
    assert check_in_chinese("strong enough, from /data/secret; 2 older ones to decrypt with") == (
        "强度足够，来自 /data/secret；另有 2 个可解密"
    )
    assert check_in_chinese("1 worker on 2 cores") == "1 个工作进程，2 个 CPU 核"
    told = "synchronous_commit is off, synchronous_standby_names is empty: a failover can lose the last acknowledged"
    assert check_in_chinese(f"{told} writes, a restart of the server none").startswith(
        "synchronous_commit 为 off，synchronous_standby_names 为 空：故障转移"
    )
    assert check_in_chinese("connection refused") == "connection refused"


def test_every_setting_has_a_chinese_meaning() -> None:
    assert set(MEANINGS) == {each.variable for each in descriptions()}
    assert all(CHINESE.search(meaning) for meaning in MEANINGS.values())
    assert source_in_chinese("port in the settings file") == "设置文件中的 port"
    assert source_in_chinese("--port") == "--port"


def test_the_administration_answers_in_chinese(console: Console) -> None:
    headers = {"accept-language": "zh-CN"}
    for path, rows in (("settings", "settings"), ("settings/checks", "checks")):
        data = console.gatehouse.request("GET", f"/api/v1/{path}", token=console.token, headers=headers).data[rows]
        said = [each.get("meaning") or each["found"] + each["advice"] for each in data]
        plain = [each for each in said if not CHINESE.search(each)]
        # The address of the service is all that is said of the issuer.
        assert all(each.startswith("http://127.0.0.1") for each in plain), plain

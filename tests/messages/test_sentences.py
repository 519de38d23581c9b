"""The catalogue of messages: each is used, and what is used is there, in every language."""

from __future__ import annotations

import ast
import json
import re
import shutil
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import gatehouse.version
from gatehouse.api.console.user_import_and_export import EXPORTED
from gatehouse.api.error_catalogue import CATALOGUE
from gatehouse.api.http import response
from gatehouse.api.pages.pages import PART_WORDS
from gatehouse.auth.audit import Event
from gatehouse.auth.refusals import Need, PasswordProblem
from gatehouse.management.activity_log import Way
from gatehouse.management.client_recipes import RECIPES
from gatehouse.management.default_menus import default_menus
from gatehouse.messages import in_language, languages, message, section, sentences
from gatehouse.settings.settings import setting_fields
from gatehouse.stores.database.menus import MenuType
from gatehouse.stores.database.roles import DataScope
from gatehouse.transfer.import_rows import Problem
from tests.support.inprocess import InProcess

PACKAGE = Path(gatehouse.version.__file__).parent
STATIC = PACKAGE / "api/pages/static"
CHINESE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")
GENDERS = {"0", "1", "2"}

# Sections whose codes are named by something else, which knows them all.
NAMED: dict[str, Iterable[str]] = {
    "errors": {kind.__name__ for kind in CATALOGUE},
    "needs": {need.name.lower() for need in Need},
    "passwords": {problem.name.lower() for problem in PasswordProblem},
    "settings": {f"GATEHOUSE_{field.name.upper()}" for field in setting_fields()},
    "recipes": set(RECIPES),
    "events": set(Event),
    "operators": set(Way),
    "menus": {menu.name for menu in default_menus(0) if menu.type is not MenuType.BUTTON},
    "menu_buttons": {menu.name for menu in default_menus(0) if menu.type is MenuType.BUTTON},
    "data_scopes": {scope.name.lower() for scope in DataScope},
    "genders": GENDERS,
    "sheet_genders": GENDERS,
    "sheet_columns": set(EXPORTED),
    "sheet_problems": set(Problem),
}


class Use(NamedTuple):
    """A call of `message`. A code that is put together ends after its section: `needs.`."""

    code: str
    values: set[str]


@cache
def uses() -> list[Use]:
    sources = [file.read_text() for file in PACKAGE.rglob("*.py")]
    named = [source for source in sources if re.search(r"\b(message|section)\(", source)]
    return [use for source in named for node in ast.walk(ast.parse(source)) for use in _used_by(node)]


def _used_by(node: ast.AST) -> Iterator[Use]:
    match node:
        case ast.Call(func=ast.Name("message"), args=[code], keywords=values):
            named = {value.arg for value in values if value.arg}
            yield from (Use(text, named) for text in _texts(code))
        case ast.Subscript(
            value=ast.Call(func=ast.Name("section"), args=[ast.Constant(str(name)), *_]), slice=ast.Constant(str(code))
        ):
            yield Use(f"{name}.{code}", set())


def _texts(code: ast.expr) -> Iterator[str]:
    match code:
        case ast.Constant(str(text)) | ast.JoinedStr([ast.Constant(str(text)), *_]):
            yield text
        case ast.IfExp():
            yield from (text for branch in (code.body, code.orelse) for text in _texts(branch))


def placeholders(sentence: str) -> set[str]:
    return set(re.findall(r"\{(\w+)", sentence))


def same_values(translated: str, english: str) -> bool:
    """Choices by number, `{count:user|users}`, may differ: not every language has plurals."""
    shown = re.compile(r"\{(\w+)\}")
    return set(shown.findall(translated)) == set(shown.findall(english)) and (
        placeholders(translated) <= placeholders(english)
    )


def sentences_of(language: str) -> dict[str, str]:
    content = json.loads((sentences.FOLDER / f"{language}.json").read_bytes())
    return {f"{name}.{code}": sentence for name, codes in content.items() for code, sentence in codes.items()}


ENGLISH = sentences_of("en")


@pytest.mark.parametrize("language", languages())
def test_a_language_has_every_sentence_with_the_same_values(language: str) -> None:
    translated = sentences_of(language)
    assert list(translated) == list(ENGLISH)
    assert {code for code in ENGLISH if not same_values(translated[code], ENGLISH[code])} == set()
    assert [code for code, sentence in translated.items() if not sentence.strip()] == []
    assert section("language", language)["tag"].partition("-")[0] == language


def test_every_sentence_is_used_and_every_used_one_is_there() -> None:
    used = {use.code for use in uses() if not use.code.endswith(".")}
    used |= {f"{name}.{code}" for name, codes in NAMED.items() for code in codes}
    of_service = {code for code in ENGLISH if not code.startswith("pages")}
    assert used - of_service == set(), "without a sentence"
    assert of_service - used == set(), "that nothing says"


def test_a_sentence_is_given_the_values_that_it_names() -> None:
    for code, values in uses():
        if code.endswith("."):
            named = set().union(*(placeholders(text) for each, text in ENGLISH.items() if each.startswith(code)))
            assert named <= values, code
        else:
            assert placeholders(ENGLISH[code]) == values, code
    of_errors = set().union(*map(placeholders, section("errors").values()))
    assert of_errors <= {"field", "url", "need", "problem", "wait"}, "what `_values` of `errors.py` gives"


def test_every_word_of_the_pages_is_used_and_every_used_one_is_there() -> None:
    parts = [section(name) for name in ("pages", *PART_WORDS.values())]
    words, used = {key: text for part in parts for key, text in part.items()}, set()
    assert len(words) == sum(map(len, parts)), "each in one of them"
    for file in (*STATIC.glob("*.html"), *STATIC.glob("*.js"), *(PACKAGE / "api/oauth").glob("*.py")):
        text = file.read_text()
        used |= set(re.findall(r'data-t(?:-\w+)?="([\w.]+)"', text))
        used |= {key for key in words if f'"{key}"' in text}
    # Some are named by a code of the contract, or put together.
    made_up = {key for key in words if re.fullmatch(r"[ABC]\d{4}", key)}
    made_up |= {"offline", "login.ended", "login.left", "login.with", "docs.required", "docs.either"}
    put_together = (
        *("part.", "check.", "reason.", "detail.", "scope."),
        *("login.problem.", "identities.problem.", "flow.problem.", "flow.scope."),
    )
    made_up |= {key for key in words if key.startswith(put_together)}
    made_up |= {key for key in words if re.fullmatch(r"(settings|overview)\.(ok|warn|fail)|logins\.by\.\w+", key)}
    made_up |= {
        key
        for key in words
        if key.startswith(("app.field.", "field.", "kind.", "step.", "arrival.", "table.", "sync."))
    }
    made_up |= {key for key in words if key.removesuffix(".hint") in used}
    assert used | made_up == set(words)


def test_sentences_are_nowhere_but_in_the_catalogue() -> None:
    files = [file for suffix in ("py", "js", "html", "css") for file in PACKAGE.rglob(f"*.{suffix}")]
    assert len(files) > 300
    assert [str(file) for file in files if CHINESE.search(file.read_text())] == []


def test_values_are_filled_in() -> None:
    workers = message("findings.workers", workers=1, cores=2)
    assert str(workers) == "1 worker on 2 cores"
    assert in_language(workers, "zh") == "1 个工作进程，2 个 CPU 核"
    empty = message("findings.no_standbys")
    durability = message("findings.durability_not_replicated", commit="off", standbys=empty)
    assert str(durability).startswith("synchronous_commit is off, synchronous_standby_names is empty: a failover")
    assert in_language(durability, "zh").startswith(
        "synchronous_commit 为 off，synchronous_standby_names 为 空：故障转移"
    )
    assert in_language("connection refused", "zh") == "connection refused"
    text = message("findings.secret", source="a folder {source}")
    assert str(text) == "strong enough, from a folder {source}", "a value is not read as a sentence"


def forget_languages() -> None:
    for cached in (sentences.languages, sentences._sections, response._language_of):
        cached.cache_clear()


@pytest.fixture
def with_german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = tmp_path / "messages"
    shutil.copytree(sentences.FOLDER, folder)
    content = json.loads((folder / "en.json").read_bytes())
    content["language"] = {"tag": "de-DE", "name": "Deutsch"}
    content["errors"]["CredentialsWrong"] = "Name oder Passwort falsch"
    content["pages"]["login.title"] = "Anmelden"
    (folder / "de.json").write_text(json.dumps(content))
    monkeypatch.setattr(sentences, "FOLDER", folder)
    forget_languages()
    yield
    monkeypatch.undo()
    forget_languages()


@pytest.mark.usefixtures("with_german")
def test_a_third_language_is_one_file(tmp_path: Path) -> None:
    german = {"accept-language": "de-AT,en;q=0.8"}
    with InProcess(tmp_path / "data") as running:
        assert running.login(password="wrong", headers=german).json["msg"] == "Name oder Passwort falsch"
        page = running.request("GET", "/", headers=german).content.decode()
        assert '<html lang="de-DE"' in page
        assert ">Anmelden</h1>" in page
        assert '<span lang="en">English</span>' in page, "the next language of the switch"
        assert re.search(r'words/de\.json"', page)
        chosen = running.request("GET", "/", headers={"cookie": "gatehouse_language=de"}).content.decode()
        assert '<html lang="de-DE"' in chosen
        english = running.request("GET", "/", headers={"accept-language": "fr"}).content.decode()
        assert '<span lang="zh-CN">中文</span>' in english

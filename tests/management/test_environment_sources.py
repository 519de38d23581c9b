"""Sources of identity that variables define: each start writes them, and nobody else changes them."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from gatehouse.server.preparation import prepare
from gatehouse.settings import SettingsError, load
from tests.cli.terminal import Terminal
from tests.support.running import Installation
from tests.support.shared import shared

CORP = {"KIND": "directory", "URLS": "ldaps://ldap.example.org", "BASE": "dc=example,dc=org", "SECRET": "hush, hush"}


class Company:
    def __init__(self, installation: Installation) -> None:
        self.installation = installation
        self.typed = Terminal(installation.env)

    def start(self, **sources: dict[str, str]) -> None:
        """What a start does before it serves."""
        variables = {
            f"GATEHOUSE_SOURCE_{name}_{field}": text for name, given in sources.items() for field, text in given.items()
        }
        asyncio.run(prepare(load(environ=self.installation.env | variables)))

    def listed(self) -> dict[str, Any]:
        return {each["name"]: each for each in self.typed("directory", "list", "--json").json}

    def events(self) -> list[dict[str, Any]]:
        said = self.typed("audit", "--json", "--event", "source.added", "--event", "source.changed").out
        return [json.loads(line) for line in said.splitlines()]


@pytest.fixture
def company(tmp_path: Path) -> Company:
    installation = Installation(tmp_path / "data")
    shutil.copytree(shared().get("data_folder"), installation.data)
    return Company(installation)


def test_a_source_is_added_changed_disabled_and_comes_back(company: Company) -> None:
    company.start(CORP=CORP)
    assert (company.listed()["corp"]["enabled"], company.listed()["corp"]["origin"]) == (True, "environment")
    company.start(CORP=CORP)
    assert len(company.events()) == 1, "a second start with the same variables changes nothing"
    company.start(CORP=CORP | {"TITLE": "Head office", "SECRET": "another"})
    assert company.listed()["corp"]["title"] == "Head office"
    company.start()
    assert company.listed()["corp"]["enabled"] is False
    company.start(CORP=CORP)
    assert company.listed()["corp"]["enabled"] is True
    events = company.events()
    assert [each["event"] for each in events] == ["source.added", *["source.changed"] * 3]
    assert "hush" not in json.dumps(events)


def test_only_the_environment_changes_it(company: Company) -> None:
    company.start(CORP=CORP)
    for words in (["edit", "corp", "--timeout", "3"], ["disable", "corp"], ["remove", "corp", "--yes"]):
        assert "defined by the environment" in company.typed("directory", *words).refused()
    company.start()
    company.typed("directory", "remove", "corp", "--yes").done()
    assert company.listed() == {}


def test_a_start_with_wrong_variables_ends_with_their_names_and_changes_nothing(company: Company) -> None:
    company.start(CORP=CORP)
    with pytest.raises(SettingsError) as refused:
        company.start(CORP=CORP | {"TIMEOUT": "60", "TITLE": "New"}, SSO={"KIND": "openid", "CLIENT_ID": "x"})
    assert sorted(problem.partition(":")[0] for problem in refused.value.problems) == [
        "GATEHOUSE_SOURCE_CORP_TIMEOUT",
        "GATEHOUSE_SOURCE_SSO_ISSUER",
    ]
    assert company.listed()["corp"]["title"] == "corp"


def test_a_source_that_was_added_by_hand_is_not_taken_over(company: Company) -> None:
    company.typed("directory", "add", "corp", "--url", "ldaps://other.example.org", "--base", "dc=x").done()
    with pytest.raises(SettingsError, match="GATEHOUSE_SOURCE_CORP_KIND: there is a source corp already"):
        company.start(CORP=CORP, NEW=CORP)
    assert company.listed().keys() == {"corp"}, "all or none"


def test_the_kind_of_a_source_stays(company: Company) -> None:
    company.start(SSO=CORP)
    with pytest.raises(SettingsError, match="was of kind directory"):
        company.start(SSO={"KIND": "feishu", "CLIENT_ID": "x"})


def test_doctor_names_a_wrong_variable(company: Company) -> None:
    company.typed.env["GATEHOUSE_SOURCE_CORP_COLOUR"] = "red"
    outcome = company.typed("doctor")
    assert outcome.code == 1
    assert "fail settings      GATEHOUSE_SOURCE_CORP_COLOUR: a source has no such field" in outcome.out
    assert "all valid" not in outcome.out

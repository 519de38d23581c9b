"""`docs/cli.md` has a section for every command, and the section names every option."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from tests.cli.test_commands import ALL

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
SECTIONS = dict(re.findall(r"^### `gatehouse ([^`]+)`\n(.*?)(?=^##|\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL))
LEAVES = {words for words, command in ALL.items() if not isinstance(command, click.Group)}


def test_there_is_a_section_for_every_command_and_for_nothing_else() -> None:
    assert set(SECTIONS) == LEAVES


@pytest.mark.parametrize("words", sorted(LEAVES - {"serve"}))  # whose flags are the settings, documented by themselves
def test_a_section_shows_the_command_and_names_its_options(words: str) -> None:
    section = SECTIONS[words]
    assert re.search(rf"^\$ (.* \| )?gatehouse {words}", section, re.MULTILINE)
    for option in ALL[words].params:
        if isinstance(option, click.Option):
            for name in (option.opts[0], *option.secondary_opts):
                assert f"`{name}`" in section

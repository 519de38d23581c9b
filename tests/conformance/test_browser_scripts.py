"""The suite itself runs by hand; that its browser finds our elements is tried here, where somebody may rename one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import gatehouse.api.pages
from tests.conformance.browser_scripts import scripts

PAGES = Path(gatehouse.api.pages.__file__).parent / "static"
OF_THE_SUITE = {"submission_complete"}


def ids(value: object) -> Iterator[str]:
    match value:
        case [str(), "id", str(name), *_]:
            yield name
        case dict():
            for each in value.values():
                yield from ids(each)
        case list():
            for each in value:
                yield from ids(each)


def test_what_the_scripts_look_for_is_on_our_pages() -> None:
    there = {name for page in PAGES.glob("flow*.html") for name in re.findall(r'\bid="([\w-]+)"', page.read_text())}
    wanted = set(ids(scripts("https://localhost:9444"))) - OF_THE_SUITE
    assert {"username", "password", "captchaCode", "sign-in", "log-out", "logged-out", "problem"} <= wanted
    assert wanted <= there

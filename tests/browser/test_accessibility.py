"""axe finds no serious fault on any page: both sizes, themes and languages; as it arrives and when something is wrong.

The parts of the administration are looked at in `test_admin.py`.
"""

from __future__ import annotations

import itertools
import json
from typing import NamedTuple

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import SIZES
from tests.browser.conftest import Visiting
from tests.browser.test_qr import ConsoleBrowser
from tests.browser.visits import Visit, arrived
from tests.support.running import ANSWER, PASSWORD, Running

GRAVE = {"serious", "critical"}
LOCALES = {"en": "en-GB", "zh": "zh-CN"}
USUAL = ("phone", "dark", "zh")  # without --all, as what goes wrong most easily is in it
LOOKS = [
    pytest.param(look, marks=[] if look == USUAL else pytest.mark.full, id="-".join(look))
    for look in itertools.product(SIZES, ("light", "dark"), LOCALES)
]


class Look(NamedTuple):
    """A visit in one size, theme and language, and how it is judged."""

    visit: Visit
    width: int
    language: str
    axe: str

    def judge(self, page: Page, *parts: str) -> None:
        """The whole page, or these parts of it."""
        assert faults(page, self.axe, *parts) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= self.width
        assert page.locator("html").get_attribute("lang") == {"en": "en", "zh": "zh-CN"}[self.language]


@pytest.fixture(params=LOOKS)
def look(request: pytest.FixtureRequest, visiting: Visiting, running: Running, axe: str) -> Look:
    size, theme, language = request.param
    # Still pictures: colours in the middle of a transition are nobody's colours.
    visit = visiting(running, color_scheme=theme, reduced_motion="reduce", locale=LOCALES[language], **SIZES[size])
    return Look(visit, SIZES[size]["viewport"]["width"], language, axe)


def faults(page: Page, axe: str, *parts: str) -> list[str]:
    if page.evaluate("typeof window.axe === 'undefined'"):
        page.evaluate(axe)
    where = {"include": [[part] for part in parts]} if parts else None
    result = page.evaluate("where => axe.run(where ?? document, { resultTypes: ['violations'] })", where)
    return [
        f"{fault['id']}: {fault['help']}: {node['target']} {node['failureSummary']}"
        for fault in result["violations"]
        if fault["impact"] in GRAVE
        for node in fault["nodes"]
    ]


def log_in(page: Page, password: str = PASSWORD) -> None:
    """By ids, in any language."""
    page.locator("#captcha-image[src]").wait_for()
    for name, value in (("username", "admin"), ("password", password), ("captcha", ANSWER)):
        page.locator(f"#{name}").fill(value)
    page.locator("#submit").click()


def test_login_and_account(look: Look) -> None:
    page = look.visit.page()
    page.locator("#captcha-image[src]").wait_for()
    look.judge(page)
    log_in(page, "wrong password")
    expect(page.locator("#password-message")).not_to_be_empty()
    look.judge(page)
    log_in(page)
    arrived(page)
    look.judge(page)
    page.locator("#change-submit").click()
    expect(page.locator("#current-message")).not_to_be_empty()
    look.judge(page)


@pytest.mark.full
def test_nothing_moves_for_those_whom_it_disturbs(visiting: Visiting, running: Running) -> None:
    page = visiting(running, reduced_motion="reduce").page()
    page.locator("#captcha-image[src]").wait_for()
    moving = page.evaluate(
        """() => {
          document.getElementById("submit").setAttribute("aria-disabled", "true");
          document.getElementById("captcha-reload").setAttribute("aria-busy", "true");
          return document.getAnimations().map(({ effect }) => effect.target.outerHTML.slice(0, 90));
        }"""
    )
    assert moving == []


@pytest.mark.full
def test_docs(look: Look, request: pytest.FixtureRequest) -> None:
    page = look.visit.page("/docs")
    captcha = page.locator("#captcha_get")
    captcha.locator(".send-line .button").click()
    expect(captcha.locator("img.picture")).to_be_visible()
    # All operations are drawn by the same lines: all of them are looked at twice, one of them always.
    whole = request.node.callspec.id in {"desktop-light-en", "phone-dark-zh"}
    look.judge(page, *([] if whole else ["header", "nav", "#captcha_get"]))


@pytest.mark.full
def test_qr(look: Look) -> None:
    ticket = ConsoleBrowser(look.visit.page("/docs")).ticket
    page = look.visit.context.new_page()
    page.goto(ticket)
    expect(page.locator("#ask a")).to_be_visible()
    look.judge(page)
    page.goto(look.visit.url)
    log_in(page)
    arrived(page)
    page.goto(ticket)
    expect(page.locator(".facts")).to_be_visible()
    look.judge(page)
    page.locator("#ask .danger").click()
    expect(page.locator("#ask .danger")).to_have_count(0)
    look.judge(page)
    page.goto(look.visit.url + "/qr?ticket=made-up")
    expect(page.locator("#ask h1")).to_have_attribute("data-t", "qr.gone")
    look.judge(page)


@pytest.mark.full
def test_set_password(look: Look, running: Running, person: str) -> None:
    link = json.loads(running.cli("user", "link", person, "--json").stdout)["url"]
    page = look.visit.page("/set-password#" + link.partition("#")[2])
    expect(page.locator("#form")).to_be_visible()
    look.judge(page)
    page.locator("#fresh").fill("password1")
    page.locator("#submit").click()
    expect(page.locator("#fresh")).to_have_attribute("aria-invalid", "true")
    look.judge(page)
    page.goto(look.visit.url + "/set-password#made-up")  # another link, in the same tab
    expect(page.locator("h1")).to_have_attribute("data-t", "setpass.gone")
    look.judge(page)

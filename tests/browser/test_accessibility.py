"""axe finds no serious fault on any page, in either theme, as it arrives and as it looks when something is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import SIZES
from tests.browser.conftest import Visiting
from tests.browser.visits import Visit, log_in
from tests.support.running import Running

AXE = Path(__file__).parent / "node_modules/axe-core/axe.min.js"
GRAVE = {"serious", "critical"}


@pytest.fixture(scope="module")
def axe() -> str:
    if not AXE.exists():
        pytest.skip("axe-core is not installed; with npm on the PATH `make test` installs it")
    return AXE.read_text()


@pytest.fixture(params=[("light", "desktop"), ("dark", "phone")], ids="-".join)
def visit(request: pytest.FixtureRequest, visiting: Visiting, running: Running) -> Visit:
    """Each theme and each size once: the colours do not depend on the size, nor the names on the theme."""
    theme, size = request.param
    # Still pictures: colours in the middle of a transition are nobody's colours.
    return visiting(running, color_scheme=theme, reduced_motion="reduce", **SIZES[size])


def faults(page: Page, axe: str) -> list[str]:
    page.evaluate(axe)
    result = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{fault['id']}: {fault['help']}: {node['target']} {node['failureSummary']}"
        for fault in result["violations"]
        if fault["impact"] in GRAVE
        for node in fault["nodes"]
    ]


def test_login(visit: Visit, axe: str) -> None:
    page = visit.page()
    page.locator("#captcha-image[src]").wait_for()
    assert faults(page, axe) == []
    log_in(page, password="wrong password")
    expect(page.locator("#password-message")).not_to_be_empty()
    assert faults(page, axe) == []


def test_account(visit: Visit, axe: str) -> None:
    page = visit.logged_in()
    assert faults(page, axe) == []
    page.get_by_role("button", name="Change password").click()
    expect(page.locator("#current-message")).not_to_be_empty()
    assert faults(page, axe) == []


def test_docs(visit: Visit, axe: str) -> None:
    page = visit.page("/docs")
    captcha = page.locator("#captcha_get")
    captcha.get_by_role("button", name="Send").click()
    expect(captcha.locator("img.picture")).to_be_visible()
    assert faults(page, axe) == []

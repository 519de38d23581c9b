"""Everything that a person must read or use is painted and can be reached: every page and dialog, size and language.

The walk names buttons by the keys of their words, so that it is the same in every language.
"""

from __future__ import annotations

import itertools
import json
import secrets
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.chromium import SIZES
from tests.browser.conftest import Serving, Visiting, add_person
from tests.browser.painted import in_sight, unreadable
from tests.browser.test_accessibility import LOCALES, log_in
from tests.browser.test_qr import ConsoleBrowser
from tests.browser.visits import Visit, arrived
from tests.support.conversation import LOGIN, bearer, credentials, login
from tests.support.running import PASSWORD, Running

SCREENS: dict[str, dict[str, Any]] = {
    **SIZES,
    "tablet": {"viewport": {"width": 820, "height": 1180}, "has_touch": True},
    "landscape": {"viewport": {"width": 740, "height": 360}, "is_mobile": True, "has_touch": True},
}
USUAL = ("phone", "zh")  # without --all
LOOKS = list(itertools.product(SCREENS, LOCALES))
OFTEN = [pytest.param(look, id="-".join(look), marks=[] if look == USUAL else pytest.mark.full) for look in LOOKS]
SELDOM = [pytest.param(look, id="-".join(look), marks=pytest.mark.full) for look in LOOKS]


class Reader(NamedTuple):
    """Somebody at one screen, who reads one language."""

    visit: Visit
    page: Page

    def judge(self, *, where: str = "") -> None:
        assert unreadable(self.page) == [], where

    def press(self, words: str) -> None:
        """A button by its words, in the dialog on top if there is one."""
        self.top.locator(f"[data-t='{words}']:visible").first.click()

    def opens(self, words: str) -> Locator:
        """A dialog that a button opens, judged."""
        before = self.page.locator("dialog[open]").count()
        self.press(words)
        expect(self.page.locator("dialog[open]")).to_have_count(before + 1)
        self.judge(where=words)
        return self.top

    def refused(self, where: str) -> None:
        """What the form on top says when it is sent: read at once, and nothing covered by it."""
        self.top.locator("form .button").last.click()
        alert = self.top.get_by_role("alert")
        expect(alert).not_to_be_empty()
        assert in_sight(alert), f"{where}: the message is not in sight"
        self.judge(where=f"{where}, refused")

    def close(self) -> None:
        """Until the element is gone, too: only then does the focus go back, which disturbs whoever types meanwhile."""
        before = self.page.locator("dialog").count()
        self.page.keyboard.press("Escape")
        expect(self.page.locator("dialog")).to_have_count(before - 1)

    def part(self, name: str) -> None:
        self.page.goto(f"{self.visit.url}/admin#{name}")
        expect(self.page.locator(f"#rail [data-part={name}]")).to_have_attribute("aria-current", "page")
        expect(self.page.locator("[aria-busy=true], .waiting")).to_have_count(0)

    @property
    def top(self) -> Locator:
        dialogs = self.page.locator("dialog[open]")
        return dialogs.last if dialogs.count() else self.page.locator("body")


Reading = Callable[..., Reader]


@pytest.fixture
def reading(visiting: Visiting, running: Running) -> Reading:
    def read(look: tuple[str, str], at: Running = running, path: str = "/") -> Reader:
        size, language = look
        visit = visiting(at, reduced_motion="reduce", locale=LOCALES[language], **SCREENS[size])
        return Reader(visit, visit.page(path))

    return read


@pytest.fixture
def administrator(reading: Reading, running: Running) -> Callable[[tuple[str, str]], Reader]:
    def read(look: tuple[str, str], at: Running = running) -> Reader:
        reader = reading(look, at)
        log_in(reader.page)
        arrived(reader.page)
        return reader

    return read


@pytest.mark.parametrize("look", SELDOM)
def test_login(reading: Reading, look: tuple[str, str]) -> None:
    reader = reading(look)
    reader.page.locator("#captcha-image[src]").wait_for()
    reader.judge()
    reader.page.locator("#submit").click()
    expect(reader.page.locator("#password-message")).not_to_be_empty()
    reader.judge(where="empty")
    log_in(reader.page, "wrong password")
    expect(reader.page.locator("#password-message")).to_have_attribute("data-t", "A0210")
    reader.judge(where="wrong password")


@pytest.mark.parametrize("look", SELDOM)
def test_account(administrator: Callable[..., Reader], look: tuple[str, str]) -> None:
    reader = administrator(look)
    reader.judge()
    reader.page.locator("#change-submit").click()
    expect(reader.page.locator("#current-message")).not_to_be_empty()
    reader.judge(where="empty password")
    reader.opens("profile.edit")
    reader.close()
    reader.opens("factor.app.add")
    reader.refused("factor.app.add")
    reader.close()


@pytest.mark.parametrize("look", SELDOM)
def test_an_app_is_set_up_because_it_is_required(reading: Reading, serving: Serving, look: tuple[str, str]) -> None:
    reader = reading(look, serving(second_factor_roles="ADMIN"))
    log_in(reader.page)
    reader.page.locator("img.qr").wait_for()
    reader.judge()
    reader.page.locator("#totp-code").fill("000000")
    reader.refused("totp")


@pytest.mark.parametrize("look", OFTEN)
def test_users(administrator: Callable[..., Reader], running: Running, look: tuple[str, str]) -> None:
    reader, name = administrator(look), add_person(running)
    page, longest = reader.page, secrets.token_hex(32)
    running.cli("user", "add", longest, "--nickname", longest.upper(), "--random-password")
    with running.client() as client:
        login(client, username=name)
    reader.part("users")
    reader.judge()
    reader.opens("users.add")
    reader.refused("users.add")
    reader.top.locator("input").first.fill(f"new-{secrets.token_hex(3)}")
    reader.top.locator("[type=password]").fill("12345678")
    reader.refused("users.add with a common password")
    reader.close()
    reader.opens("users.import")
    reader.refused("users.import")
    reader.close()
    page.get_by_role("searchbox").fill(name)
    expect(page.locator("tbody tr")).to_have_count(1)
    page.locator("tbody .pick input").check()
    reader.judge(where="picked")
    reader.opens("users.disable")
    reader.close()
    page.locator("tbody .open").click()
    expect(page.locator("dialog[open]")).to_have_count(1)
    reader.judge(where="edit")
    reader.opens("users.reset")
    reader.refused("users.reset")
    reader.close()
    for words in ("users.link", "factor.title", "users.sessions", "users.delete"):
        reader.opens(words)
        reader.close()
    reader.top.locator("input").first.fill("")
    reader.refused("users.edit")


@pytest.mark.parametrize("look", OFTEN)
def test_roles(administrator: Callable[..., Reader], running: Running, look: tuple[str, str]) -> None:
    code = f"LOOK_{secrets.token_hex(3).upper()}"
    assert running.cli("role", "add", code, "--name", code.title()).returncode == 0
    reader = administrator(look)
    page = reader.page
    reader.part("roles")
    reader.judge()
    reader.opens("roles.add")
    reader.refused("roles.add")
    reader.close()
    page.locator(".list button").filter(has_text=code).click()
    expect(page.get_by_role("heading", name=code.title())).to_be_visible()
    page.locator(".perm-group input").first.check()
    page.locator(".perm-group input").last.check()
    reader.judge(where="chosen")
    reader.opens("roles.review")
    reader.close()
    reader.opens("roles.newperm")
    reader.top.locator("input").fill("one part")
    reader.refused("roles.newperm")
    reader.close()
    page.locator(".perm-group input").first.uncheck()
    page.locator(".perm-group input").last.uncheck()
    for words in ("menus.title", "roles.edit", "roles.delete"):
        reader.opens(words)
        reader.close()
    reader.opens("roles.edit")
    reader.top.locator("input").nth(1).fill("no such code!")
    reader.refused("roles.edit")


@pytest.mark.parametrize("look", SELDOM)
def test_departments_sessions_audit_and_settings(
    administrator: Callable[..., Reader], running: Running, look: tuple[str, str]
) -> None:
    reader = administrator(look)
    page = reader.page
    for name in ("overview", "departments", "sessions", "audit", "settings"):
        reader.part(name)
        reader.judge(where=name)
    reader.part("departments")
    reader.opens("departments.add")
    reader.refused("departments.add")
    reader.close()
    for words in ("departments.edit", "departments.delete"):
        reader.opens(words)
        reader.close()
    person = add_person(running)
    with running.client() as client:
        login(client, username=person)
    reader.part("sessions")
    page.get_by_role("searchbox").fill(person)
    expect(page.locator("tbody tr")).to_have_count(1)
    reader.opens("sessions.end")
    reader.close()
    reader.part("audit")
    page.locator("tbody .open").first.click()
    expect(page.locator("dialog[open]")).to_have_count(1)
    reader.judge(where="one event")
    reader.close()
    page.get_by_role("searchbox").fill("no such event")
    expect(page.locator(".empty")).to_be_visible()
    reader.judge(where="no event")


@pytest.mark.parametrize("look", SELDOM)
def test_company_login(administrator: Callable[..., Reader], serving: Serving, look: tuple[str, str]) -> None:
    at = serving()
    config = {"urls": [f"ldap://127.0.0.1:{at.port}"], "base": "dc=example,dc=org", "allowPlain": True}
    config |= {"mapping": {"roles": {"a group with a long name, ou=groups,dc=example,dc=org": ["ADMIN"]}}}
    source = {"name": "corp", "kind": "directory", "enabled": False, "secret": "x", "config": config}
    with at.client() as client:
        client.post("/api/v1/identity-sources", json=source, headers=bearer(login(client))).raise_for_status()
    reader = administrator(look, at)
    reader.part("sources")
    expect(reader.page.locator("tbody .open")).to_have_count(1)
    reader.judge(where="sources")
    for words in ("sources.add.directory", "sources.add.provider"):
        reader.opens(words)
        reader.refused(words)
        reader.press("sources.more")
        reader.judge(where=f"{words}, more")
        reader.close()
    reader.page.locator("tbody .open").click()
    expect(reader.page.locator("dialog[open]")).to_have_count(1)
    reader.judge(where="edit")
    reader.opens("sources.remove")
    reader.close()
    reader.close()
    reader.press("sources.test")
    expect(reader.page.locator(".steps .bad")).to_be_visible()
    reader.judge(where="test")
    reader.close()
    add_person(at)
    reader.part("users")
    reader.page.locator("tbody .open").first.click()
    expect(reader.page.locator("dialog[open]")).to_have_count(1)
    reader.opens("users.identities")
    reader.opens("sources.user.link")


@pytest.mark.parametrize("look", SELDOM)
def test_applications(administrator: Callable[..., Reader], serving: Serving, look: tuple[str, str]) -> None:
    at = serving()
    addresses = [f"https://wiki.example.com/a/path/of/some/length/{number}" for number in range(3)]
    application = {"clientId": "x" * 64, "name": "A wiki with a rather long name", "redirectUris": addresses}
    with at.client() as client:
        client.post("/api/v1/applications", json=application, headers=bearer(login(client))).raise_for_status()
    reader = administrator(look, at)
    reader.part("applications")
    expect(reader.page.locator("tbody .open")).to_have_count(1)
    reader.judge(where="applications")
    reader.opens("apps.add")
    reader.refused("apps.add")
    reader.press("apps.more")
    reader.judge(where="add, more")
    reader.close()
    reader.page.locator("tbody .open").click()
    expect(reader.page.locator("dialog[open]")).to_have_count(1)
    reader.judge(where="edit")
    reader.opens("apps.remove")
    reader.close()
    reader.opens("apps.secret.new")
    reader.press("apps.secret.make")
    expect(reader.page.locator("dialog .paste")).to_be_visible()
    reader.judge(where="secret")


@pytest.mark.parametrize("look", SELDOM)
def test_a_locked_name(administrator: Callable[..., Reader], strict: Running, look: tuple[str, str]) -> None:
    with strict.client() as client:
        for _ in range(3):
            name = f"ghost-{'x' * 40}-{look[0]}"
            client.post(LOGIN, json=credentials(client, username=name, password="wrong password"))
    reader = administrator(look, strict)
    reader.part("overview")
    reader.judge()
    reader.opens("lockouts.lift")


@pytest.mark.parametrize("look", SELDOM)
def test_the_other_pages(reading: Reading, running: Running, person: str, look: tuple[str, str]) -> None:
    reader = reading(look, path="/docs")
    page = reader.page
    expect(page.locator("article").first).to_be_visible()
    # All operations are drawn by the same lines: two of them are enough.
    page.evaluate("[...document.querySelectorAll('article')].slice(2).forEach(each => each.remove())")
    reader.judge(where="docs")
    ticket = ConsoleBrowser(page).ticket
    page.goto(ticket)
    expect(page.locator("#ask a")).to_be_visible()
    reader.judge(where="qr without a login")
    page.goto(running.url)
    log_in(page)
    arrived(page)
    page.goto(ticket)
    expect(page.locator(".facts")).to_be_visible()
    reader.judge(where="qr")
    link = json.loads(running.cli("user", "link", person, "--json").stdout)["url"]
    page.goto(running.url + "/set-password#" + link.partition("#")[2])
    expect(page.locator("#form")).to_be_visible()
    page.locator("#fresh").fill("password1")
    page.locator("#submit").click()
    expect(page.locator("#fresh")).to_have_attribute("aria-invalid", "true")
    reader.judge(where="set-password")
    page.goto(running.url + "/set-password#made-up")
    expect(page.locator("h1")).to_have_attribute("data-t", "setpass.gone")
    reader.judge(where="a link that is gone")
    assert PASSWORD not in page.content()

"""Applications in the administration: add one by a recipe, bring it a new secret, disable and remove it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.chromium import SIZES
from tests.browser.conftest import Serving, Visiting, add_person
from tests.browser.test_accessibility import LOCALES, faults, log_in
from tests.browser.visits import Visit, arrived, part
from tests.support.conversation import bearer, login
from tests.support.running import Running

pytestmark = pytest.mark.full

at_a_desk = pytest.mark.parametrize("size", ["desktop"], indirect=True)

APPLICATIONS = "/api/v1/applications"
WIKI = {"clientId": "wiki", "name": "The wiki", "redirectUris": ["https://wiki.example.com/callback"]}


@pytest.fixture
def own(serving: Serving) -> Running:
    return serving()


@pytest.fixture
def client(own: Running) -> Iterator[httpx.Client]:
    with own.client() as client:
        client.headers.update(bearer(login(client)))
        yield client


@pytest.fixture
def page(visiting: Visiting, own: Running, size: dict[str, Any]) -> Page:
    page = visiting(own, permissions=["clipboard-read", "clipboard-write"], **size).logged_in()
    page.goto(f"{own.url}/admin#applications")
    expect(page.get_by_role("heading", name="Applications", level=1)).to_be_visible()
    return page


def dialog(page: Page) -> Locator:
    return page.get_by_role("dialog").last


def stored(client: httpx.Client, client_id: str) -> dict[str, Any]:
    data: dict[str, Any] = client.get(f"{APPLICATIONS}/{client_id}").raise_for_status().json()["data"]
    return data


def test_a_known_program_is_added_and_its_secret_is_shown_once(page: Page, own: Running, client: httpx.Client) -> None:
    expect(page.get_by_text("No application yet")).to_be_visible()
    page.get_by_role("button", name="Add an application").click()
    form = dialog(page)
    form.get_by_label("Kind").select_option("Gitea")
    expect(form.get_by_label("Client ID")).to_have_value("gitea")
    expect(form.get_by_label("Redirect addresses")).to_be_hidden()
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("alert")).to_have_text("Fill in: Address")
    form.get_by_label("Address", exact=True).fill("http://git.example.com")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("alert")).to_contain_text("http:// is for this machine only")
    form.get_by_label("Address", exact=True).fill("https://git.example.com")
    form.get_by_label("Administrator (ADMIN)").check()
    form.get_by_role("button", name="Save").click()

    shown = dialog(page)
    expect(shown.get_by_text("It is shown this once")).to_be_visible()
    secret = shown.locator(".copy-line code").inner_text()
    assert secret.startswith("ghc_")
    text = shown.locator(".paste").inner_text()
    assert f"--key gitea --secret {secret}" in text
    assert f"--auto-discover-url {own.url}/.well-known/openid-configuration" in text
    shown.get_by_role("button", name="Copy the text").click()
    expect(shown.get_by_role("button", name="Copied")).to_be_visible()
    assert secret in page.evaluate("navigator.clipboard.readText()")
    shown.get_by_role("button", name="Close").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    row = page.locator("tbody tr:not(.blank)")
    expect(row).to_contain_text("gitea")
    expect(row).to_contain_text("ADMIN")
    expect(page.locator("body")).not_to_contain_text(secret)  # the dialog is removed once it is closed
    assert secret not in page.content()

    made = stored(client, "gitea")
    assert made["redirectUris"] == ["https://git.example.com/user/oauth2/gatehouse/callback"]
    assert (made["recipe"], made["pkce"], made["roles"]) == ("gitea", "optional", ["ADMIN"])
    page.get_by_role("button", name="What to paste: gitea").click()
    expect(dialog(page).locator(".paste")).to_contain_text("--secret (the secret)")
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]  # type: ignore[index]


@at_a_desk
def test_another_application_is_added_by_its_addresses(page: Page, client: httpx.Client) -> None:
    page.get_by_role("button", name="Add an application").click()
    form = dialog(page)
    form.get_by_label("Kind").select_option("Another (OpenID Connect)")
    expect(form.get_by_label("Client ID")).to_have_value("")
    form.get_by_label("Client ID").fill("app")
    form.get_by_label("Name that people read").fill("Phone app")
    form.get_by_label("Redirect addresses").fill("com.example.app:/callback http://127.0.0.1/callback")
    form.get_by_text("More", exact=True).click()
    expect(form.get_by_label("Its public keys")).to_be_hidden()
    form.get_by_label("Proves itself by").select_option("a key of its own (private_key_jwt)")
    expect(form.get_by_label("Its public keys")).to_be_visible()
    form.get_by_label("Proves itself by").select_option("nothing: it runs in browsers or on phones")
    form.get_by_label("The company's own").uncheck()
    form.get_by_role("button", name="Save").click()
    expect(dialog(page).locator(".paste")).to_contain_text("client_id      app")
    expect(dialog(page).get_by_text("It is shown this once")).to_have_count(0)
    made = stored(client, "app")
    assert made["redirectUris"] == ["com.example.app:/callback", "http://127.0.0.1/callback"]
    assert (made["auth"], made["pkce"], made["firstParty"]) == ("none", "required", False)
    assert (made["name"], made["secrets"]) == ("Phone app", [])


def test_a_new_secret_replaces_the_old_one_in_time(page: Page, client: httpx.Client) -> None:
    first = client.post(APPLICATIONS, json=WIKI).raise_for_status().json()["data"]["secret"]
    page.reload()
    page.get_by_role("button", name="The wiki wiki").click()
    expect(dialog(page).get_by_text(f"…{first[-4:]}")).to_be_visible()
    dialog(page).get_by_role("button", name="New secret").click()
    expect(dialog(page).get_by_label("The old one stays valid")).to_have_value(str(7 * 86_400))
    dialog(page).get_by_label("The old one stays valid").select_option("for 1 day")
    dialog(page).get_by_role("button", name="Make it").click()
    secret = dialog(page).locator(".copy-line code").inner_text()
    expect(dialog(page).locator(".paste")).to_contain_text(secret)
    dialog(page).get_by_role("button", name="Close").click()
    secrets = stored(client, "wiki")["secrets"]
    assert [each["hint"] for each in secrets] == [first[-4:], secret[-4:]]
    assert [each["expires"] is None for each in secrets] == [False, True]
    page.get_by_role("button", name="The wiki wiki").click()
    expect(dialog(page).get_by_text("valid until")).to_be_visible()


@at_a_desk
def test_an_application_is_changed_disabled_and_removed(page: Page, client: httpx.Client) -> None:
    client.post(APPLICATIONS, json=WIKI | {"scopes": ["openid", "email"], "pkce": "required"}).raise_for_status()
    page.reload()
    page.get_by_role("button", name="The wiki wiki").click()
    dialog(page).get_by_label("Redirect addresses").fill("https://wiki.example.com/other")
    dialog(page).get_by_label("Status").select_option("Disabled")
    dialog(page).get_by_role("button", name="Save").click()
    expect(page.locator("tbody tr:not(.blank)")).to_contain_text("Disabled")
    after = stored(client, "wiki")
    assert (after["redirectUris"], after["enabled"]) == (["https://wiki.example.com/other"], False)
    assert (after["scopes"], after["pkce"]) == (["openid", "email"], "required"), "what is not changed stays"
    page.get_by_role("button", name="The wiki wiki").click()
    dialog(page).get_by_role("button", name="Remove", exact=True).click()
    expect(dialog(page)).to_contain_text("0 users are logged in there.")
    dialog(page).get_by_role("button", name="Remove it").click()
    expect(page.get_by_text("No application yet")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_who_may_only_look_changes_nothing(visiting: Visiting, own: Running, client: httpx.Client) -> None:
    client.post(APPLICATIONS, json=WIKI).raise_for_status()
    assert own.cli("role", "add", "READER").returncode == 0
    assert own.cli("role", "allow", "READER", "sys:app:list", "sys:role:list").returncode == 0
    page = visiting(own).logged_in(add_person(own, "--role", "READER"))
    page.goto(f"{own.url}/admin#applications")
    page.get_by_role("button", name="The wiki wiki").click()
    expect(dialog(page).get_by_label("Redirect addresses")).to_be_disabled()
    for name in ("Save", "New secret", "Remove"):
        expect(dialog(page).get_by_role("button", name=name)).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Add an application")).to_have_count(0)


def test_the_part_and_its_words_are_fetched_when_it_is_opened(visiting: Visiting, own: Running) -> None:
    page = visiting(own).logged_in()
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url.rpartition("/")[2]))
    page.goto(f"{own.url}/admin")
    page.wait_for_load_state("networkidle")
    late = {"admin-applications.js", "admin-application-form.js", "en-applications.json"}
    assert not late & set(fetched)
    part(page, "Applications")
    assert late <= set(fetched)
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_text("还没有应用")).to_be_visible()


@pytest.mark.parametrize("look", [("phone", "dark", "zh"), ("desktop", "light", "en"), ("phone", "light", "en")])
def test_axe_finds_no_serious_fault_in_its_dialogs(
    axe: str, visiting: Visiting, own: Running, client: httpx.Client, look: tuple[str, str, str]
) -> None:
    size, theme, language = look
    client.post(APPLICATIONS, json=WIKI).raise_for_status()
    visit: Visit = visiting(own, color_scheme=theme, reduced_motion="reduce", locale=LOCALES[language], **SIZES[size])
    page = visit.page()
    log_in(page)
    arrived(page)
    page.goto(f"{own.url}/admin#applications")
    expect(page.locator("tbody tr:not(.blank)")).to_have_count(1)
    assert faults(page, axe) == [], "list"
    page.locator("tbody .open").click()
    page.locator("dialog details summary").click()
    assert faults(page, axe) == [], "form"
    page.locator("dialog .tools button").nth(1).click()
    assert faults(page, axe) == [], "new secret"
    page.locator("dialog").last.locator(".acts .button").click()
    expect(page.locator("dialog .paste")).to_be_visible()
    assert faults(page, axe) == [], "secret"
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["viewport"]["width"]
    wider = page.locator("dialog .fields").evaluate("each => each.scrollWidth - each.clientWidth")
    assert wider <= 1, "the text of a recipe is not wider than the dialog"

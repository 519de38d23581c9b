"""Company login in the administration: set up a directory and a provider, test, link, compare and remove them."""

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
from tests.support.conversation import LOGIN, bearer, credentials, login
from tests.support.running import Running
from tests.support.slapd import BASE, GROUPS, PASSWORD, SERVICE, Slapd, slapd

__all__ = ["slapd"]

pytestmark = pytest.mark.full

at_a_desk = pytest.mark.parametrize("size", ["desktop"], indirect=True)

SOURCES = "/api/v1/identity-sources"
PROVIDER = {"name": "sso", "kind": "openid", "title": "Main SSO", "secret": "s", "enabled": False}
PROVIDER_CONFIG = {"issuer": "https://sso.example.org", "clientId": "gatehouse"}


@pytest.fixture
def own(serving: Serving) -> Running:
    """Sources change how everybody logs in: no other test shares this service."""
    return serving()


@pytest.fixture
def client(own: Running) -> Iterator[httpx.Client]:
    with own.client() as client:
        client.headers.update(bearer(login(client)))
        yield client


@pytest.fixture
def page(visiting: Visiting, own: Running, size: dict[str, Any]) -> Page:
    page = visiting(own, **size).logged_in()
    page.goto(f"{own.url}/admin#sources")
    expect(page.get_by_role("heading", name="Company login", level=1)).to_be_visible()
    return page


def add(client: httpx.Client, **source: Any) -> None:
    client.post(SOURCES, json=source).raise_for_status()


def add_directory(client: httpx.Client, slapd: Slapd, **changes: Any) -> None:
    config = {
        "urls": [slapd.tls_url],
        "base": BASE,
        "bindDn": SERVICE,
        "caFile": slapd.ca_file,
        "groupBase": GROUPS,
        "mapping": {"roles": {"operators": ["ADMIN"]}},
    }
    add(
        client,
        **({"name": "corp", "kind": "directory", "title": "Corp", "secret": PASSWORD, "config": config} | changes),
    )


def dialog(page: Page) -> Locator:
    return page.get_by_role("dialog").last


def test_a_directory_is_set_up_and_tested_up_to_what_a_person_becomes(page: Page, slapd: Slapd, own: Running) -> None:
    expect(page.get_by_text("Nobody logs in with a company account yet")).to_be_visible()
    page.get_by_role("button", name="Add a directory").click()
    form = dialog(page)
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("alert")).to_have_text("Fill in: Short name")
    form.get_by_label("Short name").fill("corp")
    form.get_by_label("Title that people read").fill("Example Corp")
    form.get_by_label("Servers").fill(f"ldaps://127.0.0.1:1 {slapd.tls_url}")
    form.get_by_label("Search below").fill(BASE)
    form.get_by_label("Service account (DN)").fill(SERVICE)
    form.get_by_label("Password of the service account").fill("wrong")
    form.get_by_role("button", name="Add a group").click()
    form.get_by_label("Group", exact=True).fill("operators")
    form.get_by_label("Role", exact=True).select_option("ADMIN")
    form.get_by_text("More", exact=True).click()
    form.get_by_label("Groups below").fill(GROUPS)
    form.get_by_label("File with the certificates").fill(slapd.ca_file)
    form.get_by_role("button", name="Save").click()
    # Saved, it is tested at once.
    expect(dialog(page)).to_contain_text("It does not work yet")
    expect(dialog(page).locator(".steps .bad")).to_contain_text("Connection")
    dialog(page).get_by_role("button", name="Close").click()

    page.get_by_role("button", name="Example Corp corp").click()
    form = dialog(page)
    form.get_by_label("Servers").fill(slapd.tls_url)
    expect(form.get_by_text("The address is another one: enter it once more.")).to_be_visible()
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("alert")).to_have_text("Fill in: Password of the service account")
    form.get_by_label("Password of the service account").fill(PASSWORD)
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert PASSWORD not in page.content()

    page.get_by_role("button", name="Test: Example Corp").click()
    expect(dialog(page)).to_contain_text("Everything works.")
    expect(dialog(page).locator(".steps .good")).to_have_count(6)
    dialog(page).get_by_label("Login name of somebody there").fill("carol")
    dialog(page).get_by_role("button", name="Test again").click()
    preview = dialog(page).locator(".preview")
    expect(preview).to_contain_text("What Carol becomes here")
    expect(preview).to_contain_text("The first login adds this user.")
    expect(preview.locator(".tag").first).to_have_text("ADMIN")
    with own.client() as client:
        assert client.post(LOGIN, json=credentials(client, username="carol", password=PASSWORD)).status_code == 200


@at_a_desk
def test_a_provider_shows_what_to_register_there(page: Page, own: Running, client: httpx.Client) -> None:
    page.get_by_role("button", name="Add a provider").click()
    form = dialog(page)
    expect(form.get_by_label("Issuer")).to_be_visible()
    form.get_by_label("Kind", exact=True).select_option("DingTalk")
    expect(form.get_by_label("Issuer")).to_be_hidden()
    form.get_by_label("Kind", exact=True).select_option("OpenID Connect")
    form.get_by_label("Short name").fill("sso")
    expect(form.get_by_text(f"{own.url}/login/sso/callback")).to_be_visible()
    expect(form.get_by_text(f"{own.url}/login/sso/backchannel-logout")).to_be_visible()
    form.get_by_label("Issuer").fill(own.url)
    form.get_by_label("Client ID").fill("gatehouse")
    form.get_by_label("Client secret").fill("a client secret")
    form.get_by_role("button", name="Save").click()
    expect(dialog(page).locator(".steps")).to_contain_text("Discovery")
    [source] = client.get(SOURCES).json()["data"]["sources"]
    assert (source["kind"], source["hasSecret"], source["config"]["clientId"]) == ("openid", True, "gatehouse")
    assert source["config"]["scopes"] == ["openid", "profile", "email"]


@at_a_desk
def test_a_source_is_switched_off_and_removed(page: Page, client: httpx.Client, slapd: Slapd, own: Running) -> None:
    add_directory(client, slapd)
    person = add_person(own)
    user = client.get("/api/v1/users", params={"keywords": person}).json()["data"]["list"][0]["id"]
    client.post(f"/api/v1/users/{user}/identities", json={"source": "corp", "name": "dave"}).raise_for_status()
    page.reload()
    row = page.locator("tbody tr:not(.blank)")
    expect(row).to_contain_text("Enabled")
    page.get_by_role("button", name="Corp corp").click()
    dialog(page).get_by_label("Status").select_option("Disabled")
    dialog(page).get_by_role("button", name="Save").click()
    expect(row).to_contain_text("Disabled")
    before = client.get(f"{SOURCES}/corp").json()["data"]
    assert before["config"]["mapping"]["roles"] == {"operators": ["ADMIN"]}, "the form keeps what it does not change"
    assert before["hasSecret"]
    page.get_by_role("button", name="Corp corp").click()
    dialog(page).get_by_role("button", name="Remove", exact=True).click()
    expect(dialog(page)).to_contain_text("1 user is linked to it.")
    dialog(page).get_by_role("button", name="Remove it").click()
    expect(page.get_by_text("Nobody logs in with a company account yet")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_user_is_linked_and_the_roles_of_the_directory_are_marked(
    page: Page, client: httpx.Client, slapd: Slapd, own: Running
) -> None:
    add_directory(client, slapd)
    name = add_person(own)
    part(page, "Users")
    page.get_by_role("searchbox").fill(name)
    expect(page.locator("tbody tr:not(.blank)")).to_have_count(1)
    page.locator("tbody .open").click()
    dialog(page).get_by_role("button", name="Linked accounts").click()
    expect(dialog(page)).to_contain_text("This user logs in with a password of ours.")
    dialog(page).get_by_role("button", name="Link").click()
    dialog(page).get_by_label("Login name there").fill("carol")
    dialog(page).get_by_role("button", name="Link").click()
    expect(dialog(page)).to_contain_text("has not logged in this way yet")
    assert client.post(LOGIN, json=credentials(client, username=name, password=PASSWORD)).status_code == 200
    page.reload()
    page.get_by_role("searchbox").fill("carol")
    expect(page.locator("tbody tr:not(.blank)")).to_have_count(1)
    page.locator("tbody .open").click()
    role = dialog(page).get_by_label("Administrator (by Corp)")
    expect(role).to_be_checked()
    expect(role).to_be_disabled()
    dialog(page).get_by_role("button", name="Linked accounts").click()
    expect(dialog(page)).to_contain_text("last confirmed just now")
    dialog(page).get_by_role("button", name="Unlink: Corp").click()
    dialog(page).get_by_role("button", name="Unlink").click()
    expect(dialog(page)).to_contain_text("None.")


@at_a_desk
def test_users_are_compared_before_they_are_changed(
    page: Page, client: httpx.Client, slapd: Slapd, own: Running
) -> None:
    add_directory(client, slapd)
    name = add_person(own)
    user = client.get("/api/v1/users", params={"keywords": name}).json()["data"]["list"][0]["id"]
    client.post(f"/api/v1/users/{user}/identities", json={"source": "corp", "name": "carol"}).raise_for_status()
    page.reload()
    page.get_by_role("button", name="Corp corp").click()
    dialog(page).get_by_role("button", name="Compare users").click()
    expect(dialog(page)).to_contain_text("+ADMIN")
    dialog(page).get_by_role("button", name="Do it").click()
    expect(page.locator(".toast.good")).to_contain_text("the users are up to date")
    assert client.get(f"/api/v1/users/{user}/form").json()["data"]["nickname"] == "Carol"


@at_a_desk
def test_what_the_environment_defines_is_read_only(visiting: Visiting, serving: Serving, size: dict[str, Any]) -> None:
    own = serving(source_sso_kind="openid", source_sso_issuer="https://sso.example.org", source_sso_client_id="x")
    page = visiting(own, **size).logged_in()
    page.goto(f"{own.url}/admin#sources")
    expect(page.locator("tbody tr:not(.blank)")).to_contain_text("from the environment")
    page.locator("tbody .open").click()
    expect(dialog(page)).to_contain_text("it is changed there, and here only read")
    expect(dialog(page).get_by_label("Issuer")).to_be_disabled()
    expect(dialog(page).get_by_role("button", name="Copy").first).to_be_enabled()
    expect(dialog(page).get_by_role("button", name="Save")).to_have_count(0)
    expect(dialog(page).get_by_role("button", name="Remove", exact=True)).to_have_count(0)


def test_nothing_of_it_for_whoever_lacks_the_perm(visiting: Visiting, own: Running) -> None:
    assert own.cli("role", "add", "READER").returncode == 0
    assert own.cli("role", "allow", "READER", "sys:user:list").returncode == 0
    name = add_person(own, "--role", "READER")
    page = visiting(own).logged_in(name)
    page.goto(f"{own.url}/admin")
    expect(page.get_by_role("link", name="Users", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Company login")).to_have_count(0)


def test_the_part_and_its_words_are_fetched_when_it_is_opened(visiting: Visiting, own: Running) -> None:
    page = visiting(own).logged_in()
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url.rpartition("/")[2]))
    page.goto(f"{own.url}/admin")
    page.wait_for_load_state("networkidle")
    late = {"admin-sources.js", "admin-source-form.js", "en-sources.json"}
    assert not late & set(fetched)
    part(page, "Company login")
    assert late <= set(fetched)
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_text("还没有人使用公司账号登录")).to_be_visible()


@pytest.mark.parametrize("look", [("phone", "dark", "zh"), ("desktop", "light", "en"), ("phone", "light", "en")])
def test_axe_finds_no_serious_fault_in_its_dialogs(
    axe: str, visiting: Visiting, own: Running, client: httpx.Client, slapd: Slapd, look: tuple[str, str, str]
) -> None:
    size, theme, language = look
    add_directory(client, slapd)
    add(client, **PROVIDER, config=PROVIDER_CONFIG)
    visit: Visit = visiting(own, color_scheme=theme, reduced_motion="reduce", locale=LOCALES[language], **SIZES[size])
    page = visit.page()
    log_in(page)
    arrived(page)
    page.goto(f"{own.url}/admin#sources")
    expect(page.locator("tbody tr:not(.blank)")).to_have_count(2)
    for number in range(2):
        page.locator("tbody .open").nth(number).click()
        page.locator("dialog details summary").click()
        assert faults(page, axe) == [], f"form {number}"
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    page.locator("td.do button").first.click()
    expect(page.locator(".steps li")).to_have_count(6)
    page.locator("dialog input").fill("carol")
    page.keyboard.press("Enter")
    expect(page.locator("dialog .preview")).to_be_visible()
    assert faults(page, axe) == [], "test"
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["viewport"]["width"]

"""Passkeys on Chromium's virtual authenticator: registered, offered, removed, and refused from a wrong origin."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.authenticators import authenticator, prove, set_up_app
from tests.browser.conftest import Visiting, add_person
from tests.browser.visits import Visit, arrived, log_in
from tests.support.running import Running, free_port

pytestmark = pytest.mark.full

LOGIN = "/api/v1/auth/passkey"
# A person who takes nothing from the list under the username field: the quiet offer waits until it is withdrawn, and
# until then the browser refuses others. The virtual authenticator alone would accept it at once.
IGNORE_OFFER = """if (navigator.credentials) {
  const ask = navigator.credentials.get.bind(navigator.credentials);
  let offered = false;
  navigator.credentials.get = (options) => {
    if (offered) return Promise.reject(new DOMException("A request is already pending.", "OperationError"));
    if (options.mediation !== "conditional" || options.signal.aborted) return ask(options);
    offered = true;
    return new Promise((resolve, reject) => options.signal.addEventListener("abort", () => {
      offered = false;
      reject(options.signal.reason);
    }));
  };
}"""
# The browser says only after the click whether it can offer passkeys quietly.
LATE_OFFER = """if (window.PublicKeyCredential) PublicKeyCredential.isConditionalMediationAvailable = () =>
  new Promise((resolve) => document.getElementById("passkey").addEventListener("click", () => resolve(true)));
"""
SIGN = """async (publicKey) => {
  const options = PublicKeyCredential.parseRequestOptionsFromJSON(publicKey);
  return (await navigator.credentials.get({ publicKey: options })).toJSON();
}"""


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Under a name: browsers give no passkeys to addresses."""
    port = free_port()
    url = f"http://localhost:{port}"
    running = Running(tmp_path_factory.mktemp("named") / "data", port=port, issuer=url)
    running.url = url
    with running:
        yield running


def registered(visit: Visit, running: Running) -> Page:
    """Somebody on the account page who has just registered a passkey."""
    page = visit.page()
    session, device = authenticator(visit, page)
    log_in(page, add_person(running))
    arrived(page)
    page.get_by_role("button", name="Add a passkey").click()
    page.get_by_label("Name of the passkey").fill("My laptop")
    prove(page)
    expect(page.locator("#factor")).to_contain_text("My laptop")
    [kept] = session.send("WebAuthn.getCredentials", {"authenticatorId": device})["credentials"]
    assert kept["rpId"] == "localhost"
    return page


def use_passkey(page: Page) -> None:
    """The proof where passkeys are the only factor: the password is not even asked for."""
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Use a passkey")).to_be_visible()
    expect(dialog.get_by_label("Current password")).to_have_count(0)
    dialog.get_by_role("button", name="Use a passkey").click()


def log_out(page: Page) -> None:
    """To the login page, where nothing is taken from the list of passkeys."""
    page.add_init_script(IGNORE_OFFER)
    page.get_by_role("button", name="Log out").click()
    expect(page.locator("#passkey")).to_be_visible()


def test_a_passkey_logs_in_by_the_button(visiting: Visiting, named: Running) -> None:
    visit = visiting(named)
    page = registered(visit, named)
    log_out(page)
    page.locator("#passkey").click()
    arrived(page)
    expect(page.locator("#logins li").first).to_contain_text("passkey")
    expect(page.locator("#factor")).to_contain_text("last used just now")


def test_a_service_without_settings_has_passkeys_on_localhost(visiting: Visiting, running: Running) -> None:
    visit = visiting(running)
    visit.context.unroute_all()
    visit.url = f"http://localhost:{running.port}"
    registered(visit, running)


def test_a_quiet_offer_that_comes_late_does_not_disturb_the_button(visiting: Visiting, named: Running) -> None:
    visit = visiting(named)
    page = registered(visit, named)
    page.add_init_script(LATE_OFFER)
    log_out(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.locator("#passkey").click()
    arrived(page)
    assert asked.count(f"{named.url}{LOGIN}/options") == 1


def test_a_passkey_is_offered_by_itself(visiting: Visiting, named: Running) -> None:
    visit = visiting(named)
    page = registered(visit, named)
    # No more is clicked: the field for the username offers it, and the virtual authenticator accepts at once.
    with page.expect_response(f"**{LOGIN}") as answered:
        page.get_by_role("button", name="Log out").click()
    assert answered.value.status == 200
    arrived(page)


def test_a_removed_passkey_is_refused(visiting: Visiting, named: Running) -> None:
    visit = visiting(named)
    page = registered(visit, named)
    page.get_by_role("button", name="Remove: My laptop").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    use_passkey(page)
    expect(page.locator("#factor")).not_to_contain_text("My laptop")
    log_out(page)
    page.locator("#passkey").click()
    expect(page.locator("#form-message")).to_have_text("The passkey was not accepted")


def test_what_was_signed_for_another_origin_is_refused(visiting: Visiting, named: Running, running: Running) -> None:
    """Another port of the same host may use the passkey, and says in what it signs where it was."""
    with named.client() as client:
        visit = visiting(named)
        visit.context.unroute_all()
        page = registered(visit, named)
        outcomes = []
        for origin in (f"http://localhost:{running.port}", named.url):
            page.goto(f"{origin}/docs")
            publicKey = client.post(f"{LOGIN}/options").json()["data"]["publicKey"]  # noqa: N806 - its name on the wire
            credential = page.evaluate(SIGN, publicKey)
            answer = client.post(LOGIN, json={"credential": credential})
            outcomes.append((answer.status_code, answer.json()["code"]))
        assert outcomes == [(400, "A0210"), (200, "00000")]


def test_the_login_by_password_is_switched_off_beside_a_passkey(visiting: Visiting, named: Running) -> None:
    visit = visiting(named)
    page = registered(visit, named)
    name = page.locator("#name").inner_text()
    page.get_by_role("button", name="Switch it off").click()
    page.get_by_role("dialog").get_by_role("button", name="Switch it off").click()
    use_passkey(page)
    expect(page.locator("#factor")).to_contain_text("Off: only a passkey logs you in.")
    log_out(page)
    log_in(page, name)
    expect(page.locator("#password-message")).to_have_text("Wrong username or password")
    page.locator("#passkey").click()
    arrived(page)
    page.get_by_role("button", name="Switch it on").click()
    use_passkey(page)
    expect(page.locator("#factor")).to_contain_text("On, beside your passkeys.")


def test_beside_an_app_the_password_takes_a_code(visiting: Visiting, named: Running) -> None:
    visit = visiting(named)
    page = registered(visit, named)
    page.get_by_role("button", name="Set up an app").click()
    use_passkey(page)
    _, codes = set_up_app(page)
    page.get_by_role("button", name="Remove: My laptop").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Use a passkey")).to_be_visible()
    prove(page)
    expect(dialog.get_by_role("alert")).to_contain_text("a code of your authenticator app")
    dialog.get_by_label("Code from the app").fill(codes[0])
    prove(page)
    expect(page.locator("#factor")).not_to_contain_text("My laptop")

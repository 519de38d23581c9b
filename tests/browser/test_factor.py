"""Second factors in the browser: an authenticator app with recovery codes, and passkeys on a virtual one."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from playwright.sync_api import CDPSession, Page, expect
from playwright.sync_api import Error as PlaywrightError

from tests.browser.conftest import Visiting, add_person
from tests.browser.visits import Visit, arrived, log_in
from tests.support.running import PASSWORD, Running, free_port


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Under a name: browsers give no passkeys to addresses."""
    port = free_port()
    data = tmp_path_factory.mktemp("named") / "data"
    with Running(data, port=port, issuer=f"http://localhost:{port}") as running:
        running.url = f"http://localhost:{port}"
        yield running


def authenticator(visit: Visit, page: Page) -> tuple[CDPSession, str]:
    session = visit.context.new_cdp_session(page)
    session.send("WebAuthn.enable", {"enableUI": False})
    options: dict[str, Any] = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    made = session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return session, str(made["authenticatorId"])


def code_of(secret: str, steps: int = 0) -> str:
    key = base64.b32decode(secret.replace(" ", "") + "=" * (-len(secret.replace(" ", "")) % 8))
    return TOTP(key, 6, SHA1(), 30, enforce_key_length=False).generate(int(time.time()) + 30 * steps).decode()  # type: ignore[arg-type]


def prove(page: Page) -> None:
    page.get_by_role("dialog").get_by_label("Current password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()


def test_an_app_is_set_up_and_its_codes_log_in(visit: Visit, running: Running) -> None:
    person = add_person(running)
    page = visit.logged_in(person)
    page.get_by_role("button", name="Set up an app").click()
    prove(page)
    expect(page.locator("img.qr")).to_be_visible()
    secret = page.locator(".secret").inner_text()
    page.get_by_label("Code from the app").fill("000000")
    page.get_by_role("button", name="Switch it on").click()
    expect(page.locator("#totp-code-message")).not_to_be_empty()
    page.get_by_label("Code from the app").fill(code_of(secret))
    page.get_by_role("button", name="Switch it on").click()
    expect(page.locator(".codes-list li")).to_have_count(10)
    codes = page.locator(".codes-list li").all_inner_texts()
    page.get_by_role("button", name="I have kept them").click()
    expect(page.locator("#factor")).to_contain_text("On; 10 recovery codes left.")

    page.get_by_role("button", name="Log out").click()
    log_in(page, person)
    code = page.get_by_label("Code from your authenticator app")
    code.fill("123456")
    page.get_by_role("button", name="Log in", exact=True).click()
    expect(page.locator("#code-message")).to_have_text("The code or the password is wrong")
    code.fill(codes[0])
    page.get_by_role("button", name="Log in", exact=True).click()
    arrived(page)
    expect(page.locator("#factor")).to_contain_text("On; 9 recovery codes left.")


def test_a_passkey_is_registered_logs_in_and_is_refused_once_removed(visiting: Visiting, named: Running) -> None:
    person = add_person(named)
    visit = visiting(named)
    page = visit.page()
    session, device = authenticator(visit, page)
    log_in(page, person)
    arrived(page)
    page.get_by_role("button", name="Add a passkey").click()
    page.get_by_label("Name of the passkey").fill("My laptop")
    prove(page)
    expect(page.locator("#factor")).to_contain_text("My laptop")
    [kept] = session.send("WebAuthn.getCredentials", {"authenticatorId": device})["credentials"]

    page.get_by_role("button", name="Log out").click()
    # Offered by itself under the username field, or by the button: the virtual authenticator answers either at once.
    page.wait_for_url(f"{named.url}/*")
    if page.url.endswith("/account") is False and page.locator("#passkey").is_visible():
        with suppress(PlaywrightError):  # the quiet offer may log in, and the button go, in this very moment
            page.locator("#passkey").click(timeout=3000)
    arrived(page)

    page.get_by_role("button", name="Remove: My laptop").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    prove(page)
    expect(page.locator("#factor")).not_to_contain_text("My laptop")
    assert kept["rpId"] == "localhost"
    session.send("WebAuthn.setAutomaticPresenceSimulation", {"authenticatorId": device, "enabled": False})
    page.get_by_role("button", name="Log out").click()
    expect(page.locator("#passkey")).to_be_visible()
    session.send("WebAuthn.setAutomaticPresenceSimulation", {"authenticatorId": device, "enabled": True})
    page.locator("#passkey").click()
    expect(page.locator("#form-message")).to_have_text("The passkey was not accepted")

"""Second factors in a browser: Chromium's virtual authenticator, and the codes of an app."""

from __future__ import annotations

import base64
import time
from typing import Any

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from playwright.sync_api import CDPSession, Page

from tests.browser.visits import Visit
from tests.support.running import PASSWORD


def authenticator(visit: Visit, page: Page) -> tuple[CDPSession, str]:
    """A device with a fingerprint reader that says yes to everything."""
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
    return TOTP(key, 6, SHA1(), 30, enforce_key_length=False).generate(int(time.time()) + 30 * steps).decode()


def prove(page: Page) -> None:
    """The fresh proof that each change of a second factor asks for."""
    page.get_by_role("dialog").get_by_label("Current password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()


def set_up_app(page: Page) -> tuple[str, list[str]]:
    """In the dialog with the QR code: the secret, and the recovery codes."""
    secret = page.locator(".secret").inner_text()
    page.get_by_label("Code from the app").fill(code_of(secret))
    page.get_by_role("button", name="Switch it on").click()
    page.locator(".codes-list li").first.wait_for()
    codes = page.locator(".codes-list li").all_inner_texts()
    page.get_by_role("button", name="I have kept them").click()
    return secret, codes

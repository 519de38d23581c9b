"""Who takes part in an attack: people's browsers, applications, a second node, and how each of them is refused."""

from __future__ import annotations

import copy
from typing import Any
from urllib.parse import parse_qs, urlsplit

from gatehouse.api.app import App
from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.composition import Service
from gatehouse.stores.database.users import NewUser
from tests.api.oauth.application import CHALLENGE, Application
from tests.api.oauth.flow import Browser, Page
from tests.support.inprocess import Answer, InProcess
from tests.support.renderer import renderer
from tests.support.running import PASSWORD

ISSUER = "https://gatehouse.localhost"
WITH_PKCE = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}
EVERYTHING = "openid profile email offline_access"


def signed_in(gatehouse: InProcess, username: str = "admin") -> Browser:
    """A browser with a session here, which our page with scripts has opened: no application is part of it."""
    browser = Browser(gatehouse)
    token = gatehouse.login(username).data["accessToken"]
    assert browser.send("POST", f"{browser.url}/api/v1/auth/browser-session", token=token).status == 200
    return browser


def code_of(browser: Browser, **changes: str) -> str:
    """That a logged-in person brings to the application."""
    return browser.authorize(**{**WITH_PKCE, "scope": EVERYTHING, **changes}).query["code"]


def tokens_of(app: Application, browser: Browser, **changes: str) -> dict[str, Any]:
    answer = app.exchange(code_of(browser, client_id=app.client_id, **changes))
    assert answer.status == 200, answer.content
    return answer.json


def add_person(gatehouse: InProcess, username: str, *roles: str) -> int:
    new = NewUser(username, username, hash_password(PASSWORD), 1, 0)
    return gatehouse.run(gatehouse.accounts.add_user(new, roles))


def query_of(url: str) -> dict[str, list[str]]:
    return parse_qs(urlsplit(url).query, keep_blank_values=True)


def on_our_page(page: Page) -> bool:
    """Refused by a page of ours: the browser goes nowhere, and nothing of the answer runs."""
    assert page.answer.headers["content-type"] == "text/html; charset=utf-8"
    return page.status == 400 and "location" not in page.answer.headers


def refused(answer: Answer, error: str = "invalid_grant", status: int = 400) -> bool:
    assert (answer.status, answer.json.get("error")) == (status, error), answer.content
    return True


def second_node(gatehouse: InProcess) -> InProcess:
    """Over the same stores and in the same loop, so that both can be asked at once."""
    node = copy.copy(gatehouse)
    node.service = Service(gatehouse.settings, gatehouse.clock)
    gatehouse.run(node.service.key_ring.load())
    node.app = App(node.service, renderer(gatehouse.settings.captcha_difficulty))
    return node

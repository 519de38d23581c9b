"""A served Gatehouse whose people come from a real provider, and their browser."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import httpx

from gatehouse.identity_sources.definitions import ProviderConfig, SourceKind
from gatehouse.management.authority import OPERATOR
from gatehouse.management.identity_sources import SourceDraft
from tests.api.company_login.browser import EXCHANGE, query_of
from tests.support.accounts import Accounts
from tests.support.conversation import LOGOUT, ME, bearer
from tests.support.people import with_stores
from tests.support.running import Running
from tests.support.shared import shared

CALLBACK, LOGGED_OUT, BACK_CHANNEL = "/login/corp/callback", "/login/corp/logged-out", "/login/corp/backchannel-logout"

LogIn = Callable[[str], str]  # from the provider's URL to where it sends the browser


class Served(Running):
    """Told of its provider by `add_provider`, then started."""

    def add_provider(self, config: ProviderConfig, secret: str) -> None:
        async def add(service: Any) -> None:
            await Accounts(service).add_role("STAFF", "Staff")
            draft = SourceDraft(title="Corp", config=config, secret=secret)
            await service.management.source_changes.add(OPERATOR, "corp", SourceKind.OPENID, draft)

        shutil.copytree(shared().get("data_folder"), self.data)
        with_stores(self, add)

    def arrive(self, browser: httpx.Client, log_in: LogIn) -> str:
        """Where a login sends the browser in the end."""
        there = browser.get(f"{self.url}/login/corp").headers["location"]
        return str(browser.get(log_in(there)).headers["location"])

    def login(self, browser: httpx.Client, log_in: LogIn) -> dict[str, Any]:
        ticket = query_of(self.arrive(browser, log_in))["ticket"]
        answer = browser.post(f"{self.url}{EXCHANGE}", json={"ticket": ticket})
        assert answer.status_code == 200, answer.text
        return dict(answer.json()["data"])

    def me(self, browser: httpx.Client, tokens: dict[str, Any]) -> httpx.Response:
        return browser.get(f"{self.url}{ME}", headers=bearer(tokens))

    def log_out(self, browser: httpx.Client, tokens: dict[str, Any]) -> str:
        """The provider's address that our logout goes on to."""
        answer = browser.post(f"{self.url}{LOGOUT}", headers=bearer(tokens))
        return str(browser.get(answer.headers["logout-location"]).headers["location"])

"""For the browser tests of company logins: a service with providers, and a provider that lets people in at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode

from gatehouse.composition import Service
from gatehouse.identity_sources.definitions import Mapping, ProviderConfig, SourceKind
from gatehouse.management.authority import OPERATOR
from gatehouse.management.identity_sources import SourceDraft
from gatehouse.settings import load
from tests.identity_sources.provider.hostile_provider import CLIENT_ID, SECRET, HostileProvider, sign
from tests.identity_sources.provider.loopback_server import Asked, Reply
from tests.support.running import Running
from tests.support.waiting import wait_until

PROVIDERS = "/api/v1/auth/providers"


class QuickProvider(HostileProvider):
    """Asks nothing: whoever comes is `name`, in the group `admins`; or comes back with an `error`."""

    def __init__(self) -> None:
        super().__init__()
        self.name = "caroline"
        self.error = ""
        self.routes |= {"/authorize": self._authorize, "/logout": self._log_out}

    def _authorize(self, asked: Asked) -> Reply:
        query = asked.query
        self.callback = query["redirect_uri"]
        self.clock.now = time.time()  # it stands still, and ID tokens would have expired for the last tests of a file
        person = {"sub": self.name, "preferred_username": self.name, "name": self.name.title(), "groups": ["admins"]}
        self.id_token = sign(self.claims(nonce=query["nonce"], **person))
        answer = {"error": self.error} if self.error else {"code": query["code_challenge"]}
        return _redirect(f"{self.callback}?{urlencode({**answer, 'state': query['state']})}")

    def _log_out(self, asked: Asked) -> Reply:
        return _redirect(asked.query["post_logout_redirect_uri"])


def _redirect(url: str) -> Reply:
    return Reply(b"", 302, headers={"Location": url})


def add_provider(running: Running, provider: HostileProvider, name: str = "corp", **values: Any) -> None:
    """In force when the service has seen it."""
    mapping = Mapping(groups="groups", roles={"admins": ("ADMIN",)})
    config = ProviderConfig(issuer=provider.url, client_id=CLIENT_ID, icon=values.pop("icon", ""), mapping=mapping)
    draft = SourceDraft(**{"title": name.title(), "config": config, "secret": SECRET, **values})
    _change(running, lambda service: service.management.source_changes.add(OPERATOR, name, SourceKind.OPENID, draft))
    with running.client() as client:
        wait_until(
            lambda: name in [each["name"] for each in client.get(PROVIDERS).json()["data"]], "the provider is there"
        )


def remove_provider(running: Running, name: str) -> None:
    _change(running, lambda service: service.management.source_changes.remove(OPERATOR, name))
    with running.client() as client:
        wait_until(
            lambda: name not in [each["name"] for each in client.get(PROVIDERS).json()["data"]], "the provider is gone"
        )


def _change(running: Running, work: Callable[[Service], Awaitable[object]]) -> None:
    """As the command line does, beside the running service. In a thread: Playwright's loop has this one."""

    async def change() -> None:
        service = Service(load(environ=running.env))
        try:
            await work(service)
        finally:
            await service.stop()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, change()).result()

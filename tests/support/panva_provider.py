"""panva's `oidc-provider` from npm, a provider that is certified, in a process of its own.

It forgets everything when it stops. `make test-all` installs it; where npm cannot, the tests are left out.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import httpx
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from tests.support.engines import NotInstalled, Server
from tests.support.html_forms import follow, submit

FOLDER = Path(__file__).parents[1] / "openid_provider"


class PanvaProvider(Server):
    def __init__(self, *clients: dict[str, Any]) -> None:
        if not shutil.which("node") or not (FOLDER / "node_modules/oidc-provider").exists():
            raise NotInstalled("oidc-provider is not installed; with npm on the PATH `make test-all` installs it")
        super().__init__()
        self.issuer = f"http://127.0.0.1:{self.port}"
        self._clients = clients
        self.rotate_keys()

    def rotate_keys(self) -> None:
        """Takes effect at the next start."""
        key: dict[str, Any] = ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP256R1()), as_dict=True)
        self._jwks = {"keys": [key | {"alg": "ES256", "use": "sig"}]}

    def command(self) -> list[str]:
        return ["node", str(FOLDER / "server.mjs")]

    def launch(self) -> None:
        told = {"issuer": self.issuer, "port": self.port, "clients": self._clients, "jwks": self._jwks}
        os.environ["PANVA"] = json.dumps(told)
        try:
            super().launch()
        finally:
            del os.environ["PANVA"]

    def log(self) -> str:
        return (self.folder / "log").read_text()

    def answers(self) -> bool:
        try:
            return httpx.get(f"{self.issuer}/.well-known/openid-configuration").is_success
        except httpx.TransportError:
            return False

    def log_in(self, browser: httpx.Client, url: str, callback: str, name: str) -> str:
        """Logs in and consents as a person would; returns where the browser is sent in the end."""
        page = follow(browser, browser.get(url), callback)
        while not page.is_redirect:
            values = {"login": name, "password": "any"} if 'name="login"' in page.text else {}
            page = follow(browser, submit(browser, page, **values), callback)
        return page.headers["location"]

    def log_out(self, browser: httpx.Client, url: str, callback: str) -> str:
        """Confirms the provider's own question."""
        page = follow(browser, browser.get(url), callback)
        return follow(browser, submit(browser, page, logout="yes"), callback).headers["location"]

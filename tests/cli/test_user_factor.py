"""`gatehouse user factor` against a running service."""

from __future__ import annotations

import time
from typing import Any

import httpx

from tests.cli.conftest import PASSPHRASE
from tests.cli.terminal import Terminal
from tests.support.conversation import LOGIN, assert_failure, bearer, credentials, login
from tests.support.factors import enrol


def enrolled(client: httpx.Client, username: str) -> list[str]:
    headers = bearer(login(client, username=username, password=PASSPHRASE))

    def call(method: str, path: str, body: object) -> dict[str, Any]:
        return dict(client.request(method, path, json=body, headers=headers).json()["data"])

    return enrol(call, time.time, {"currentPassword": PASSPHRASE})[1]


def test_an_operator_sees_and_resets_a_second_factor(client: httpx.Client, typed: Terminal, somebody: str) -> None:
    nothing = {"username": somebody, "totp": "off", "recovery_codes_left": 0, "password_login": "on", "passkeys": []}
    assert typed("user", "factor", somebody, "--json").json == nothing
    codes = enrolled(client, somebody)
    assert_failure(client.post(LOGIN, json=credentials(client, username=somebody, password=PASSPHRASE)), 400, "A0220")
    login(client, username=somebody, password=PASSPHRASE, captchaCode=codes[0])
    assert typed("user", "factor", somebody, "--json").json == nothing | {"totp": "on", "recovery_codes_left": 9}
    [listed] = typed("user", "list", "--search", somebody, "--json").json
    assert listed["factors"] == ["totp"]
    shown = typed("user", "factor", somebody).done()
    assert "No passkeys." in shown
    assert codes[1] not in shown
    assert typed("user", "factor", somebody, "--reset", "--yes").done() == f"Removed from {somebody}: totp.\n"
    assert login(client, username=somebody, password=PASSPHRASE)
    again = typed("user", "factor", somebody, "--reset", "--yes").done()
    assert again == f"Removed from {somebody}: nothing, there was no second factor.\n"
    assert '"event":"factor.reset"' in typed("audit", "--user", somebody, "--json").done().replace(" ", "")


def test_a_reset_asks_first(typed: Terminal, somebody: str) -> None:
    assert "nothing more was done" in typed("user", "factor", somebody, "--reset").refused(1)

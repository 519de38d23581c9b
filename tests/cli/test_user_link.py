"""`gatehouse user link` against a running service."""

from __future__ import annotations

import httpx

from tests.cli.conftest import PASSPHRASE
from tests.cli.terminal import Terminal
from tests.support.conversation import ME, assert_failure, bearer, login

LINK = "/api/v1/auth/password-link"
NEW = "a wholly different phrase"


def test_a_user_sets_the_password_by_the_link_of_an_operator(
    client: httpx.Client, typed: Terminal, somebody: str, tokens: dict[str, object]
) -> None:
    said, url = typed("user", "link", somebody.upper()).done().splitlines()
    assert said.startswith(f"{somebody} sets a password here, once, until ")
    page, _, ticket = url.partition("#")
    assert client.get(page).status_code == 200
    assert client.post(LINK, json={"ticket": ticket}).json()["data"] == {"username": somebody}
    # The link alone changes nothing.
    assert client.get(ME, headers=bearer(tokens)).status_code == 200
    other = typed("user", "link", somebody, "--json").json
    assert set(other) == {"username", "url", "expires"}
    assert client.put(LINK, json={"ticket": ticket, "newPassword": NEW}).json()["code"] == "00000"
    assert client.get(ME, headers=bearer(tokens)).status_code == 401
    assert login(client, username=somebody, password=NEW)
    for void in (ticket, other["url"].partition("#")[2]):
        assert_failure(client.put(LINK, json={"ticket": void, "newPassword": PASSPHRASE}), 400, "A0242")
    [first, second] = typed("audit", "--user", somebody, "--event", "password_link.made", "--json").done().splitlines()
    assert ticket not in first + second
    assert '"cli"' in first


def test_there_is_no_link_for_nobody(typed: Terminal) -> None:
    assert "there is no user 'nobody-here'" in typed("user", "link", "nobody-here").refused()

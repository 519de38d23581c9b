"""`gatehouse limit` and `gatehouse service-key`: what they lift, give and take counts on the next request."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.cli.conftest import PASSPHRASE
from tests.cli.terminal import Terminal
from tests.support.conversation import LOGIN, assert_failure, credentials, login
from tests.support.local import Local


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    """Two failures, and a name must wait."""
    with Local(tmp_path_factory.mktemp("strict") / "data", limits="on", limit_login_name="2/5minutes") as running:
        yield running


def fail(client: httpx.Client, username: str) -> httpx.Response:
    return client.post(LOGIN, json=credentials(client, username=username, password="wrong"))


def test_a_name_that_must_wait_is_listed_and_lifted(strict: Local) -> None:
    typed = Terminal(strict.env)
    with strict.client() as client:
        login(client)  # from here on this address is a known place of admin
        for name in ("Admin", "Admin", "a|b", "a|b"):
            assert_failure(fail(client, name), 400, "A0210")
        assert_failure(client.post(LOGIN, json=credentials(client)), 429, "A0211")
        listed = {each["name"]: each for each in typed("limit", "list", "--json").json}
        assert (listed["admin"]["place"], listed["admin"]["failures"]) == ("127.0.0.1", 2)
        assert (listed["a|b"]["place"], listed["a|b"]["failures"]) == ("elsewhere", 2)
        assert "elsewhere" in typed("limit", "list").done()
        assert typed("limit", "lift", "ADMIN").done() == "Unlocked ADMIN.\n"
        assert login(client)
        assert_failure(fail(client, "a|b"), 429, "A0211")
        typed("limit", "lift", "a|b").done()
        assert_failure(fail(client, "a|b"), 400, "A0210")
    assert typed("limit", "lift", "nobody").done() == "nobody is not locked.\n"
    assert typed("limit", "list", "--json").json == []
    assert typed("limit", "list").done() == "No name is locked.\n"
    assert "limit.lifted" in typed("audit", "--event", "limit.lifted").done()


def test_lifting_forgets_failures_that_have_not_led_to_a_wait_yet(strict: Local) -> None:
    typed = Terminal(strict.env)
    typed("user", "add", "ann", "--password-stdin", stdin=PASSPHRASE).done()
    with strict.client() as client:
        login(client, username="ann", password=PASSPHRASE)
        assert_failure(fail(client, "ann"), 400, "A0210")
        typed("limit", "lift", "ann").done()
        assert_failure(fail(client, "ann"), 400, "A0210")
        assert login(client, username="ann", password=PASSPHRASE)


def introspect(client: httpx.Client, key: str, token: str) -> httpx.Response:
    return client.post("/oauth2/introspect", data={"token": token}, headers={"Authorization": f"Bearer {key}"})


def test_a_service_key_opens_introspection_until_it_is_revoked(client: httpx.Client, typed: Terminal) -> None:
    token = login(client)["accessToken"]
    key = typed("service-key", "add", "billing", "--json").json["key"]
    assert introspect(client, key, token).json()["active"] is True
    assert "billing" in [each["name"] for each in typed("service-key", "list", "--json").json]
    table = typed("service-key", "list").done()
    assert "billing" in table
    assert key not in table
    kept = typed("service-key", "revoke", "billing", stdin="n\n")
    assert kept.code == 1
    typed("service-key", "revoke", "billing", "--yes").done()
    assert introspect(client, key, token).status_code == 401
    assert "billing" not in typed("service-key", "list").done()


def test_no_service_keys_is_said_in_words(strict: Local) -> None:
    assert Terminal(strict.env)("service-key", "list").done() == "No service keys.\n"


def test_a_service_key_is_shown_once(typed: Terminal) -> None:
    echo = typed("service-key", "add", "shop").done()
    assert echo.startswith("The key of shop, shown this once: ghs_")
    assert "there is a service key 'shop' already" in typed("service-key", "add", "shop").refused()
    assert "a service name has" in typed("service-key", "add", "").refused()
    assert "there is no service key 'none'" in typed("service-key", "revoke", "none", "--yes").refused()
    typed("service-key", "revoke", "shop", "--yes").done()

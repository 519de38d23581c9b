"""`gatehouse key` and `gatehouse secret` beside a running service that nobody restarts."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest

from tests.cli.terminal import Terminal
from tests.support.conversation import ME, assert_failure, bearer, login, refresh
from tests.support.local import Local
from tests.support.running import Running
from tests.support.waiting import wait_until


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    """A service of these tests' own: keys are everybody's."""
    with Local(tmp_path_factory.mktemp("keys") / "data") as running:
        yield running


def kid(tokens: dict[str, Any]) -> str:
    return str(jwt.get_unverified_header(tokens["accessToken"])["kid"])


def published(client: httpx.Client) -> set[str]:
    return {key["kid"] for key in client.get("/.well-known/jwks.json").json()["keys"]}


def look_again(client: httpx.Client, until: Callable[[set[str]], bool]) -> None:
    """Present forged tokens that name no known key until the service has read its keys again: once a second."""
    parts = [{"typ": "at+jwt", "alg": "EdDSA", "kid": "unheard-of"}, {"sub": "1"}]
    forged = ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)

    def read_again() -> bool:
        assert_failure(client.get(ME, headers=bearer(f"{forged}.AAAA")), 401, "A0230")
        return until(published(client))

    wait_until(read_again, "the keys are read again")


def test_a_rotated_key_is_picked_up_and_the_old_one_verifies(own: Local) -> None:
    typed = Terminal(own.env)
    with own.client() as client:
        tokens = login(client)
        new = typed("key", "rotate", "--json").json["kid"]
        look_again(client, lambda known: {kid(tokens), new} <= known)
        assert client.get(ME, headers=bearer(tokens)).status_code == 200
        assert refresh(client, tokens).status_code == 200
    listed = {each["kid"]: each for each in typed("key", "list", "--json").json}
    assert (listed[kid(tokens)]["state"], listed[new]["state"]) == ("signs", "next")
    assert listed[new]["retired"] is None
    assert new in typed("key", "list").done()
    assert "signs in 375 seconds" in typed("key", "rotate").done()


def test_a_retired_key_is_refused_and_its_sessions_live_on(own: Local) -> None:
    typed = Terminal(own.env)
    with own.client() as client:
        tokens = login(client)
        assert client.get(ME, headers=bearer(tokens)).status_code == 200
        asked = typed("key", "retire", kid(tokens), stdin="n\n")
        assert (asked.code, "every token it signed?" in asked.err) == (1, True)
        typed("key", "retire", kid(tokens), "--yes").done()
        look_again(client, lambda known: kid(tokens) not in known)
        assert_failure(client.get(ME, headers=bearer(tokens)), 401, "A0230")
        fresh = refresh(client, tokens).json()["data"]
        assert kid(fresh) != kid(tokens)
        assert client.get(ME, headers=bearer(fresh)).status_code == 200


def test_there_is_always_a_key_that_signs(own: Local) -> None:
    typed = Terminal(own.env)
    for each in typed("key", "list", "--json").json:
        last = typed("key", "retire", each["kid"], "--yes", "--json").json
    assert [(each["kid"], each["state"]) for each in typed("key", "list", "--json").json] == [
        (last["successor"], "signs")
    ]
    assert "there is no key 'none'" in typed("key", "retire", "none", "--yes").refused()


@pytest.mark.full
def test_nobody_is_logged_out_by_a_new_secret_and_a_restart(tmp_path: Path) -> None:
    running = Running(tmp_path / "data")
    typed = Terminal(running.env)
    with running, running.client() as client:
        tokens = login(client)
    assert "The new secret is in force" in typed("secret", "rotate", "--now").done()
    assert "1 older one to decrypt with" in typed("doctor").done()
    with running, running.client() as client:
        assert client.get(ME, headers=bearer(tokens)).status_code == 200
        assert refresh(client, tokens).status_code == 200
    told = typed("audit", "--event", "secret.rotated", "--json").out.splitlines()
    assert [json.loads(line)["event"] for line in told] == ["secret.rotated"]

    # Under a foreign secret it does not even start.
    (running.data / "secret").write_text("kP3vLr9QyX2mTn7wBz5cHd8fJg4sAe6u\n")
    refused = running.cli("serve")
    assert (refused.returncode, refused.stdout) == (2, "")
    said = refused.stderr.splitlines()[-1]  # after a warning about the setting that the tests start it with
    assert said.startswith("gatehouse: signing keys: ")
    assert said.endswith("was sealed under another master secret")

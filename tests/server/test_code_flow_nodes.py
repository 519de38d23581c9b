"""A login at an application goes on at another node when the one that began it is killed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest

from tests.api.oauth.application import CALLBACK, CHALLENGE, VERIFIER
from tests.support.engines import Postgres, Redis
from tests.support.html_forms import browser, follow, submit
from tests.support.running import ANSWER, PASSWORD, Running, free_port

pytestmark = pytest.mark.full

PERSON = {"username": "admin", "password": PASSWORD, "captchaCode": ANSWER}


class Nodes:
    """Two behind one address, at which the first of them listens, and an application that both know."""

    def __init__(self, first: Running, second: Running) -> None:
        self.first = first
        self.second = second
        scopes = ("--scope", "openid", "--scope", "offline_access")
        added = first.cli("client", "add", "app", "--redirect-uri", CALLBACK, *scopes, "--json")
        assert added.returncode == 0, added.stderr
        self.credentials = ("app", json.loads(added.stdout)["client_secret"])

    @property
    def authorize_url(self) -> str:
        asked = {
            "client_id": "app", "redirect_uri": CALLBACK, "response_type": "code", "scope": "openid offline_access",
            "nonce": "a nonce", "code_challenge": CHALLENGE, "code_challenge_method": "S256",
        }  # fmt: skip
        return f"{self.first.url}/oauth2/authorize?{urlencode(asked)}"

    def lose_the_first(self, client: httpx.Client) -> None:
        """From now on whoever balances the load sends everybody to the second."""
        self.first.kill()

        def to_the_second(request: httpx.Request) -> None:
            request.url = request.url.copy_with(port=self.second.port)

        client.event_hooks["request"].append(to_the_second)

    def token(self, **form: str) -> httpx.Response:
        return httpx.post(f"{self.second.url}/oauth2/token", data=form, auth=self.credentials, timeout=60)

    def exchange(self, answer: httpx.Response) -> httpx.Response:
        [code] = parse_qs(urlsplit(answer.headers["location"]).query)["code"]
        return self.token(grant_type="authorization_code", code=code, redirect_uri=CALLBACK, code_verifier=VERIFIER)


@pytest.fixture(params=["redis", "postgres"])
def nodes(
    request: pytest.FixtureRequest, postgres_server: Postgres, redis_server: Redis, tmp_path: Path
) -> Iterator[Nodes]:
    database = postgres_server.create(f"code_flow_{request.param}")
    port = free_port()
    given = {
        "database_url": database,
        "state_url": redis_server.emptied(58) if request.param == "redis" else database,
        "secret": "Qm7xT2vK9dR4wB8nZ5jL1sF6hY3pC0gE",
        "issuer": f"http://127.0.0.1:{port}",
        "workers": 1,
    }
    with Running(tmp_path / "a", port=port, **given) as first, Running(tmp_path / "b", **given) as second:
        yield Nodes(first, second)


def test_killed_between_authorize_and_token(nodes: Nodes) -> None:
    with browser() as client:
        page = follow(client, client.get(nodes.authorize_url), CALLBACK)
        answer = follow(client, submit(client, page, **PERSON), CALLBACK)
        nodes.lose_the_first(client)
        tokens = nodes.exchange(answer).json()
        refreshed = nodes.token(grant_type="refresh_token", refresh_token=tokens["refresh_token"]).json()
        assert refreshed["id_token"]
        # The browser is still logged in, and another code comes without a form.
        again = follow(client, client.get(nodes.authorize_url), CALLBACK)
        assert nodes.exchange(again).status_code == 200
        # The first code is as used as if the node that made it had lived.
        twice = nodes.exchange(answer)
        assert (twice.status_code, twice.json()["error"]) == (400, "invalid_grant")
        ended = nodes.token(grant_type="refresh_token", refresh_token=refreshed["refresh_token"])
        assert (ended.status_code, ended.json()["error"]) == (400, "invalid_grant")


def test_killed_while_somebody_fills_in_the_form(nodes: Nodes) -> None:
    with browser() as client:
        page = follow(client, client.get(nodes.authorize_url), CALLBACK)
        nodes.lose_the_first(client)
        answer = follow(client, submit(client, page, **PERSON), CALLBACK)
        assert nodes.exchange(answer).json()["id_token"]

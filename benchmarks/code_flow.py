"""Logins to an application a second, by Gatehouse and by Keycloak in turns: `python -m benchmarks.code_flow`.

Two kinds: a browser that has a session (authorize, code, token), and one that signs in at the form first; 64 people, of
whom eight do so at any time. Both providers answer the same requests of the same client, with PKCE and RS256, on one
core; the load is on the other one. Each keeps its data in its embedded database, with the costs of a password hash that
it is shipped with. The captcha of the form is solved by the test switch. Keycloak warms up for `--warm-up` seconds: its
code is compiled while it runs.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import http.client
import itertools
import json
import secrets
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import psutil
from rich.console import Console
from rich.table import Table

from benchmarks.load import LOAD_CORE, SERVER_CORE, on_core, staying_on
from benchmarks.running_service import HIGH_LIMITS, Subject
from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.common import logs
from gatehouse.composition import Service
from gatehouse.stores.database.users import NewUser
from tests.support.accounts import Accounts
from tests.support.html_forms import browser, follow, submit
from tests.support.keycloak import JAVA, KeycloakServer
from tests.support.people import with_stores
from tests.support.running import ANSWER, PASSWORD

CALLBACK = "http://127.0.0.1:9/callback"  # nobody listens there: the browser only has to be sent
VERIFIER = secrets.token_urlsafe(48)
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
CONNECTIONS = 8
PEOPLE = 64
PER_BROWSER = PEOPLE // CONNECTIONS
DRAIN_SECONDS = 1.5


Flow = Callable[[], None]
Open = Callable[[], Flow]  # connections are opened for each round: nobody keeps idle ones for long


class Provider(NamedTuple):
    name: str
    issuer: str
    authorize: str
    token: str
    client_id: str
    client_secret: str
    process: int

    def authorize_url(self) -> str:
        query = {
            "response_type": "code", "client_id": self.client_id, "redirect_uri": CALLBACK, "scope": "openid",
            "state": secrets.token_urlsafe(16), "nonce": secrets.token_urlsafe(16),
            "code_challenge": CHALLENGE, "code_challenge_method": "S256",
        }  # fmt: skip
        return f"{self.authorize}?{urlencode(query)}"

    def token_form(self, location: str) -> dict[str, str]:
        [code] = parse_qs(urlsplit(location).query)["code"]
        return {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "code_verifier": VERIFIER}

    def cpu_seconds(self) -> float:
        server = psutil.Process(self.process)
        return sum(sum(each.cpu_times()[:2]) for each in (server, *server.children(recursive=True)))


class Round(NamedTuple):
    rate: float  # flows a second
    cpu_ms: float  # of the provider, for each
    p50: float
    p99: float


def sign_in(provider: Provider, person: int) -> httpx.Client:
    """A browser that has gone through the form up to the code, which it has exchanged."""
    client = browser()
    page = follow(client, client.get(provider.authorize_url()), CALLBACK)
    fields = {"username": f"person{person}", "password": PASSWORD, "captchaCode": ANSWER}  # Keycloak ignores the last
    answer = follow(client, submit(client, page, **fields), CALLBACK)
    assert answer.is_redirect, answer.text
    exchanged = client.post(
        provider.token,
        data=provider.token_form(answer.headers["location"]),
        auth=(provider.client_id, provider.client_secret),
    )
    assert "id_token" in exchanged.json(), exchanged.text
    return client


def form_flow(provider: Provider, number: int) -> Open:
    people = _people(number)
    return lambda: lambda: sign_in(provider, next(people)).close()


def session_flow(provider: Provider, number: int) -> Open:
    """Bare connections: what httpx costs would be most of what is measured."""
    sessions = [sign_in(provider, person) for person, _ in zip(_people(number), range(PER_BROWSER), strict=False)]
    jars = ["; ".join(f"{cookie.name}={cookie.value}" for cookie in client.cookies.jar) for client in sessions]
    for client in sessions:
        client.close()
    cookies = itertools.cycle(jars)
    basic = base64.b64encode(f"{provider.client_id}:{provider.client_secret}".encode()).decode()
    headers = {"Authorization": f"Basic {basic}", "Content-Type": "application/x-www-form-urlencoded"}

    def flow(connection: http.client.HTTPConnection) -> None:
        connection.request("GET", provider.authorize_url(), headers={"Cookie": next(cookies)})
        answer = connection.getresponse()
        answer.read()
        location = answer.headers["location"]
        assert (location or "").startswith(CALLBACK), location
        connection.request("POST", provider.token, urlencode(provider.token_form(location)), headers)
        answer = connection.getresponse()
        assert "id_token" in json.loads(answer.read())

    return lambda: partial(flow, http.client.HTTPConnection(urlsplit(provider.issuer).netloc))


def _people(number: int) -> Iterator[int]:
    """Those who use one of the browsers."""
    return itertools.cycle(range(number * PER_BROWSER, (number + 1) * PER_BROWSER))


def prepared(provider: Provider, kind: Callable[[Provider, int], Open]) -> list[Open]:
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        return list(pool.map(kind, [provider] * CONNECTIONS, range(CONNECTIONS)))


def measured(provider: Provider, browsers: list[Open], seconds: float) -> Round:
    """Each of the browsers begins the next flow when one is done."""
    times: list[float] = []

    def keep_going(open_: Open) -> None:
        one = open_()
        while (began := time.perf_counter()) < ends:
            one()
            times.append(time.perf_counter() - began)

    with staying_on(LOAD_CORE), ThreadPoolExecutor(CONNECTIONS) as pool:
        before, began = provider.cpu_seconds(), time.perf_counter()
        ends = began + seconds
        list(pool.map(keep_going, browsers))
        took = time.perf_counter() - began
        used = provider.cpu_seconds() - before
    time.sleep(DRAIN_SECONDS)
    cuts = statistics.quantiles(times, n=100)
    return Round(len(times) / took, used * 1000 / len(times), cuts[49] * 1000, cuts[98] * 1000)


@contextmanager
def gatehouse(folder: Path) -> Iterator[Provider]:
    with Subject(folder / "data", log_level="warning", **HIGH_LIMITS) as subject:
        added = subject.running.cli("client", "add", "bench", "--redirect-uri", CALLBACK, "--json")
        assert added.returncode == 0, added.stderr
        client, url = json.loads(added.stdout), subject.running.url
        with_stores(subject.running, _hire)
        assert subject.running.process is not None
        yield Provider(
            "Gatehouse", url, f"{url}/oauth2/authorize", f"{url}/oauth2/token",
            client["client_id"], client["client_secret"], subject.running.process.pid,
        )  # fmt: skip


async def _hire(service: Service) -> None:
    hashed = hash_password(PASSWORD)
    for number in range(PEOPLE):
        await Accounts(service).add_user(NewUser(f"person{number}", f"Person {number}", hashed, 1, 0))


class FullSpeedKeycloak(KeycloakServer):
    """On one core, and with Java's own choices: the tests want a start that is quick and small."""

    def command(self) -> list[str]:
        return [*on_core(SERVER_CORE), "java", *super().command()[len(JAVA) :]]


@contextmanager
def keycloak() -> Iterator[Provider]:
    server = FullSpeedKeycloak()
    try:
        server.start()
        client = server.create_client([CALLBACK])
        for number in range(PEOPLE):
            server.create_user(f"person{number}", PASSWORD)
        base = f"{server.issuer}/protocol/openid-connect"
        assert server.process is not None
        yield Provider(
            "Keycloak",
            server.issuer,
            f"{base}/auth",
            f"{base}/token",
            client.id,
            client.secret,
            server.process.pid,
        )
    finally:
        server.remove()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--warm-up", type=float, default=300, help="seconds for each kind of flow")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    logs.configure("error", "json")
    kinds = {"with a session": session_flow, "with the form": form_flow}
    found: dict[str, dict[str, list[Round]]] = {kind: {} for kind in kinds}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        providers = [stack.enter_context(gatehouse(Path(folder))), stack.enter_context(keycloak())]
        for kind, flow in kinds.items():
            ready = {provider: prepared(provider, flow) for provider in providers}
            for provider, browsers in ready.items():
                measured(provider, browsers, options.warm_up if provider.name == "Keycloak" else 2)
            for _ in range(options.rounds):
                for provider, browsers in ready.items():
                    found[kind].setdefault(provider.name, []).append(measured(provider, browsers, options.seconds))
    show(found)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


def show(found: dict[str, dict[str, list[Round]]]) -> None:
    table = Table(title="logins to an application, one core, medians of rounds by turns")
    for heading in ("flow", "provider", "a second", "lowest to highest", "CPU ms each", "p50 ms", "p99 ms"):
        table.add_column(heading)
    for kind, by_provider in found.items():
        for name, rounds in by_provider.items():
            rates = [each.rate for each in rounds]
            middle: list[Any] = [statistics.median(each[field] for each in rounds) for field in range(4)]
            table.add_row(
                kind, name, f"{middle[0]:.1f}", f"{min(rates):.1f} to {max(rates):.1f}",
                f"{middle[1]:.2f}", f"{middle[2]:.1f}", f"{middle[3]:.1f}",
            )  # fmt: skip
    Console(width=120).print(table)


if __name__ == "__main__":
    main()

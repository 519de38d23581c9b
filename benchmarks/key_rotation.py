"""A rotation from EdDSA to ES256 under load: is any request refused, by Gatehouse or by a service that is offline?

python -m benchmarks.key_rotation [--people 8] [--seconds 60]

The database is one whose key is EdDSA, as 0.1.0 left it; the service is started with the default. People refresh and
ask for users/me without pause, and every token is verified offline too, by a service that keeps the JWKS for as long as
it may. The new key would sign after 375 s: once it is published and the service has fetched it, its times are moved
back in the database so that it signs soon, instead of waiting.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import httpx
import jwt

from gatehouse.auth.keys.key_ring import NODE_RELOAD_SECONDS, PUBLISHED_BEFORE_SIGNING_SECONDS
from gatehouse.composition import Service
from gatehouse.verify import Verifier, VerifyError
from gatehouse.verify.keys import KeySet
from tests.support.conversation import ME, bearer, login, refresh
from tests.support.people import with_stores
from tests.support.running import Running

DAY = 86_400


def age_keys(data: Path, seconds: float) -> None:
    """Let what happened to the keys have happened so many seconds earlier."""
    with closing(sqlite3.connect(data / "accounts.db", timeout=10)) as db, db:
        db.execute("UPDATE signing_keys SET created = created - ?, retired = retired - ?", (seconds, seconds))


def algorithms(data: Path) -> list[str]:
    with closing(sqlite3.connect(data / "accounts.db", timeout=10)) as db:
        return [row[0] for row in db.execute("SELECT algorithm FROM signing_keys ORDER BY created")]


async def _signing(service: Service) -> str:
    await service.key_ring.load()
    return service.key_ring.signer.kid


class Load:
    def __init__(self, running: Running) -> None:
        self.running = running
        keys = KeySet(f"{running.url}/.well-known/jwks.json", min_interval=DAY)  # it never asks for an unknown key
        self.verifier = Verifier(keys, running.url)
        self.signed: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.answered = 0
        self.stopping = threading.Event()

    def person(self) -> None:
        with self.running.client() as client:
            tokens = login(client)
            while not self.stopping.is_set():
                answer = refresh(client, tokens)
                if not self.counted("refresh", answer):
                    return
                tokens = answer.json()["data"]
                self.counted("users/me", client.get(ME, headers=bearer(tokens)))
                self.signed[jwt.get_unverified_header(tokens["accessToken"])["alg"]] += 1
                try:
                    self.verifier.check(tokens["accessToken"])
                except VerifyError as refusal:
                    self.refused[f"offline: {refusal}"] += 1

    def counted(self, what: str, answer: httpx.Response) -> bool:
        self.answered += 1
        if answer.status_code != httpx.codes.OK:
            self.refused[f"{what}: {answer.status_code}"] += 1
        return answer.status_code == httpx.codes.OK


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        old = Running(data, signing_algorithm="EdDSA", log_level="warning")
        with old:
            kid = with_stores(old, _signing)
        age_keys(data, DAY)
        with Running(data, workers=2, port=old.port, log_level="warning") as running:
            load = Load(running)
            people = [threading.Thread(target=load.person) for _ in range(given.people)]
            for person in people:
                person.start()
            began = time.monotonic()
            while len(algorithms(data)) == 1:
                time.sleep(0.2)
            print(f"{kid} (EdDSA) signs; a new key was published after {time.monotonic() - began:.0f} s", flush=True)
            time.sleep(NODE_RELOAD_SECONDS + 2)
            load.verifier = Verifier(KeySet(f"{running.url}/.well-known/jwks.json", min_interval=DAY), running.url)
            age_keys(data, PUBLISHED_BEFORE_SIGNING_SECONDS - NODE_RELOAD_SECONDS - 5)
            time.sleep(max(0.0, began + given.seconds - time.monotonic()))
            load.stopping.set()
            for person in people:
                person.join()
    print(f"{load.answered:,} requests in {given.seconds:.0f} s; tokens by algorithm: {dict(load.signed)}")
    print(f"refused: {dict(load.refused) or 'none'}")


if __name__ == "__main__":
    main()

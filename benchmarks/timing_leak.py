"""Can the time of an answer tell anything about a name? Interleaved tries of each kind, and a statistical test.

    python -m benchmarks.timing_leak [--tries 200]

Refused logins, one after the other on one connection: a wrong password for an unknown name, for a plain one, for one
with an authenticator app and for one that only a passkey logs in; and for the last two the right password, where it
must not be told. Each kind is tried with a solved captcha, and with a code in the captcha field. The samples are
compared with those of the unknown name by a permutation test on the difference of their medians: if shuffling the
labels gives a difference as large in at least 1 % of 10,000 shuffles (p >= 0.01), they cannot be told apart.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from tests.support.conversation import LOGIN, bearer, credentials, login
from tests.support.factors import enrol
from tests.support.people import add_user, change_user, with_stores
from tests.support.running import PASSWORD, Running

THRESHOLD = 0.01
WRONG = "not the password"
CODE = "000000"


class Kind(NamedTuple):
    label: str
    username: str
    password: str = WRONG
    code: str | None = None


PICTURE = [
    Kind("unknown", "nobody"),
    Kind("plain", "plain"),
    Kind("authenticator app", "enrolled"),
    Kind("passkey only", "passkeys"),
    Kind("passkey only, right password", "passkeys", PASSWORD),
]
CODES = [kind._replace(code=CODE) for kind in PICTURE]
CODES.append(Kind("authenticator app, right password", "enrolled", PASSWORD, CODE))


def measure(client: httpx.Client, kind: Kind, number: int) -> float:
    # Every try under an unknown name is under another one.
    username = f"{kind.username}{number}" if kind.label == "unknown" else kind.username
    body = credentials(client, username=username, password=kind.password)
    if kind.code:
        body["captchaCode"] = kind.code
    started = time.perf_counter()
    answer = client.post(LOGIN, json=body)
    seconds = time.perf_counter() - started
    assert answer.json()["code"] == "A0210", answer.text
    return seconds


def chance(first: list[float], second: list[float], shuffles: int = 10_000) -> float:
    """How often shuffled labels give a difference of medians at least as large as the one measured."""
    found = abs(statistics.median(first) - statistics.median(second))
    both = first + second
    larger = 0
    for _ in range(shuffles):
        random.shuffle(both)
        larger += abs(statistics.median(both[: len(first)]) - statistics.median(both[len(first) :])) >= found
    return larger / shuffles


def prepare(service: Running, client: httpx.Client) -> None:
    numbers = {name: add_user(service, name) for name in ("plain", "enrolled", "passkeys")}
    headers = bearer(login(client, username="enrolled"))

    def call(method: str, path: str, body: object) -> dict[str, Any]:
        return dict(client.request(method, path, json=body, headers=headers).json()["data"])

    enrol(call, time.time)
    with_stores(service, lambda parts: change_user(parts.stores.database, numbers["passkeys"], password_login=False))


def compare(client: httpx.Client, kinds: list[Kind], tries: int) -> None:
    times: dict[Kind, list[float]] = {kind: [] for kind in kinds}
    for number in range(-5, tries):
        for kind in random.sample(kinds, len(kinds)):
            seconds = measure(client, kind, number)
            if number >= 0:  # the first few warm up
                times[kind].append(seconds)
    unknown = times[kinds[0]]
    for kind, measured in times.items():
        low, middle, high = (1e3 * value for value in statistics.quantiles(measured, n=4))
        line = f"{kind.label:34} median {middle:.2f} ms, quartiles {low:.2f} to {high:.2f}"
        if measured is not unknown:
            probability = chance(unknown, measured)
            verdict = "cannot be told apart" if probability >= THRESHOLD else "CAN BE TOLD APART"
            line += f"; p = {probability:.3f}: {verdict}"
        print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=200)
    tries = parser.parse_args().tries
    with tempfile.TemporaryDirectory() as folder, Running(Path(folder) / "data") as service, service.client() as client:
        prepare(service, client)
        for title, kinds in (("With a solved captcha:", PICTURE), ("With a code in the captcha field:", CODES)):
            print(title)
            compare(client, kinds, tries)


if __name__ == "__main__":
    main()

"""Can the time of an answer tell whether a name exists? 200 interleaved tries each, and a statistical test.

    python -m benchmarks.timing [--tries 200]

Known name with a wrong password against unknown names, one after the other on one connection. The two samples are
compared by a permutation test on the difference of their medians: if shuffling the labels gives a difference as large
in at least 1 % of 10,000 shuffles (p >= 0.01), they cannot be told apart.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path

import httpx

from tests.support.conversation import LOGIN, credentials
from tests.support.running import Running

THRESHOLD = 0.01


def measure(client: httpx.Client, username: str) -> float:
    body = credentials(client, username=username, password="not the password")
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=200)
    tries = parser.parse_args().tries
    known, unknown = [], []
    with tempfile.TemporaryDirectory() as folder, Running(Path(folder) / "data") as service, service.client() as client:
        for _ in range(10):
            measure(client, "admin"), measure(client, "nobody")
        for number in range(tries):
            pair = [("admin", known), (f"nobody{number}", unknown)]
            random.shuffle(pair)
            for name, times in pair:
                times.append(measure(client, name))
    for label, times in (("known name, wrong password", known), ("unknown name", unknown)):
        low, middle, high = (1e3 * value for value in statistics.quantiles(times, n=4))
        print(f"{label:28} median {middle:.2f} ms, quartiles {low:.2f} to {high:.2f}")
    probability = chance(known, unknown)
    verdict = "cannot be told apart" if probability >= THRESHOLD else "CAN BE TOLD APART"
    print(f"p = {probability:.3f} (threshold {THRESHOLD}): {verdict}")


if __name__ == "__main__":
    main()

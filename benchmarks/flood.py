"""A login flood of 200 clients: what do the others notice?

    python -m benchmarks.flood [--seconds 10]

Limits are on as they are by default. Measured from outside, on connections of their own: users/me and liveness, quiet
and during the flood; what the flood is answered with; the worker's memory.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx

from benchmarks.subject import Subject
from tests.conversation import CAPTCHA, LOGIN, ME
from tests.running import ANSWER

CLIENTS = 200


async def flood(url: str, ends: float, answers: Counter[int]) -> None:
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        while time.monotonic() < ends:
            try:
                captcha = await client.get(CAPTCHA)
                answers[captcha.status_code] += 1
                key = captcha.json().get("data", {}).get("captchaId", "none")
                body = {"username": "admin", "password": "wrong", "captchaId": key, "captchaCode": ANSWER}
                answers[(await client.post(LOGIN, json=body)).status_code] += 1
            except httpx.TransportError:
                answers[0] += 1


async def sample(url: str, path: str, headers: dict[str, str], ends: float) -> list[float]:
    times = []
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        while time.monotonic() < ends:
            started = time.perf_counter()
            answer = await client.get(path, headers=headers)
            times.append((time.perf_counter() - started) * 1e3)
            assert answer.status_code == 200, answer.text
            await asyncio.sleep(0.02)
    return times


async def run(subject: Subject, seconds: float) -> None:
    url, headers = subject.running.url, subject.bearer()
    for label, clients in (("quiet", 0), (f"{CLIENTS} clients log in", CLIENTS)):
        answers: Counter[int] = Counter()
        ends = time.monotonic() + seconds
        me, live, *_ = await asyncio.gather(
            sample(url, ME, headers, ends),
            sample(url, "/health/live", {}, ends),
            *(flood(url, ends, answers) for _ in range(clients)),
        )
        for name, times in (("users/me", me), ("liveness", live)):
            p99 = statistics.quantiles(times, n=100)[98]
            middle = statistics.median(times)
            print(f"{label:24} {name:9} median {middle:6.1f} ms, p99 {p99:6.1f} ms, {len(times)} samples")
        if answers:
            print(f"{'':24} answers {dict(sorted(answers.items()))}, memory {subject.memory():.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Subject(Path(folder) / "data", limits="on") as subject:
        asyncio.run(run(subject, given.seconds))


if __name__ == "__main__":
    main()

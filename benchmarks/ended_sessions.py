"""How soon a service that verifies tokens refuses one whose session has ended, and what a check costs it.

python -m benchmarks.ended_sessions [--engine embedded|engines|both] [--logouts 200] [--json FILE]

A person logs out at one node (embedded: at one of two workers); the verifying service follows the other. Counted is the
time from the answer of the logout to the first refusal: by the feed, by introspection, and by expiry alone.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx

from gatehouse.auth.audit import ClientInfo
from gatehouse.composition import Service
from gatehouse.verify import EndedSessions, Introspector, TokenInvalid, Verifier
from tests.support.conversation import LOGOUT, bearer
from tests.support.engines import PostgresServer, RedisServer
from tests.support.people import service_key, with_stores
from tests.support.running import Running

SECRET = "kP3vLr9QyX2mTn7wBz5cHd8fJg4sAe6u"
PAUSE_SECONDS = 0.001
CHECKS = 20_000


@contextmanager
def embedded(folder: Path) -> Iterator[list[Running]]:
    with Running(folder / "data", workers=2, sessions_per_user=10_000, log_level="warning") as running:
        yield [running, running]


@contextmanager
def engines(folder: Path) -> Iterator[list[Running]]:
    with ExitStack() as stack:
        redis, postgres = RedisServer(), PostgresServer()
        for server in (redis, postgres):
            stack.callback(server.remove)
            server.start()
        settings = {
            "database_url": postgres.create("bench"), "state_url": redis.url(), "secret": SECRET,
            "issuer": "http://localhost", "sessions_per_user": 10_000, "log_level": "warning",
        }  # fmt: skip
        nodes = [stack.enter_context(Running(folder / "data", **settings)) for _ in range(2)]
        yield nodes


async def open_sessions(service: Service, number: int) -> list[str]:
    """Access tokens of new sessions, without the hash that a login costs."""
    await service.key_ring.load()
    profile = await service.accounts.users.profile(1)
    if profile is None:
        raise ValueError("there is no administrator")
    now = time.time()
    sessions = [await service.sessions.open(1, ClientInfo(), ["pwd"]) for _ in range(number)]
    return [service.access_tokens.make(profile, session, now, now + 7200) for session in sessions]


def delays(node: Running, tokens: list[str], check: Callable[[str], object]) -> list[float]:
    """Seconds from the answer of each logout to the first refusal."""
    found = []
    with node.client() as client:
        for token in tokens:
            check(token)
            answer = client.post(LOGOUT, headers=bearer(token))
            answered = time.perf_counter()
            if answer.status_code != httpx.codes.OK:
                raise ValueError(f"the logout was answered {answer.status_code}")
            found.append(_refused(token, check) - answered)
    return found


def _refused(token: str, check: Callable[[str], object]) -> float:
    while True:
        try:
            check(token)
        except TokenInvalid:
            return time.perf_counter()
        time.sleep(PAUSE_SECONDS)


def microseconds(check: Callable[[str], object], tokens: list[str], calls: int) -> float:
    """CPU time of one check in this thread, as the median of ten parts: what else the machine does is left out."""
    parts, each = [], calls // 10
    for part in range(10):
        started = time.thread_time()
        for number in range(part * each, (part + 1) * each):
            check(tokens[number % len(tokens)])
        parts.append((time.thread_time() - started) / each * 1e6)
    return statistics.median(parts)


def measure(nodes: list[Running], logouts: int) -> dict[str, Any]:
    node, followed = nodes
    issuer = followed.env.get("GATEHOUSE_ISSUER", followed.url)
    keys, key = f"{followed.url}/.well-known/jwks.json", service_key(followed)
    offline = Verifier(keys, issuer)
    introspector = Introspector(f"{followed.url}/oauth2/introspect", key)
    tokens = with_stores(node, lambda service: open_sessions(service, 2 * logouts + 200))
    with EndedSessions(f"{followed.url}/events/ended-sessions/stream", key) as ended:
        following = Verifier(keys, issuer, ended_sessions=ended)
        following.check(tokens[0])
        by_feed = delays(node, tokens[:logouts], following.check)
        kept = tokens[2 * logouts :]
        cost = {
            "offline, a new token": microseconds(offline.check, kept, len(kept)),
            "offline, a token seen before": microseconds(offline.check, kept, CHECKS),
            "offline with the feed, a new token": microseconds(following.check, kept, len(kept)),
            "offline with the feed, a token seen before": microseconds(following.check, kept, CHECKS),
            "introspection": microseconds(introspector.check, kept, 500),
        }
    by_introspection = delays(node, tokens[logouts : 2 * logouts], introspector.check)
    left = offline.check(kept[0]).expires - time.time()
    return {
        "feed ms": _summary(by_feed),
        "introspection ms": _summary(by_introspection),
        "expiry alone, seconds left": round(left),
        "CPU microseconds of a check": {name: round(value, 1) for name, value in cost.items()},
    }


def _summary(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(second * 1000 for second in seconds)
    p99 = ordered[min(len(ordered) - 1, round(len(ordered) * 0.99))]
    return {"median": round(statistics.median(ordered), 1), "p99": round(p99, 1), "most": round(ordered[-1], 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=["embedded", "engines", "both"], default="both")
    parser.add_argument("--logouts", type=int, default=200)
    parser.add_argument("--json", type=Path, default=Path(".bench/ended_sessions.json"))
    given = parser.parse_args()
    given.json.parent.mkdir(parents=True, exist_ok=True)
    results = {}
    for name, start in (("embedded", embedded), ("engines", engines)):
        if given.engine in {name, "both"}:
            with tempfile.TemporaryDirectory(dir=given.json.parent) as folder, start(Path(folder)) as nodes:
                results[name] = measure(nodes, given.logouts)
                print(name, json.dumps(results[name], indent=1), flush=True)
    given.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()

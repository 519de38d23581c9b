"""What a backend does while Gatehouse cannot be reached, with each of the packages.

The table of tokens has one more: a feed that goes silent is answered 503 (`test_adapters.py`).
"""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from tests.examples.adapters import BY_NAME, Adapter, build, started
from tests.examples.issuer import running_issuer
from tests.support.conversation import bearer
from tests.support.running import free_port
from tests.support.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.full

# One for each package: what its guards share is the subject.
USERS_OF_PACKAGES = ("express", "gin", "spring-boot")
OUTAGE, END = "the feed of ended sessions is out of date", "works again"


@pytest.fixture(scope="module", params=USERS_OF_PACKAGES)
def adapter(request: pytest.FixtureRequest) -> Adapter:
    chosen = BY_NAME[request.param]
    build(chosen)
    return chosen


def outage_lines(logs: Path) -> list[str]:
    """What the backend has logged about Gatehouse: a word for each line."""
    (log,) = logs.glob("*.log")
    lines = re.findall(r"gatehouse: .*", log.read_text())
    return ["end" if END in line else "outage" if OUTAGE in line else line for line in lines]


def hello(service: str, token: str) -> int:
    return httpx.get(f"{service}/hello", headers=bearer(token), timeout=PATIENCE).status_code


def test_a_backend_started_in_an_outage_refuses_until_it_has_keys(adapter: Adapter, tmp_path: Path) -> None:
    with running_issuer(tmp_path) as another_issuer:
        token = another_issuer.tokens["good, ES256"]
    port = free_port()
    with started(adapter, f"http://127.0.0.1:{port}", "ghs_any", tmp_path) as service:
        # The first one waits for the feed: meanwhile the backend has tried to connect about ten times.
        assert [hello(service, token) for _ in range(5)] == [503] * 5
        assert httpx.get(f"{service}/hello", timeout=PATIENCE).status_code == 401
        assert httpx.get(f"{service}/health", timeout=PATIENCE).status_code == 200
        assert outage_lines(tmp_path) == ["outage"]
        with running_issuer(tmp_path, port) as issuer:
            wait_until(lambda: hello(service, issuer.tokens["good, ES256"]) == 200, "the first good answer")
            assert hello(service, token) == 401
        assert outage_lines(tmp_path)[:2] == ["outage", "end"]


def test_fail_open_accepts_good_tokens_while_the_feed_is_out_of_date(adapter: Adapter, tmp_path: Path) -> None:
    port = free_port()
    with started(adapter, f"http://127.0.0.1:{port}", "ghs_any", tmp_path, FAIL_OPEN="true") as service:
        with running_issuer(tmp_path, port) as issuer:
            tokens = issuer.tokens
            # Open is the feed only: without keys there is nothing to check a token with.
            wait_until(lambda: hello(service, tokens["good, ES256"]) == 200, "the first good answer")
            wait_until(lambda: hello(service, tokens["session has ended, ES256"]) == 401, "the feed")
        wait_until(lambda: outage_lines(tmp_path)[-1] == "outage", "a feed that is out of date")
        assert hello(service, tokens["good, ES256"]) == 200
        assert hello(service, tokens["session has ended, ES256"]) == 401
        assert hello(service, tokens["expired an hour ago, ES256"]) == 401

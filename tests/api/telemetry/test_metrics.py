"""Metrics: what Prometheus reads, with several workers, and where."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from gatehouse.api.telemetry.metric_names import HELP
from gatehouse.settings import Settings
from tests.cli.terminal import Terminal
from tests.support.conversation import CAPTCHA, LOGIN, LOGOUT, ME, bearer, credentials, login, refresh
from tests.support.local import Local
from tests.support.people import add_user, change_user, with_stores
from tests.support.running import PASSWORD, Running, free_port
from tests.support.waiting import PATIENCE, wait_until


def scrape(client: httpx.Client, url: str = "/metrics") -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    answer = client.get(url)
    assert answer.status_code == 200
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def scrape_until(
    client: httpx.Client, expected: dict[tuple[str, frozenset[tuple[str, str]]], int], url: str = "/metrics"
) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Workers tell each other once a second, and on a busy machine later: scrape until all of it is there."""
    found: dict[tuple[str, frozenset[tuple[str, str]]], float] = {}

    def shown() -> dict[tuple[str, frozenset[tuple[str, str]]], float | None]:
        nonlocal found
        with suppress(httpx.TransportError):  # nobody listens there yet
            found = scrape(client, url)
        return {key: found.get(key) for key in expected}

    wait_until(lambda: shown() == expected, lambda: str(shown()))
    return found


def labelled(name: str, **labels: str) -> tuple[str, frozenset[tuple[str, str]]]:
    return name, frozenset(labels.items())


@pytest.mark.full
def test_what_happened_is_counted_over_all_workers(tmp_path: Path) -> None:
    with Running(tmp_path / "data", workers=2, metrics="on") as service, service.client() as client:
        for _ in range(10):
            with service.client() as fresh:  # a new connection each time, so that both workers are asked
                tokens = login(fresh)
                assert fresh.get(ME, headers=bearer(tokens)).status_code == 200
        refresh(client, tokens)
        client.post(LOGOUT, headers=bearer(tokens))
        client.post(LOGIN, json=credentials(client, password="wrong"))
        client.get("/api/v1/nothing")
        expected = {
            labelled("gatehouse_requests_total", operation="me", code="00000"): 10,
            labelled("gatehouse_requests_total", operation="login", code="00000"): 10,
            labelled("gatehouse_requests_total", operation="login", code="A0210"): 1,
            labelled("gatehouse_requests_total", operation="none", code="C0113"): 1,
            labelled("gatehouse_request_seconds_count", operation="me"): 10,
            labelled("gatehouse_request_seconds_bucket", operation="me", le="+Inf"): 10,
            labelled("gatehouse_captcha_draw_seconds_count"): 11,
            labelled("gatehouse_logins_total", outcome="success"): 10,
            labelled("gatehouse_logins_total", outcome="credentials"): 1,
            labelled("gatehouse_sessions_opened_total"): 10,
            labelled("gatehouse_sessions_ended_total", reason="logout"): 1,
            labelled("gatehouse_workers"): 2,
            labelled("gatehouse_hash_pending"): 0,
        }
        found = scrape_until(client, expected)
    assert found[labelled("gatehouse_state_operations_total", kind="read")] > 10


def _scraped_afresh(service: Running, expected: dict[tuple[str, frozenset[tuple[str, str]]], int]) -> bool:
    with service.client() as client:
        found = scrape(client)
    return all(found.get(key) == value for key, value in expected.items())


@pytest.mark.full
def test_sums_survive_a_worker(tmp_path: Path) -> None:
    with Running(tmp_path / "data", workers=2, metrics="on") as service:
        for _ in range(12):
            with service.client() as fresh:
                fresh.get(CAPTCHA)
        seen = {labelled("gatehouse_requests_total", operation="captcha", code="00000"): 12}
        with service.client() as client:
            scrape_until(client, seen)
        # Fresh connections reach both workers: each must have read what the other has written.
        wait_until(lambda: all(_scraped_afresh(service, seen) for _ in range(20)), "both workers tell all of it")
        victim = service.workers()[0]
        victim.kill()
        victim.wait()
        with service.client() as client:
            scrape_until(client, seen)


@pytest.mark.full
def test_metrics_can_have_an_address_of_their_own_or_none(tmp_path: Path) -> None:
    port = free_port()
    with Running(tmp_path / "own", workers=2, metrics=f"127.0.0.1:{port}") as service, service.client() as client:
        client.get(CAPTCHA)
        assert client.get("/metrics").status_code == 404
        seen = {labelled("gatehouse_requests_total", operation="captcha", code="00000"): 1}
        scrape_until(client, seen, f"http://127.0.0.1:{port}/metrics")
    with Running(tmp_path / "none", metrics="off") as service, service.client() as client:
        assert client.get("/metrics").status_code == 404


def test_the_public_listener_has_no_metrics_by_default(tmp_path: Path) -> None:
    assert Settings().metrics.startswith("127.0.0.1:")
    local = Local(tmp_path / "data")
    del local.env["GATEHOUSE_METRICS"]
    with local, local.client() as client:
        assert client.get("/metrics").status_code == 404


@pytest.mark.full
def test_an_address_that_is_taken_is_logged_and_used_once_it_is_free(tmp_path: Path) -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port)) as other:
        service = Running(tmp_path / "data", metrics=f"127.0.0.1:{port}").start()
        try:
            assert "metrics address already in use" in service.output()
            other.close()

            def answers() -> bool:
                with suppress(httpx.TransportError):
                    return httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE).status_code == 200
                return False

            wait_until(answers, "a worker takes the address")
        finally:
            service.stop()


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    """Metrics on the public listener, where a test reads them without waiting for other workers."""
    with Local(tmp_path_factory.mktemp("metrics") / "data", metrics="on") as running:
        yield running


def test_metrics_do_not_tell_which_names_exist(public: Local) -> None:
    """A failure of each kind adds to the same samples by the same amounts."""

    def counted(client: httpx.Client) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
        totals = scrape(client)
        return {key: value for key, value in totals.items() if key[0].endswith("_total") and "state" not in key[0]}

    with public.client() as client:
        typed = Terminal(public.env)
        typed("user", "add", "gone", "--password-stdin", stdin=PASSWORD).done()
        typed("user", "disable", "gone").done()
        passkeys_only = add_user(public, "passkeys-only")
        with_stores(public, lambda service: change_user(service.stores.database, passkeys_only, password_login=False))
        grown = []
        client.post(LOGIN, json=credentials(client, password="wrong"))
        for name in ("admin", "nobody", "gone", "passkeys-only"):
            before = counted(client)
            client.post(LOGIN, json=credentials(client, username=name, password="wrong"))
            after = counted(client)
            grown.append({key: value - before.get(key, 0) for key, value in after.items() if value != before.get(key)})
    assert all(each == grown[0] for each in grown)
    assert grown[0][labelled("gatehouse_logins_total", outcome="credentials")] == 1


def test_every_metric_is_explained(public: Local) -> None:
    with public.client() as client:
        families = {family.name for family in text_string_to_metric_families(client.get("/metrics").text)}
    assert families == set(HELP)

"""Metrics: what Prometheus reads, with several workers, and where."""

from __future__ import annotations

import time
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

from gatehouse.api.telemetry.metrics import HELP
from tests.support.conversation import CAPTCHA, LOGIN, LOGOUT, ME, bearer, credentials, login, refresh
from tests.support.running import Running, free_port


def scrape(client: httpx.Client, url: str = "/metrics") -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    answer = client.get(url)
    assert answer.status_code == 200
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def labelled(name: str, **labels: str) -> tuple[str, frozenset[tuple[str, str]]]:
    return name, frozenset(labels.items())


def test_what_happened_is_counted_over_all_workers(tmp_path: Path) -> None:
    with Running(tmp_path / "data", workers=2) as service, service.client() as client:
        for _ in range(10):
            with service.client() as fresh:  # a new connection each time, so that both workers are asked
                tokens = login(fresh)
                assert fresh.get(ME, headers=bearer(tokens)).status_code == 200
        refresh(client, tokens)
        client.post(LOGOUT, headers=bearer(tokens))
        client.post(LOGIN, json=credentials(client, password="wrong"))
        client.get("/api/v1/nothing")
        time.sleep(1.5)  # workers tell each other once a second
        found = scrape(client)
    assert found[labelled("gatehouse_requests_total", operation="me", code="00000")] == 10
    assert found[labelled("gatehouse_requests_total", operation="login", code="00000")] == 10
    assert found[labelled("gatehouse_requests_total", operation="login", code="A0210")] == 1
    assert found[labelled("gatehouse_requests_total", operation="none", code="C0113")] == 1
    assert found[labelled("gatehouse_request_seconds_count", operation="me")] == 10
    assert found[labelled("gatehouse_request_seconds_bucket", operation="me", le="+Inf")] == 10
    assert found[labelled("gatehouse_captcha_draw_seconds_count")] == 11
    assert found[labelled("gatehouse_logins_total", outcome="success")] == 10
    assert found[labelled("gatehouse_logins_total", outcome="password")] == 1
    assert found[labelled("gatehouse_sessions_opened_total")] == 10
    assert found[labelled("gatehouse_sessions_ended_total", reason="logout")] == 1
    assert found[labelled("gatehouse_state_operations_total", kind="read")] > 10
    assert found[labelled("gatehouse_workers")] == 2
    assert found[labelled("gatehouse_hash_pending")] == 0


def test_sums_survive_a_worker(tmp_path: Path) -> None:
    with Running(tmp_path / "data", workers=2) as service:
        for _ in range(12):
            with service.client() as fresh:
                fresh.get(CAPTCHA)
        time.sleep(1.5)
        victim = service.workers()[0]
        victim.kill()
        victim.wait()
        with service.client() as client:
            assert scrape(client)[labelled("gatehouse_requests_total", operation="captcha", code="00000")] == 12


def test_metrics_can_have_an_address_of_their_own_or_none(tmp_path: Path) -> None:
    port = free_port()
    with Running(tmp_path / "own", workers=2, metrics=f"127.0.0.1:{port}") as service, service.client() as client:
        client.get(CAPTCHA)
        assert client.get("/metrics").status_code == 404
        time.sleep(1.5)
        found = scrape(client, f"http://127.0.0.1:{port}/metrics")
        assert found[labelled("gatehouse_requests_total", operation="captcha", code="00000")] == 1
    with Running(tmp_path / "none", metrics="off") as service, service.client() as client:
        assert client.get("/metrics").status_code == 404


def test_every_metric_is_explained(client: httpx.Client) -> None:
    families = {family.name for family in text_string_to_metric_families(client.get("/metrics").text)}
    assert families == set(HELP)

"""The first start, the second, and two at once; the folder it leaves; the settings it refuses."""

from __future__ import annotations

import asyncio
import re
import socket
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gatehouse.common import logs
from gatehouse.server.preparation import prepare
from gatehouse.settings import Settings
from tests.cli.terminal import Terminal
from tests.support.conversation import ME, bearer, login
from tests.support.inprocess import InProcess
from tests.support.running import Running, environment, free_port


def test_the_administrator_is_made_once_with_a_random_password_shown_once(tmp_path: Path) -> None:
    service = Running(tmp_path / "data", admin_password="")
    with service:
        [password] = re.findall(r"password\s+(\S+)", service.output())
        assert len(password) >= 20
        with service.client() as client:
            tokens = login(client, password=password)
    with service, service.client() as client:
        assert service.output().count("password") == 1, "the second start shows nothing"
        assert client.get(ME, headers=bearer(tokens)).status_code == 200, "and changes nothing"
        assert login(client, password=password)


def test_a_password_for_an_administrator_who_exists_is_ignored_and_the_log_says_so(
    tmp_path: Path,
) -> None:
    def logged(**settings: object) -> str:
        return Terminal(environment(tmp_path / "data", free_port(), **settings))("serve").err

    assert "is ignored" not in logged()
    second = logged(admin_password="another passphrase")
    assert "GATEHOUSE_ADMIN_PASSWORD is ignored" in second
    assert "another passphrase" not in second
    with InProcess(tmp_path / "data") as gatehouse:
        assert gatehouse.login().status == 200


def test_everything_in_the_folder_is_for_the_owner_only(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(0o700)  # not the one that other tests copy
    with InProcess(tmp_path / "data") as gatehouse:
        assert gatehouse.login().status == 200
        files = list((tmp_path / "data").iterdir())
        assert {"accounts.db", "state.db", "secret"} <= {file.name for file in files}
        for file in files:
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file.name


@pytest.mark.full
def test_two_first_starts_at_once_do_not_collide(tmp_path: Path) -> None:
    """Three nodes on one folder, each with its port: all serve, and there is one administrator and one key."""
    services = [Running(tmp_path / "data", issuer="http://gatehouse.localhost") for _ in range(3)]
    with ThreadPoolExecutor() as pool:
        list(pool.map(Running.start, services))
    try:
        keys = set()
        for service in services:
            with service.client() as client:
                keys.add(client.get("/.well-known/jwks.json").text)
        assert len(keys) == 1
        with services[0].client() as one, services[1].client() as other:
            assert other.get(ME, headers=bearer(login(one))).status_code == 200
    finally:
        for service in services:
            service.stop()


@pytest.fixture(autouse=True)
def _no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A start that is not refused here ends before it forks."""

    def start(settings: Settings) -> None:
        logs.configure(settings.log_level, settings.log_format, cached=False)
        asyncio.run(prepare(settings))

    monkeypatch.setattr("gatehouse.server.start.serve", start)


def start_refused(tmp_path: Path, **settings: object) -> str:
    outcome = Terminal(environment(tmp_path / "data", int(str(settings.pop("port", free_port()))), **settings))("serve")
    assert outcome.code == 2, outcome
    assert "Traceback" not in outcome.err
    return outcome.err


def test_a_weak_administrators_password_is_refused_off_loopback(tmp_path: Path) -> None:
    problem = start_refused(tmp_path, host="0.0.0.0", admin_password="admin123", limits="on", captcha_test_answer="")
    assert "GATEHOUSE_ADMIN_PASSWORD" in problem
    assert "admin123" not in problem


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::"])
def test_the_test_switches_are_refused_off_loopback(tmp_path: Path, host: str) -> None:
    problem = start_refused(tmp_path, host=host)
    assert "CAPTCHA_TEST_ANSWER" in problem
    assert "LIMITS" in problem


def test_the_test_switches_are_announced_loudly(server: Running) -> None:
    assert server.output().count("TEST SWITCH") == 2


@pytest.mark.parametrize(
    "secret", ["short", "a" * 64, "change-me-change-me-change-me-change-me", "SecretKey012345678901234567890123456789"]
)
def test_weak_secrets_are_refused(tmp_path: Path, secret: str) -> None:
    problem = start_refused(tmp_path, secret=secret)
    assert "secret" in problem.lower()
    assert secret not in problem


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", "70000"),
        ("workers", "many"),
        ("access_ttl", "soon"),
        ("limit_login_name", "often"),
        ("trusted_proxies", "10.0.0.0/99"),
        ("cors_origins", "console.example.com/"),
        ("captcha_difficulty", "impossible"),
        ("captcha_test_answer", "abc"),
        ("issuer", "not a url"),
        ("database_url", "mysql://x/y"),
        ("secret_file", "/nowhere/secret"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(tmp_path: Path, name: str, value: str) -> None:
    assert name.upper() in start_refused(tmp_path, **{name: value}).upper().replace(" ", "_")


def test_a_taken_port_is_one_clear_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = Running(tmp_path / "data", port=port).cli("serve")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert str(port) in done.stderr

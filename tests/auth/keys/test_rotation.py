"""Signing keys and the master secret are replaced under two running nodes, with the clock in our hand."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jwt
import pytest

from gatehouse.auth.audit import ClientInfo
from gatehouse.auth.keys.key_ring import (
    NODE_RELOAD_SECONDS,
    PUBLISHED_BEFORE_SIGNING_SECONDS,
    signing_key_at,
)
from gatehouse.common.clock_skew import CLOCK_SKEW_SECONDS
from gatehouse.settings import SettingsError, load
from gatehouse.settings.master_secret import new_secret, read_secrets, secret_path, write_secrets
from gatehouse.stores.database.signing_keys import Keys, StoredKey
from tests.cli.terminal import Terminal
from tests.support.inprocess import Answer, Clock, InProcess
from tests.support.running import environment

MAX_AGE = 3650 * 86_400
ACCESS_TTL = 7200


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[tuple[InProcess, InProcess]]:
    clock = Clock()
    settings = {"key_max_age": MAX_AGE, "access_ttl": ACCESS_TTL, "issuer": "http://gatehouse.localhost"}
    with (
        InProcess(tmp_path / "data", clock, **settings) as one,
        InProcess(tmp_path / "data", clock, **settings) as other,
    ):
        yield one, other


def reload(*nodes: InProcess) -> None:
    for node in nodes:
        node.run(node.service.reload_keys())


def kid(tokens: dict[str, Any]) -> str:
    return str(jwt.get_unverified_header(tokens["accessToken"])["kid"])


def published(node: InProcess) -> set[str]:
    return {key["kid"] for key in node.request("GET", "/.well-known/jwks.json").json["keys"]}


def unknown(answer: Answer) -> bool:
    return (answer.status, answer.code) == (401, "A0230")


def test_a_rotation_logs_nobody_out(nodes: tuple[InProcess, InProcess], monkeypatch: pytest.MonkeyPatch) -> None:
    # Not even where nodes never look up a key they do not know: they know it before it signs.
    monkeypatch.setattr("gatehouse.auth.keys.key_ring.RELOAD_SECONDS", float("inf"))
    one, other = nodes
    first = tokens = one.login().data
    new = one.run(one.service.key_rotation.rotate(ClientInfo()))
    assert new is not None
    signers = set()
    for second in range(PUBLISHED_BEFORE_SIGNING_SECONDS + 2 * NODE_RELOAD_SECONDS):
        one.clock.move(1)
        if second % NODE_RELOAD_SECONDS == 3:
            reload(one)
        if second % NODE_RELOAD_SECONDS == 11:
            reload(other)
        if second % 7:
            continue
        tokens = nodes[second % 2].refresh(tokens["refreshToken"]).data
        signers.add(kid(tokens))
        for node in nodes:
            assert node.me(tokens["accessToken"]).status == 200
            assert node.me(first["accessToken"]).status == 200
    assert signers == {kid(first), new.kid}
    assert kid(tokens) == new.kid


def test_an_old_key_is_published_until_its_last_token_has_expired_and_then_deleted(
    nodes: tuple[InProcess, InProcess],
) -> None:
    one, other = nodes
    old = kid(one.login().data)
    new = one.run(one.service.key_rotation.rotate(ClientInfo()))
    assert new is not None
    reload(other)
    assert published(one) == published(other) == {old, new.kid}
    one.clock.move(PUBLISHED_BEFORE_SIGNING_SECONDS + ACCESS_TTL + CLOCK_SKEW_SECONDS - 1)
    reload(one, other)
    assert published(one) == published(other) == {old, new.kid}
    one.clock.move(1)
    reload(one, other)
    assert published(one) == published(other) == {new.kid}
    assert [key.kid for key in one.run(Keys(one.service.stores.database).all())] == [new.kid]


def test_a_key_is_replaced_at_its_age_by_exactly_one_node(nodes: tuple[InProcess, InProcess]) -> None:
    one, other = nodes
    reload(one, other)
    assert len(one.run(Keys(one.service.stores.database).all())) == 1
    one.clock.move(MAX_AGE)
    tokens = one.login().data
    # Both find the key too old before either has done anything about it.
    one.run(one.service.key_rotation.rotate_if_due())
    other.run(other.service.key_rotation.rotate_if_due())
    keys = one.run(Keys(one.service.stores.database).all())
    assert [key.signs_until is None for key in keys] == [False, True]
    assert other.me(tokens["accessToken"]).status == 200


@pytest.mark.parametrize("noticed_by", ["reading the store again", "an unknown key"])
def test_a_retired_key_opens_nothing_and_sessions_live_on(nodes: tuple[InProcess, InProcess], noticed_by: str) -> None:
    one, other = nodes
    tokens = one.login().data
    assert other.me(tokens["accessToken"]).status == 200  # and remembers that it verified it
    successor = one.run(one.service.key_rotation.retire(kid(tokens), ClientInfo()))
    assert successor is not None
    fresh = one.refresh(tokens["refreshToken"]).data
    assert kid(fresh) == successor.kid
    one.clock.move(2)
    if noticed_by == "an unknown key":
        assert other.me(fresh["accessToken"]).status == 200
    else:
        reload(other)
    for node in nodes:
        assert unknown(node.me(tokens["accessToken"]))
        assert node.me(fresh["accessToken"]).status == 200


def test_which_key_signs() -> None:
    def key(name: str, created: float, retired: float | None = None) -> StoredKey:
        return StoredKey(name, b"", b"", created, retired)

    first, second = key("first", 0, 100 + PUBLISHED_BEFORE_SIGNING_SECONDS), key("second", 100)
    assert signing_key_at([], 100) is None
    assert signing_key_at([first], 0) == first
    assert signing_key_at([first, second], 100 + PUBLISHED_BEFORE_SIGNING_SECONDS - 0.1) == first
    assert signing_key_at([first, second], 100 + PUBLISHED_BEFORE_SIGNING_SECONDS) == second
    # Its predecessor was retired: then it signs at once.
    assert signing_key_at([second], 100) == second


def test_the_secret_is_replaced_by_one_command_under_running_nodes(
    nodes: tuple[InProcess, InProcess], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = nodes
    path = secret_path(one.settings)
    old = path.read_text()
    tokens = one.login().data

    added, read = threading.Event(), threading.Event()

    async def meanwhile(seconds: float) -> None:
        assert seconds > 15  # longer than a worker goes without reading the file
        added.set()
        await asyncio.to_thread(read.wait, 20)

    monkeypatch.setattr("gatehouse.cli.secret.sleep", meanwhile)
    with ThreadPoolExecutor(1) as thread:
        typed = thread.submit(Terminal(environment(tmp_path / "data", 8000)), "secret", "rotate")
        assert added.wait(120)
        reload(one, other)
        read.set()
        said = typed.result().done()
    assert "remove it in 7 d with `gatehouse secret forget`" in said
    assert path.read_text().splitlines()[1:] == old.splitlines()
    assert path.stat().st_mode & 0o777 == 0o600

    # One node makes with the new secret, the other has not read it as the first one yet: each opens the other's.
    reload(one)
    by_new = one.refresh(tokens["refreshToken"]).data
    by_old = other.refresh(by_new["refreshToken"]).data
    for node in nodes:
        for each in (tokens, by_new, by_old):
            assert node.me(each["accessToken"]).status == 200
    captcha = one.service.login.captcha_challenges.issue(one.clock())
    assert other.service.login.captcha_challenges.decode(captcha.id, one.clock()) == captcha
    captcha = other.service.login.captcha_challenges.issue(one.clock())
    assert one.service.login.captcha_challenges.decode(captcha.id, one.clock()) == captcha
    assert one.refresh(by_old["refreshToken"]).status == 200

    # A key made now is sealed under the new secret, and both open it.
    assert one.run(one.service.key_rotation.rotate(ClientInfo()))
    one.clock.move(PUBLISHED_BEFORE_SIGNING_SECONDS)
    reload(one, other)
    assert kid(other.login().data) == kid(one.login().data) != kid(tokens)


def test_a_forgotten_secret_opens_nothing(nodes: tuple[InProcess, InProcess], tmp_path: Path) -> None:
    one, other = nodes
    typed = Terminal(environment(tmp_path / "data", 8000))
    assert "nothing to forget" in typed("secret", "forget").done()
    by_old = one.login().data
    typed("secret", "rotate", "--now").done()
    reload(one, other)
    by_new = one.login().data
    asked = typed("secret", "forget", stdin="n\n")
    assert (asked.code, "must log in again" in asked.err) == (1, True)
    assert len(read_secrets(one.settings)) == 2
    typed("secret", "forget", "--yes").done()
    reload(one, other)
    assert len(read_secrets(one.settings)) == 1
    assert other.refresh(by_new["refreshToken"]).status == 200
    assert (other.refresh(by_old["refreshToken"]).code) == "A0231"


def test_a_secret_that_cannot_be_used_changes_nothing(nodes: tuple[InProcess, InProcess]) -> None:
    one, _ = nodes
    tokens = one.login().data
    path = secret_path(one.settings)
    good = path.read_text()
    for bad in ("", "weak\n", good + "secret" * 8 + "\n"):
        path.write_text(bad)
        reload(one)
        assert one.me(tokens["accessToken"]).status == 200
    path.write_text(good)
    assert one.refresh(tokens["refreshToken"]).status == 200


def test_the_secret_of_a_setting_may_have_predecessors(tmp_path: Path) -> None:
    old, new = new_secret().decode(), new_secret().decode()
    with InProcess(tmp_path / "data", secret=old) as node:
        tokens = node.login().data
    with InProcess(tmp_path / "data", secret=new, secret_previous=old) as node:
        assert node.me(tokens["accessToken"]).status == 200
        tokens = node.refresh(tokens["refreshToken"]).data
    env = environment(tmp_path / "data", 8000, secret=new, secret_previous=old)
    assert "which no command can change" in Terminal(env)("secret", "rotate").refused()
    assert "Sealed 1 signing key" in Terminal(env)("secret", "reseal").done()
    with InProcess(tmp_path / "data", secret=new) as node:
        assert node.me(tokens["accessToken"]).status == 200
        assert node.refresh(tokens["refreshToken"]).status == 200


def test_weak_secrets_are_refused_wherever_they_stand(tmp_path: Path) -> None:
    strong = new_secret().decode()
    for secret, previous in (("short", ""), (strong[:31], ""), ("changeme" * 6, ""), (strong, "short"), ("a" * 40, "")):
        settings = load({"data_dir": str(tmp_path), "secret": secret, "secret_previous": previous}, environ={})
        with pytest.raises(SettingsError, match="secret"):
            read_secrets(settings)
    with pytest.raises(SettingsError, match="without GATEHOUSE_SECRET"):
        load({"secret_previous": strong}, environ={})
    write_to = tmp_path / "secret"
    write_to.write_text(strong + "\n")
    write_secrets(write_to, [strong.encode(), b"weak"])
    with pytest.raises(SettingsError, match="line 2"):
        read_secrets(load({"data_dir": str(tmp_path)}, environ={}))

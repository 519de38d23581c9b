"""Nodes on one database that disagree are not started, and say why."""

from __future__ import annotations

import dataclasses
import subprocess
import time
from pathlib import Path

import pytest

from gatehouse.server import node_agreement
from gatehouse.stores.database.nodes import Node
from tests.support.engines import Postgres, Redis
from tests.support.running import Running
from tests.support.waiting import PATIENCE

SECRET = "Zr4kW8mT1xQ9vB6nJ3pL7sD5gH2yF0cA"
OTHER_SECRET = "Qe7uI1oP5aS9dF3gH8jK2lZ6xC4vB0nM"
ISSUER = "http://nodes.localhost"


def refused(running: Running) -> str:
    """What a node says that does not start."""
    done = subprocess.run(
        running.command, env=running.env, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.full
def test_nodes_that_disagree_do_not_serve(tmp_path: Path, postgres_server: Postgres, redis_server: Redis) -> None:
    good = {
        "database_url": postgres_server.create("nodes"),
        "state_url": redis_server.url(7),
        "secret": SECRET,
        "issuer": ISSUER,
    }
    with Running(tmp_path / "a", **good):
        said = refused(Running(tmp_path / "b", **good | {"issuer": "http://elsewhere.localhost"}))
        assert "serves as http://nodes.localhost, this one as http://elsewhere.localhost" in said
        assert "GATEHOUSE_ISSUER" in said
        assert "GATEHOUSE_ISSUER" in refused(Running(tmp_path / "c", **good | {"issuer": ""}))
        assert "GATEHOUSE_STATE_URL" in refused(Running(tmp_path / "d", **good | {"state_url": ""}))
        refused(Running(tmp_path / "e", **good | {"secret": OTHER_SECRET}))
        with Running(tmp_path / "f", **good) as second:
            found = second.cli("doctor")
            assert "2 serving" in found.stdout
            second.env["GATEHOUSE_ISSUER"] = "http://elsewhere.localhost"
            assert "GATEHOUSE_ISSUER" in second.cli("doctor").stdout
    # All have stopped: the issuer may change.
    with Running(tmp_path / "g", **good | {"issuer": "http://elsewhere.localhost"}):
        pass


@pytest.mark.full
def test_a_second_service_on_one_folder_is_refused_and_a_killed_one_is_not_in_the_way(tmp_path: Path) -> None:
    first = Running(tmp_path / "data").start()
    try:
        assert "GATEHOUSE_ISSUER" in refused(Running(tmp_path / "data"))
    finally:
        first.kill()
    with Running(tmp_path / "data"):  # another port, and so another issuer
        pass


def node(**changes: object) -> Node:
    at = time.time()
    plain = Node("host:1:ab", ISSUER, "store", node_agreement.fingerprint(SECRET.encode()), at, at)
    return dataclasses.replace(plain, **changes)  # type: ignore[arg-type]


def test_a_secret_that_is_being_replaced_is_agreement() -> None:
    old, new = SECRET.encode(), OTHER_SECRET.encode()
    own = node(secret=node_agreement.fingerprint(new))
    assert node_agreement.disagreements(own, [new, old], [node()]) == []
    assert "master secret" in str(node_agreement.disagreements(own, [new], [node()])[0])


def test_a_state_store_that_did_not_answer_is_no_disagreement() -> None:
    assert node_agreement.disagreements(node(state=""), [SECRET.encode()], [node()]) == []
    assert node_agreement.disagreements(node(), [SECRET.encode()], [node(state="")]) == []
    assert "state store" in str(node_agreement.disagreements(node(state="another"), [SECRET.encode()], [node()])[0])


@pytest.mark.parametrize(("age", "live"), [(0, True), (59, True), (61, False)])
def test_a_node_that_is_not_seen_expires(age: float, *, live: bool) -> None:
    assert node_agreement.is_live(node(seen=1_000.0), 1_000.0 + age, same_machine=False) is live

"""Another signing algorithm in the settings: a rotation that nobody notices, on either side."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import jwt
import pytest

from gatehouse.auth.audit import ClientInfo
from gatehouse.auth.keys.algorithms import ALGORITHMS
from gatehouse.auth.keys.key_ring import (
    JWKS_MAX_AGE,
    NODE_RELOAD_SECONDS,
    PUBLISHED_BEFORE_SIGNING_SECONDS,
    new_key,
)
from gatehouse.common.clock_skew import CLOCK_SKEW_SECONDS
from gatehouse.settings import SettingsError, load
from gatehouse.stores.database.signing_keys import Keys
from gatehouse.verify.keys import KeySet
from tests.support.inprocess import Clock, InProcess

ACCESS_TTL = 7200


def start(data: Path, clock: Clock, algorithm: str) -> InProcess:
    return InProcess(
        data, clock, signing_algorithm=algorithm, access_ttl=ACCESS_TTL, issuer="http://gatehouse.localhost",
        key_max_age=3650 * 86_400,
    )  # fmt: skip


def retire_all(node: InProcess) -> None:
    """Leave one key, of the algorithm in the settings."""
    node.run(node.service.key_rotation.retire(node.service.key_ring.signer.kid, ClientInfo()))


def header(tokens: dict[str, Any]) -> dict[str, Any]:
    return jwt.get_unverified_header(tokens["accessToken"])


def jwks(node: InProcess) -> dict[str, dict[str, str]]:
    return {key["kid"]: key for key in node.request("GET", "/.well-known/jwks.json").json["keys"]}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with one EdDSA key, as 0.1.0 leaves it."""
    with start(tmp_path / "data", Clock(1_900_000_000.0 - 86_400), "EdDSA") as node:
        retire_all(node)
        [key] = node.service.key_ring.stored
        assert (key.algorithm, len(key.public), len(key.sealed)) == ("EdDSA", 32, 12 + 32 + 16)
    return tmp_path / "data"


@pytest.mark.parametrize(("before", "after"), [("EdDSA", "ES256"), ("ES256", "RS256"), ("RS256", "EdDSA")])
def test_a_change_logs_nobody_out_and_no_service_meets_an_unknown_key(tmp_path: Path, before: str, after: str) -> None:
    clock = Clock()
    with start(tmp_path / "data", clock, before) as node:
        retire_all(node)
        first = node.login().data
    clock.move(PUBLISHED_BEFORE_SIGNING_SECONDS)
    with start(tmp_path / "data", clock, after) as node:
        # A service that fetches the keys in the worst moment, keeps them as long as it may, and never asks in between.
        kept, fetched, tokens, algorithms = jwks(node), clock(), first, []
        for _ in range(0, PUBLISHED_BEFORE_SIGNING_SECONDS + 2 * NODE_RELOAD_SECONDS, NODE_RELOAD_SECONDS):
            node.run(node.service.reload_keys())
            tokens = node.refresh(tokens["refreshToken"]).data
            algorithms.append(header(tokens)["alg"])
            for each in (first, tokens):
                assert node.me(each["accessToken"]).status == 200
                key = kept[header(each)["kid"]]
                assert key["alg"] == header(each)["alg"]
                jwt.decode(
                    each["accessToken"], jwt.PyJWK(key), algorithms=[key["alg"]], audience="gatehouse",
                    options={"verify_exp": False, "verify_iat": False},
                )  # fmt: skip
            clock.move(NODE_RELOAD_SECONDS)
            if clock() >= fetched + JWKS_MAX_AGE:
                kept, fetched = jwks(node), clock()
        assert algorithms == sorted(algorithms, key=[before, after].index)
        assert {*algorithms} == {before, after}
        clock.move(ACCESS_TTL + CLOCK_SKEW_SECONDS)
        node.run(node.service.reload_keys())
        assert [key["alg"] for key in jwks(node).values()] == [after]
        assert node.refresh(tokens["refreshToken"]).status == 200


def test_the_constants_leave_room_for_the_slowest_node_and_the_longest_cache() -> None:
    assert PUBLISHED_BEFORE_SIGNING_SECONDS > JWKS_MAX_AGE + NODE_RELOAD_SECONDS
    assert KeySet("http://127.0.0.1:1/keys")._max_age == JWKS_MAX_AGE


def test_a_database_of_the_last_release_rotates_to_the_default(data: Path) -> None:
    clock = Clock()
    with start(data, clock, "EdDSA") as node:
        tokens = node.login().data
    with start(data, clock, "ES256") as node:
        node.run(node.service.reload_keys())
        assert sorted(key["alg"] for key in jwks(node).values()) == ["ES256", "EdDSA"]
        assert node.me(tokens["accessToken"]).status == 200
        assert header(node.login().data)["alg"] == "EdDSA"
        clock.move(PUBLISHED_BEFORE_SIGNING_SECONDS)
        node.run(node.service.reload_keys())
        assert header(node.refresh(tokens["refreshToken"]).data)["alg"] == "ES256"
        assert node.me(tokens["accessToken"]).status == 200


def test_nodes_that_disagree_do_not_replace_keys_at_every_look(data: Path) -> None:
    clock = Clock()
    with ExitStack() as stack:
        nodes = [stack.enter_context(start(data, clock, name)) for name in ("EdDSA", "ES256")]
        hour = 3600
        for _ in range(0, hour, NODE_RELOAD_SECONDS):
            clock.move(NODE_RELOAD_SECONDS)
            for node in nodes:
                node.run(node.service.reload_keys())
        assert 2 <= len(jwks(nodes[0])) <= 2 + hour // PUBLISHED_BEFORE_SIGNING_SECONDS


def test_requests_on_two_nodes_all_through_a_rotation_to_another_algorithm_are_all_answered(data: Path) -> None:
    """Many at once, while the key is made, published and takes over; each is checked on the other node too."""
    clock, refused = Clock(), []
    with start(data, clock, "EdDSA") as one, start(data, clock, "ES256") as other:
        people = [one.login().data for _ in range(8)]
        seen = set()

        async def use(node: InProcess, person: int) -> None:
            answer = await node.send(
                "POST", "/api/v1/auth/refresh-token", body={"refreshToken": people[person]["refreshToken"]}
            )
            people[person] = answer.data
            seen.add(header(people[person])["alg"])

        async def look(node: InProcess, person: int) -> None:
            answer = await node.send("GET", "/api/v1/users/me", token=people[person]["accessToken"])
            if answer.status != 200:
                refused.append((clock(), node.settings.signing_algorithm, answer.content))

        async def everybody(node: InProcess) -> None:
            await asyncio.gather(*(use(node, person) for person in range(len(people))))

        async def everybody_looks(node: InProcess) -> None:
            await asyncio.gather(*(look(node, person) for person in range(len(people))))

        for second in range(0, PUBLISHED_BEFORE_SIGNING_SECONDS + 2 * NODE_RELOAD_SECONDS, 5):
            clock.move(5)
            signing, checking = (one, other) if second % 2 else (other, one)
            if second % NODE_RELOAD_SECONDS == 0:
                other.run(other.service.reload_keys())
                one.run(one.service.key_ring.load())  # this node still has the old setting, and reads the keys
            signing.run(everybody(signing))
            checking.run(everybody_looks(checking))
            signing.run(everybody_looks(signing))
    assert refused == []
    assert seen == {"EdDSA", "ES256"}


def test_a_key_of_an_algorithm_that_only_a_later_release_knows_is_passed_over(data: Path) -> None:
    with start(data, Clock(), "EdDSA") as node:
        tokens = node.login().data
        later = replace(new_key(node.service.key_ring.secrets[0], "ES256", node.clock()), algorithm="ML-DSA-65")
        node.run(Keys(node.service.database).add(later))
        node.run(node.service.key_ring.load())
        assert node.me(tokens["accessToken"]).status == 200
        assert later.kid not in jwks(node)


def test_the_setting_takes_three_algorithms_in_any_case() -> None:
    for name in ALGORITHMS:
        assert load({"signing_algorithm": name.lower()}, environ={}).signing_algorithm == name
    with pytest.raises(SettingsError, match="ES256, EdDSA, RS256"):
        load({"signing_algorithm": "HS256"}, environ={})

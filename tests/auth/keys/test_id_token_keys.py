"""Keys for ID tokens: made when an application first wants their algorithm, and kept apart from those of ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import jwt
import pytest

from gatehouse.auth.audit import ClientInfo
from gatehouse.auth.keys.key_ring import PUBLISHED_BEFORE_SIGNING_SECONDS
from gatehouse.auth.oauth.definitions import ClientConfig
from gatehouse.management.authority import OPERATOR
from gatehouse.management.oauth_clients import ClientDraft
from gatehouse.settings.master_secret import new_secret, secret_path, write_secrets
from gatehouse.stores.database.signing_keys import StoredKey
from tests.api.oauth.application import Application
from tests.support.inprocess import Clock, InProcess

MAX_AGE = 90 * 86_400


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[tuple[InProcess, InProcess]]:
    clock = Clock()
    settings = {"key_max_age": MAX_AGE, "issuer": "http://gatehouse.localhost"}
    with (
        InProcess(tmp_path / "data", clock, **settings) as one,
        InProcess(tmp_path / "data", clock, **settings) as other,
    ):
        yield one, other


def reload(*nodes: InProcess) -> None:
    for node in nodes:
        node.run(node.service.reload_keys())


def stored(node: InProcess) -> list[StoredKey]:
    return [key for key in node.run(node.service.stores.signing_keys.all()) if key.purpose]


def signer(node: InProcess, algorithm: str = "RS256") -> str:
    return node.run(node.service.key_rotation.ensure(algorithm)).kid


def published(node: InProcess) -> set[str]:
    return {key["kid"] for key in node.request("GET", "/.well-known/jwks.json").json["keys"]}


def test_it_is_published_before_the_first_id_token(nodes: tuple[InProcess, InProcess]) -> None:
    one, other = nodes
    assert stored(one) == []
    app = Application(one, id_token_alg="RS256")
    [key] = stored(one)
    reload(other)
    assert (key.algorithm, key.purpose) == ("RS256", "openid")
    assert key.kid in published(one)
    assert key.kid in published(other)
    assert jwt.get_unverified_header(app.tokens()["id_token"])["kid"] == key.kid == signer(other)


def test_an_application_that_was_just_added_finds_its_key_at_every_node(nodes: tuple[InProcess, InProcess]) -> None:
    one, other = nodes
    draft = ClientDraft(config=ClientConfig(redirect_uris=("https://wiki.example.com/callback",)))
    one.run(one.service.management.client_changes.add(OPERATOR, "wiki", draft))
    one.clock.move(1)
    [key] = stored(one)
    assert key.kid in published(other), "though it has not reloaded its keys"


def test_access_tokens_are_signed_by_the_other_key(nodes: tuple[InProcess, InProcess]) -> None:
    one, _ = nodes
    ours = one.service.key_ring.signer.kid
    app = Application(one, id_token_alg="RS256")
    tokens = app.tokens()
    one.clock.move(PUBLISHED_BEFORE_SIGNING_SECONDS + 1)  # long enough for a key to sign
    reload(one)
    assert one.service.key_ring.signer.kid == ours
    assert jwt.get_unverified_header(tokens["access_token"])["kid"] == ours
    assert one.service.key_ring.id_token_signer("ES256") == one.service.key_ring.signer, "one fits already"


def test_where_nobody_wants_it_there_is_none(nodes: tuple[InProcess, InProcess]) -> None:
    one, _ = nodes
    Application(one, id_token_alg="ES256").tokens()
    reload(one)
    assert stored(one) == []


def test_it_is_rotated_by_age_as_the_others_are(nodes: tuple[InProcess, InProcess]) -> None:
    one, other = nodes
    Application(one, id_token_alg="RS256")
    before = signer(one)
    one.clock.move(MAX_AGE)
    reload(one, other)
    assert len(stored(one)) == 2, "one successor, though two nodes have looked"
    assert signer(one) == signer(other) == before
    one.clock.move(PUBLISHED_BEFORE_SIGNING_SECONDS)
    reload(one, other)
    after = signer(one)
    assert after == signer(other) != before
    assert {before, after} <= published(one)
    one.clock.move(one.settings.access_ttl + 120)
    reload(one, other)
    assert [key.kid for key in stored(one)] == [after]


def test_an_operator_rotates_all_of_them(nodes: tuple[InProcess, InProcess]) -> None:
    one, _ = nodes
    Application(one, id_token_alg="RS256")
    before = {signer(one), one.service.key_ring.signer.kid}
    one.run(one.service.key_rotation.rotate(ClientInfo()))
    one.clock.move(PUBLISHED_BEFORE_SIGNING_SECONDS)
    reload(one)
    assert before.isdisjoint({signer(one), one.service.key_ring.signer.kid})
    assert one.service.key_ring.signer.algorithm == "ES256"


def test_one_that_has_leaked_is_replaced_at_once(nodes: tuple[InProcess, InProcess]) -> None:
    one, other = nodes
    app = Application(one, id_token_alg="RS256")
    leaked = signer(one)
    hint = app.tokens()["id_token"]
    successor = one.run(one.service.key_rotation.retire(leaked, ClientInfo()))
    assert successor is not None
    assert (successor.purpose, successor.algorithm) == ("openid", "RS256")
    reload(other)
    assert signer(one) == signer(other) == successor.kid
    assert one.run(one.service.oauth.id_tokens.read_hint(hint)) is None


def test_two_nodes_that_make_one_at_once_keep_one(nodes: tuple[InProcess, InProcess]) -> None:
    one, other = nodes
    Application(one, id_token_alg="RS256")
    other.run(other.service.key_rotation._make_for_id_tokens("RS256"))
    reload(one, other)
    one.clock.move(PUBLISHED_BEFORE_SIGNING_SECONDS)
    reload(one, other)
    assert signer(one) == signer(other)
    one.clock.move(one.settings.access_ttl + 120)
    reload(one, other)
    assert len(stored(one)) == 1


def test_another_algorithm_of_ours_leaves_it_to_sign(tmp_path: Path) -> None:
    clock = Clock()
    with InProcess(tmp_path / "data", clock, signing_algorithm="RS256") as before:
        before.run(before.service.key_rotation.retire(before.service.key_ring.signer.kid, ClientInfo()))
        app = Application(before, id_token_alg="RS256")
        assert jwt.get_unverified_header(app.tokens()["id_token"])["kid"] == before.service.key_ring.signer.kid
        assert stored(before) == []
        clock.move(PUBLISHED_BEFORE_SIGNING_SECONDS)
    with InProcess(tmp_path / "data", clock, signing_algorithm="ES256") as after:
        reload(after)
        [key] = stored(after)
        clock.move(PUBLISHED_BEFORE_SIGNING_SECONDS)
        reload(after)
        assert after.service.key_ring.signer.algorithm == "ES256"
        assert signer(after) == key.kid


def test_it_is_sealed_under_a_new_secret(nodes: tuple[InProcess, InProcess], tmp_path: Path) -> None:
    one, _ = nodes
    Application(one, id_token_alg="RS256")
    kid = signer(one)
    secret = new_secret()
    one.run(one.service.reseal(secret))
    write_secrets(secret_path(one.settings), [secret])
    with InProcess(tmp_path / "data", one.clock, issuer="http://gatehouse.localhost") as again:
        assert signer(again) == kid

"""Applications: what is accepted of one, its secrets, and who may change it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm
from msgspec import UNSET, UnsetType

from gatehouse.auth.oauth.client_secrets import digest
from gatehouse.auth.oauth.clients import read_config
from gatehouse.auth.oauth.definitions import ClientAuth, ClientConfig, Pkce, Scope
from gatehouse.auth.oauth.redirect_uris import is_registered
from gatehouse.auth.refusals import AccountFieldInvalid, ApplicationFieldInvalid, CannotGrant
from gatehouse.management.authority import OPERATOR, Actor
from gatehouse.management.client_checks import checked_config
from gatehouse.management.oauth_clients import ClientDraft, NewSecret
from gatehouse.stores.database.grants import StoredGrant
from gatehouse.stores.database.oauth_clients import ClientSecret, StoredClient
from gatehouse.stores.errors import Duplicate, Missing
from tests.support.inprocess import InProcess

CALLBACK = "https://wiki.example.com/callback"
DAY = 86_400


class Applications:
    def __init__(self, gatehouse: InProcess) -> None:
        self.gatehouse = gatehouse
        self.changes = gatehouse.service.management.client_changes

    def add(self, client_id: str = "wiki", *, actor: Actor = OPERATOR, **config: Any) -> str | None:
        draft = ClientDraft(config=ClientConfig(**({"redirect_uris": (CALLBACK,)} | config)))
        return self.gatehouse.run(self.changes.add(actor, client_id, draft))

    def edit(self, client_id: str = "wiki", *, actor: Actor = OPERATOR, **values: Any) -> int:
        config: ClientConfig | UnsetType = UNSET
        if own := values.keys() - {"name", "enabled"}:
            now = read_config(self.stored(client_id))
            config = ClientConfig(
                **{name: getattr(now, name) for name in now.__struct_fields__}
                | {name: values.pop(name) for name in own}
            )
        return self.gatehouse.run(self.changes.edit(actor, client_id, ClientDraft(config=config, **values)))

    def new_secret(self, keep: float = 7 * DAY) -> NewSecret:
        return self.gatehouse.run(self.changes.new_secret(OPERATOR, "wiki", keep))

    def stored(self, client_id: str = "wiki") -> StoredClient:
        return self.gatehouse.run(self.changes.by_client_id(client_id))

    def valid(self) -> list[ClientSecret]:
        return self.gatehouse.run(self.changes.valid_secrets()).get(self.stored().id, [])

    def log_in(self, *users: int) -> None:
        client = self.stored().id
        for user in users:
            grant = StoredGrant(f"g{user}", f"s{user}", user, client, "openid", self.gatehouse.clock())
            self.gatehouse.run(self.gatehouse.service.stores.grants.add(grant))

    def events(self, event: str) -> list[dict[str, Any]]:
        found = self.gatehouse.run(self.gatehouse.service.stores.audit_trail.read(events=[event]))
        return [json.loads(entry.detail or "{}") for entry in found]


@pytest.fixture
def applications(tmp_path: Path) -> Iterator[Applications]:
    gatehouse = InProcess(tmp_path / "data")
    yield Applications(gatehouse)
    gatehouse.close()


# Secrets


def test_a_secret_is_given_once_and_only_its_digest_is_stored(applications: Applications) -> None:
    secret = applications.add() or ""
    assert secret.startswith("ghc_")
    [stored] = applications.valid()
    assert (stored.digest, stored.hint, stored.expires) == (digest(secret), secret[-4:], None)
    [event] = applications.events("client.added")
    assert event == {"client": "wiki", "name": "wiki", "redirect_uris": [CALLBACK]}


def test_two_secrets_are_valid_while_one_replaces_the_other(applications: Applications) -> None:
    first, start = applications.add() or "", applications.gatehouse.clock()
    second = applications.new_secret()
    assert second.old_until == start + 7 * DAY
    assert [each.digest for each in applications.valid()] == [digest(first), digest(second.text)]
    applications.gatehouse.clock.move(DAY)
    third = applications.new_secret(2 * DAY)
    assert [each.digest for each in applications.valid()] == [digest(second.text), digest(third.text)], "two at most"
    applications.gatehouse.clock.move(2 * DAY)
    assert [each.digest for each in applications.valid()] == [digest(third.text)]
    fourth = applications.new_secret(0)
    assert fourth.old_until is None
    assert [each.digest for each in applications.valid()] == [digest(fourth.text)]
    assert [event["hint"] for event in applications.events("client.secret_added")].count(fourth.text[-4:]) == 1
    with pytest.raises(AccountFieldInvalid, match="keep"):
        applications.new_secret(91 * DAY)


def test_another_kind_of_authentication_ends_the_secrets(applications: Applications) -> None:
    applications.add()
    applications.edit(auth=ClientAuth.NONE)
    assert applications.valid() == []
    with pytest.raises(ApplicationFieldInvalid, match="does not log in with a secret"):
        applications.new_secret()
    assert applications.add("app", auth=ClientAuth.NONE) is None


# Changes


def test_a_disabled_or_removed_application_loses_what_it_was_granted(applications: Applications) -> None:
    applications.add()
    store = applications.gatehouse.service.stores.oauth_clients
    applications.log_in(1)
    assert applications.gatehouse.run(store.users_by_client()) == {applications.stored().id: 1}
    assert applications.edit(name="Wiki") == 0
    assert applications.edit(enabled=False) == 1
    assert applications.gatehouse.run(store.users_by_client()) == {}
    applications.edit(enabled=True)
    applications.log_in(1)
    assert applications.gatehouse.run(applications.changes.remove(OPERATOR, "wiki")) == 1
    assert applications.gatehouse.run(store.users_by_client()) == {}
    assert applications.gatehouse.run(store.secrets()) == []
    assert applications.events("client.removed") == [{"client": "wiki", "users": 1}]
    with pytest.raises(Missing):
        applications.stored()


def test_the_trail_says_what_was_changed(applications: Applications) -> None:
    applications.add()
    applications.edit(redirect_uris=("https://wiki.example.com/other",), roles=("ADMIN",), name="Wiki")
    [event] = applications.events("client.changed")
    assert event == {
        "client": "wiki",
        "changed": ["name", "redirect_uris", "roles"],
        "redirect_uris": ["https://wiki.example.com/other"],
    }


def test_only_administrators_change_applications(applications: Applications) -> None:
    applications.add()
    somebody = Actor(7, frozenset({"STAFF"}), frozenset({"sys:app:create", "sys:app:update", "sys:app:delete"}))
    attempts: list[Callable[[], object]] = [
        lambda: applications.add("other", actor=somebody),
        lambda: applications.edit(actor=somebody, enabled=False),
        lambda: applications.gatehouse.run(applications.changes.remove(somebody, "wiki")),
        lambda: applications.gatehouse.run(applications.changes.new_secret(somebody, "wiki")),
    ]
    for attempt in attempts:
        with pytest.raises(CannotGrant):
            attempt()


def test_client_ids_and_roles(applications: Applications) -> None:
    applications.add("Grafana_2.x-y")
    with pytest.raises(Duplicate, match="there is an application"):
        applications.add("Grafana_2.x-y")
    for wrong in ("", "a b", "-x", "x" * 65, "a:b", "ä"):
        with pytest.raises(AccountFieldInvalid, match="client_id: A client id has"):
            applications.add(wrong)
    with pytest.raises(AccountFieldInvalid, match="GATEHOUSE_AUDIENCE"):
        applications.add("gatehouse")
    with pytest.raises(AccountFieldInvalid, match="GATEHOUSE_AUDIENCE"):
        applications.add(audience="gatehouse")
    with pytest.raises(ApplicationFieldInvalid, match="There is no role NOBODY"):
        applications.add(roles=("ADMIN", "NOBODY"))


# What is accepted


def checked(**config: Any) -> ClientConfig:
    return checked_config(ClientConfig(**({"redirect_uris": (CALLBACK,)} | config)), "gatehouse")


@pytest.mark.parametrize(
    "address",
    [
        CALLBACK,
        "https://wiki.example.com:8443/callback?x=1&y=%20",
        "http://127.0.0.1:3000/callback",
        "http://[::1]/callback",
        "http://localhost:3000/callback",
    ],
)
def test_addresses_that_every_application_may_have(address: str) -> None:
    assert checked(redirect_uris=(address,)).redirect_uris == (address,)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("http://wiki.example.com/callback", "http:// is for this machine only"),
        ("http://10.0.0.7/callback", "http:// is for this machine only"),
        ("http://127.0.0.1.example.com/", "http:// is for this machine only"),
        ("https://wiki.example.com/callback#here", "no fragment"),
        ("https://wiki.example.com/callback#", "no fragment"),
        ("https://*.example.com/callback", "Wildcards are not accepted"),
        ("https://wiki.example.com/*", "Wildcards are not accepted"),
        ("https://user:password@wiki.example.com/", "no user or password"),
        ("https://wiki.example.com@evil.example/", "no user or password"),
        ("https:///callback", "needs a host"),
        ("https://wiki.example.com:99999/", "is not a URL"),
        ("https://wiki.example.com:x/", "is not a URL"),
        ("https://[::1/", "is not a URL"),
        ("https://wiki.example.com/a b", "is not a URL"),
        ("https://wiki.example.com\\@evil.example/", "is not a URL"),
        ("https://wiki.example.com/\n", "is not a URL"),
        ("https://wíki.example.com/", "is not a URL"),
        ("https://wiki.example.com/" + "x" * 1024, "is not a URL"),
        ("/callback", "begins with https://"),
        ("//wiki.example.com/callback", "begins with https://"),
        ("javascript:alert(1)", "begins with https://"),
        ("data:text/html,x", "begins with https://"),
        ("com.example.app:/callback", "begins with https://"),
    ],
)
def test_addresses_that_no_application_with_a_secret_has(address: str, reason: str) -> None:
    for field in ("redirect_uris", "post_logout_redirect_uris"):
        with pytest.raises(AccountFieldInvalid, match=reason) as refusal:
            checked(**{field: (address,)})
        assert refusal.value.field == field
    with pytest.raises(AccountFieldInvalid, match=reason):
        checked(backchannel_logout_uri=address)


def test_http_beyond_this_machine_is_for_the_operator_to_allow() -> None:
    plain = "http://wiki.internal:3000/callback"
    assert checked(redirect_uris=(plain,), backchannel_logout_uri=plain, allow_http=True).redirect_uris == (plain,)
    assert checked(url=plain).url == plain
    with pytest.raises(AccountFieldInvalid, match="url: An address begins with https"):
        checked(url="javascript:alert(1)")


def test_applications_on_phones_have_schemes_of_their_own() -> None:
    native = "com.example.app:/callback"
    assert checked(auth=ClientAuth.NONE, redirect_uris=(native,)).redirect_uris == (native,)
    for wrong in ("app:/callback", "javascript:alert(1)", "data:text/html,x", "com.:/x"):
        with pytest.raises(AccountFieldInvalid, match="a scheme that has a dot"):
            checked(auth=ClientAuth.NONE, redirect_uris=(wrong,))
    with pytest.raises(AccountFieldInvalid, match="backchannel_logout_uri"):
        checked(auth=ClientAuth.NONE, backchannel_logout_uri=native)


def test_other_fields() -> None:
    for wrong, reason in (
        ({"redirect_uris": ()}, "at least one"),
        ({"redirect_uris": (CALLBACK, CALLBACK)}, "twice"),
        ({"redirect_uris": tuple(f"{CALLBACK}/{n}" for n in range(21))}, "At most 20"),
        ({"scopes": (Scope.EMAIL,)}, "needs the scope openid"),
        ({"id_token_alg": "HS256"}, "one of RS256, ES256"),
        ({"audience": "x" * 256}, "up to 255"),
        ({"auth": ClientAuth.NONE, "pkce": Pkce.OPTIONAL}, "always needs PKCE"),
        ({"jwks": "{}"}, "private_key_jwt only"),
        ({"recipe": "nope"}, "There is no recipe nope"),
    ):
        with pytest.raises(AccountFieldInvalid, match=reason):
            checked(**wrong)
    assert checked(auth=ClientAuth.NONE).pkce is Pkce.REQUIRED
    assert checked(scopes=(Scope.EMAIL, Scope.OPENID)).scopes == (Scope.OPENID, Scope.EMAIL)


def test_an_address_is_an_applications_own_if_it_is_registered_exactly() -> None:
    config = ClientConfig(redirect_uris=(CALLBACK, "http://127.0.0.1:3000/callback"))
    assert is_registered(CALLBACK, config)
    for other in (
        CALLBACK + "/", CALLBACK + "?x=1", CALLBACK.upper(), "https://wiki.example.com:443/callback",
        "https://wiki.example.com/callback/../x", "http://127.0.0.1:3001/callback", "",
    ):  # fmt: skip
        assert not is_registered(other, config)


def test_a_program_on_somebodys_machine_may_choose_its_port() -> None:
    config = ClientConfig(
        auth=ClientAuth.NONE, redirect_uris=("http://127.0.0.1/callback", "http://[::1]:1/", "https://app.example.com/")
    )
    for own in ("http://127.0.0.1/callback", "http://127.0.0.1:51004/callback", "http://[::1]:51004/", "http://[::1]/"):
        assert is_registered(own, config)
    for other in (
        "http://127.0.0.1:51004/other", "http://localhost:51004/callback", "https://127.0.0.1:51004/callback",
        "http://127.0.0.1:51004@evil.example/callback", "http://127.0.0.1.evil.example/callback",
        "http://127.0.0.1:x/callback", "https://app.example.com:444/", "http://127.0.0.1:123456/callback",
    ):  # fmt: skip
        assert not is_registered(other, config)


# Keys


RSA_KEY = RSAAlgorithm.to_jwk(rsa.generate_private_key(65537, 2048), as_dict=True)
EC_KEY = ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP256R1()), as_dict=True)
ED_KEY = OKPAlgorithm.to_jwk(ed25519.Ed25519PrivateKey.generate(), as_dict=True)


def public(key: dict[str, Any], **more: str) -> dict[str, Any]:
    return {name: key[name] for name in ("kty", "n", "e", "crv", "x", "y") if name in key} | more


def with_keys(*keys: dict[str, Any]) -> ClientConfig:
    return checked(auth=ClientAuth.PRIVATE_KEY_JWT, jwks=json.dumps({"keys": keys}))


def test_public_keys_are_taken_and_nothing_else_of_them_is_stored() -> None:
    three = [public(RSA_KEY, kid="r", alg="PS256"), public(EC_KEY, kid="e"), public(ED_KEY, kid="o", alg="EdDSA")]
    stored = json.loads(with_keys(*(key | {"use": "sig", "x5u": "https://x"} for key in three)).jwks)["keys"]
    assert stored == three
    assert json.loads(with_keys(public(EC_KEY)).jwks)["keys"] == [public(EC_KEY)]


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        (RSA_KEY, "a private or shared key"),
        (EC_KEY, "a private or shared key"),
        ({"kty": "oct", "k": "c2VjcmV0"}, "a private or shared key"),
        ({"kty": "oct"}, "of type RSA, EC or OKP"),
        ({}, "of type RSA, EC or OKP"),
        ({"kty": ["RSA"]}, "of type RSA, EC or OKP"),
        (public(RSAAlgorithm.to_jwk(rsa.generate_private_key(65537, 1024), as_dict=True)), "at least 2048 bits"),
        (public(ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP384R1()), as_dict=True)), "on the curve P-256"),
        (public(RSA_KEY, alg="none"), "is for RS256, PS256"),
        (public(RSA_KEY, alg="HS256"), "is for RS256, PS256"),
        (public(EC_KEY, alg="RS256"), "is for ES256"),
        (public(EC_KEY, use="enc"), "for signatures"),
        (public(EC_KEY) | {"x": "AAAA"}, "cannot be read"),
        ({"kty": "RSA"}, "cannot be read"),
        ({"kty": "RSA", "n": 5, "e": {}}, "cannot be read"),
    ],
)
def test_keys_that_are_refused(key: dict[str, Any], reason: str) -> None:
    with pytest.raises(AccountFieldInvalid, match=reason):
        with_keys(key)


@pytest.mark.parametrize("text", ["", "x", "[]", "{}", '{"keys": []}', '{"keys": [1]}', '{"keys": {}}', "null"])
def test_what_is_no_set_of_keys(text: str) -> None:
    with pytest.raises(AccountFieldInvalid, match="not a JWK set"):
        checked(auth=ClientAuth.PRIVATE_KEY_JWT, jwks=text)


def test_several_keys_are_told_apart_by_their_kid() -> None:
    for kids in ({}, {"kid": "same"}):
        with pytest.raises(AccountFieldInvalid, match="a kid of its own"):
            with_keys(public(EC_KEY, **kids), public(ED_KEY, **kids))
    with pytest.raises(AccountFieldInvalid, match="1 to 8 public keys"):
        with_keys(*(public(EC_KEY, kid=str(n)) for n in range(9)))
    with pytest.raises(AccountFieldInvalid, match="not a JWK set"):
        with_keys(public(EC_KEY, kid="x" * 17_000))

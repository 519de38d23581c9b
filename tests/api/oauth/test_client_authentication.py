"""How applications show who they are: secrets, assertions, and what somebody else tries with them."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from gatehouse.auth.audit import Event
from gatehouse.auth.oauth.client_authentication import ASSERTION_TYPE
from gatehouse.auth.oauth.definitions import ClientAuth
from gatehouse.management.authority import Actor
from tests.api.oauth.application import Application, basic, public
from tests.api.oauth.test_tokens import refused
from tests.support.inprocess import Answer, Clock, InProcess

ISSUER = "https://gatehouse.localhost"
KEYS: dict[str, Any] = {
    "RS256": rsa.generate_private_key(65537, 2048),
    "ES256": ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": Ed25519PrivateKey.generate(),
}


@pytest.fixture(scope="module")
def gatehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    clock = Clock(float(int(time.time())))
    with InProcess(tmp_path_factory.mktemp("clients") / "data", clock, issuer=ISSUER) as running:
        yield running


@pytest.fixture(scope="module")
def app(gatehouse: InProcess) -> Application:
    return Application(gatehouse)


def jwk(private: Any, **members: str) -> dict[str, Any]:
    by_kind = {"RSA": "RS256", "EC": "ES256"}
    kind = type(private).__name__
    algorithm = next((name for prefix, name in by_kind.items() if kind.startswith(prefix)), "EdDSA")
    made = jwt.get_algorithm_by_name(algorithm).to_jwk(private.public_key(), as_dict=True)
    return {name: value for name, value in made.items() if name != "key_ops"} | members


def asks(app: Application, headers: dict[str, str] | None = None, /, **form: str) -> Answer:
    """With a code that is not one: whoever is authenticated is told so."""
    return app.token(headers, grant_type="authorization_code", code="x", **form)


def is_known(answer: Answer) -> bool:
    return refused(answer)


def is_unknown(answer: Answer, *, basic: bool = False) -> bool:
    assert answer.headers.get("www-authenticate", "").startswith("Basic") is basic
    return refused(answer, "invalid_client", 401)


# Secrets


def test_a_secret_comes_in_the_header_or_in_the_form(app: Application) -> None:
    assert is_known(asks(app, {"authorization": basic("app", app.secret)}))
    assert is_known(asks(app, {"authorization": basic("app", app.secret)}, client_id="app"))
    assert is_known(asks(app, client_id="app", client_secret=app.secret))


def test_both_halves_of_the_header_are_form_encoded(gatehouse: InProcess) -> None:
    app = Application(gatehouse, "with.dots-and_more")
    encoded = "".join(f"%{ord(character):02X}" for character in app.client_id), app.secret.replace("_", "%5F")
    assert is_known(asks(app, {"authorization": basic(*encoded)}))


@pytest.mark.parametrize(
    "header",
    [
        basic("app", "wrong"),
        basic("app", ""),
        basic("nobody", "x"),
        basic("", ""),
        basic("app\0", "x"),
        "Basic",
        "Basic !!!",
        "Basic " + base64.b64encode(b"app").decode(),
        "Basic " + base64.b64encode(b"\xff\xfe:x").decode(),
    ],
)
def test_a_wrong_secret_is_refused_by_name_of_its_scheme(app: Application, header: str) -> None:
    assert is_unknown(asks(app, {"authorization": header}), basic=True)


@pytest.mark.parametrize(
    "form",
    [
        {"client_id": "app"},
        {"client_id": "app", "client_secret": ""},
        {"client_id": "app", "client_secret": "wrong"},
        {"client_id": "nobody", "client_secret": "x"},
        {"client_id": "", "client_secret": "x"},
        {"client_id": "a" * 65, "client_secret": "x"},
    ],
)
def test_without_its_secret_it_is_nobody(app: Application, form: dict[str, str]) -> None:
    assert is_unknown(asks(app, {"authorization": "Bearer x"}, **form))


def test_one_kind_of_authentication_and_one_client(gatehouse: InProcess, app: Application) -> None:
    header = {"authorization": basic("app", app.secret)}
    assert refused(asks(app, header, client_secret=app.secret, client_id="app"), "invalid_request")
    assert refused(asks(app, header, client_assertion="x", client_assertion_type=ASSERTION_TYPE), "invalid_client", 401)
    assert refused(asks(app, header, client_id="another"), "invalid_request")
    assert refused(
        app.token(grant_type="authorization_code", code="x", client_id="app", client_assertion=assertion(app, "ES256"),
                  client_assertion_type=ASSERTION_TYPE, client_secret=app.secret), "invalid_request")  # fmt: skip


def test_a_parameter_comes_once(app: Application) -> None:
    twice = f"grant_type=authorization_code&code=x&client_id=app&client_secret={app.secret}&code=y".encode()
    headers = {"content-type": "application/x-www-form-urlencoded"}
    assert refused(app.gatehouse.request("POST", "/oauth2/token", content=twice, headers=headers), "invalid_request")


@pytest.mark.parametrize("media_type", ["application/json", "text/plain", "multipart/form-data; boundary=x", ""])
def test_only_forms_are_read(app: Application, media_type: str) -> None:
    headers = {"content-type": media_type}
    answer = app.gatehouse.request("POST", "/oauth2/token", content=b"{}", headers=headers)
    assert refused(answer, "invalid_request")


def test_a_body_has_bounds(app: Application) -> None:
    headers = {"content-type": "application/x-www-form-urlencoded", "content-length": "70000"}
    answer = app.gatehouse.request("POST", "/oauth2/token", content=b"a" * 70_000, headers=headers)
    assert refused(answer, "invalid_request", 413)


def test_two_secrets_are_valid_while_one_replaces_the_other(gatehouse: InProcess) -> None:
    app = Application(gatehouse, "rotating")
    changes = gatehouse.service.management.client_changes
    first = app.secret
    second = gatehouse.run(changes.new_secret(Actor(None), "rotating", keep=100)).text
    for secret in (first, second):
        assert is_known(asks(app, {"authorization": basic("rotating", secret)}))
    gatehouse.clock.move(100)
    assert is_unknown(asks(app, {"authorization": basic("rotating", first)}), basic=True)
    assert is_known(asks(app, {"authorization": basic("rotating", second)}))


def test_an_application_that_is_switched_off_is_nobody(gatehouse: InProcess) -> None:
    app = Application(gatehouse, "off")
    app.change(enabled=False)
    assert is_unknown(asks(app), basic=True)


# Kinds cannot be mixed


def test_each_uses_the_kind_that_it_is_registered_with(gatehouse: InProcess, app: Application) -> None:
    spa, signing = public(gatehouse), keyed(gatehouse, "kinds")
    assert is_known(asks(spa))
    assert is_unknown(asks(spa, {"authorization": basic("spa", "")}), basic=True)
    assert is_unknown(asks(spa, client_id="spa", client_secret="x"))
    assert is_unknown(asks(signing, client_id="kinds"))
    assert is_unknown(asks(signing, client_id="kinds", client_secret="x"))
    assert is_unknown(signed(app, assertion(app, "ES256")))


# Assertions


def keyed(gatehouse: InProcess, client_id: str = "signing", algorithm: str = "ES256", **members: str) -> Application:
    jwks = json.dumps({"keys": [jwk(KEYS[algorithm], **members)]})
    return Application(gatehouse, client_id, auth=ClientAuth.PRIVATE_KEY_JWT, jwks=jwks)


def claims_of(app: Application, **changes: Any) -> dict[str, Any]:
    now = app.gatehouse.clock()
    claims = {
        "iss": app.client_id,
        "sub": app.client_id,
        "aud": ISSUER,
        "jti": f"{now}-{next(_numbers)}",
        "iat": now,
        "exp": now + 60,
        **changes,
    }
    return {name: value for name, value in claims.items() if value is not None}


_numbers = iter(range(10_000))


def assertion(app: Application, algorithm: str, key: Any = None, **changes: Any) -> str:
    headers = changes.pop("headers", None)
    return jwt.encode(claims_of(app, **changes), key or KEYS[algorithm], algorithm, headers=headers)


def signed(app: Application, token: str, **form: str) -> Answer:
    return asks(app, client_assertion=token, **{"client_assertion_type": ASSERTION_TYPE, **form})


@pytest.fixture(scope="module")
def signing(gatehouse: InProcess) -> Application:
    return keyed(gatehouse)


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "EdDSA"])
def test_an_assertion_is_accepted(gatehouse: InProcess, algorithm: str) -> None:
    kind = algorithm.replace("PS", "RS")
    app = keyed(gatehouse, f"by-{algorithm}", kind)
    assert is_known(signed(app, assertion(app, algorithm, KEYS[kind])))
    assert is_known(signed(app, assertion(app, algorithm, KEYS[kind], headers={"kid": "its own name"})))


@pytest.mark.parametrize(
    "audience",
    [ISSUER, f"{ISSUER}/oauth2/token", [ISSUER], [ISSUER, f"{ISSUER}/oauth2/token"]],
)
def test_it_names_us_as_its_audience(signing: Application, audience: Any) -> None:
    assert is_known(signed(signing, assertion(signing, "ES256", aud=audience)))


def test_one_of_several_keys_is_named(gatehouse: InProcess) -> None:
    keys = [jwk(KEYS["ES256"], kid="one"), jwk(KEYS["EdDSA"], kid="two")]
    app = Application(gatehouse, "several", auth=ClientAuth.PRIVATE_KEY_JWT, jwks=json.dumps({"keys": keys}))
    assert is_known(signed(app, assertion(app, "EdDSA", headers={"kid": "two"})))
    assert is_unknown(signed(app, assertion(app, "EdDSA", headers={"kid": "one"})))
    assert is_unknown(signed(app, assertion(app, "EdDSA", headers={"kid": "three"})))


def test_an_assertion_is_good_once(signing: Application) -> None:
    token = assertion(signing, "ES256")
    assert is_known(signed(signing, token))
    assert is_unknown(signed(signing, token))
    same = assertion(signing, "ES256", jti="fixed"), assertion(signing, "ES256", jti="fixed", aud=[ISSUER])
    assert [is_known(signed(signing, same[0])), is_unknown(signed(signing, same[1]))] == [True, True]


def pem() -> bytes:
    return bytes(KEYS["ES256"].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))


def hs256(app: Application, key: bytes) -> str:
    """As the library refuses to make it: signed by HMAC with what is public."""
    import hmac  # noqa: PLC0415

    def part(content: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()

    body = f"{part({'alg': 'HS256'})}.{part(claims_of(app))}"
    return f"{body}.{base64.urlsafe_b64encode(hmac.digest(key, body.encode(), 'sha256')).rstrip(b'=').decode()}"


ATTACKS: dict[str, Callable[[Application], str]] = {
    "signed by another key": lambda app: assertion(app, "ES256", ec.generate_private_key(ec.SECP256R1())),
    "another kind of key": lambda app: assertion(app, "RS256"),
    "alg none": lambda app: jwt.encode(claims_of(app), "", "none"),
    "an HMAC with the public key": lambda app: hs256(app, pem()),
    "an HMAC with the JWK": lambda app: hs256(app, json.dumps(jwk(KEYS["ES256"])).encode()),
    "a key in the header": lambda app: assertion(
        app, "RS256", headers={"jwk": jwk(KEYS["RS256"]), "jku": "https://evil.example/jwks"}
    ),
    "crit": lambda app: assertion(app, "ES256", headers={"crit": ["b64"], "b64": False}),
    "of another issuer": lambda app: assertion(app, "ES256", iss="another"),
    "for another subject": lambda app: assertion(app, "ES256", sub="app"),
    "for another audience": lambda app: assertion(app, "ES256", aud="https://other.example"),
    "for a longer audience": lambda app: assertion(app, "ES256", aud=f"{ISSUER}.evil.example"),
    "for no audience": lambda app: assertion(app, "ES256", aud=None),
    "for a strange audience": lambda app: assertion(app, "ES256", aud={ISSUER: 1}),
    "without an end": lambda app: assertion(app, "ES256", exp=None),
    "expired": lambda app: assertion(app, "ES256", exp=app.gatehouse.clock() - 60),
    "good for too long": lambda app: assertion(app, "ES256", exp=app.gatehouse.clock() + 3600),
    "not yet begun": lambda app: assertion(app, "ES256", nbf=app.gatehouse.clock() + 120),
    "from the future": lambda app: assertion(app, "ES256", iat=app.gatehouse.clock() + 120),
    "without a name": lambda app: assertion(app, "ES256", jti=None),
    "with an empty name": lambda app: assertion(app, "ES256", jti=""),
    "with a number for a name": lambda app: assertion(app, "ES256", jti=7),
    "with a huge name": lambda app: assertion(app, "ES256", jti="x" * 300),
    "with a text for an end": lambda app: assertion(app, "ES256", exp="soon"),
    "with another signature": lambda app: ".".join(assertion(app, "ES256").split(".")[:2]) + ".x",
    "without a signature": lambda app: assertion(app, "ES256").rpartition(".")[0] + ".",
    "an ID token of ours": lambda app: Application(app.gatehouse, f"victim-{next(_numbers)}").tokens()["id_token"],
    "not a token": lambda _app: "x.y.z",
    "not JSON": lambda _app: "eyJ.eyJ.eyJ",
    "endless": lambda _app: "a" * 9000,
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_somebody_else_makes_is_refused(signing: Application, attack: str) -> None:
    assert is_unknown(signed(signing, ATTACKS[attack](signing)))
    assert is_known(signed(signing, assertion(signing, "ES256"))), "so that the refusals are for the attack"


def test_the_type_of_the_assertion_is_said(signing: Application) -> None:
    other = "urn:ietf:params:oauth:client-assertion-type:saml2-bearer"
    assert is_unknown(signed(signing, assertion(signing, "ES256"), client_assertion_type=other))
    assert refused(signed(signing, assertion(signing, "ES256"), client_id="app"), "invalid_request")


# What is noticed of it


def test_failures_are_recorded_and_limited_by_address(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_refresh_address="3/minute") as gatehouse:
        app = Application(gatehouse)
        wrong = {"authorization": basic("app", "wrong")}
        for _ in range(3):
            assert is_unknown(asks(app, wrong), basic=True)
        limited = asks(app, wrong)
        assert refused(limited, "temporarily_unavailable", 429)
        assert int(limited.headers["retry-after"]) > 0
        assert is_known(asks(app)), "who has the right secret is not kept out by others at its address"
        gatehouse.run(gatehouse.service.audit.stop())
        recorded = gatehouse.run(gatehouse.service.stores.audit_trail.read())
        [entry] = [entry for entry in recorded if entry.event == Event.CLIENT_REFUSED]
        assert (entry.reason, entry.address) == ("secret", "127.0.0.1")
        assert entry.detail is not None
        assert json.loads(entry.detail)["count"] == 4

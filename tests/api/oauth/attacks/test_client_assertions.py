"""Assertions of applications that somebody else makes, repeats or carries on. `test_client_authentication.py` has those
that are wrong by themselves.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from gatehouse.auth.oauth.client_authentication import ASSERTION_TYPE
from gatehouse.auth.oauth.definitions import ClientAuth
from tests.api.oauth.application import Application, basic, public
from tests.api.oauth.attacks.parties import ISSUER, code_of, refused, second_node, signed_in, tokens_of
from tests.support.inprocess import Answer, InProcess

OWN, OTHER = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
RSA = rsa.generate_private_key(65537, 2048)
WRONG_CURVE = ec.generate_private_key(ec.SECP384R1())


def jwk(private: Any, algorithm: str = "ES256", **members: Any) -> dict[str, Any]:
    made: dict[str, Any] = jwt.get_algorithm_by_name(algorithm).to_jwk(private.public_key(), as_dict=True)
    return {name: value for name, value in made.items() if name != "key_ops"} | members


def keyed(gatehouse: InProcess, client_id: str, *keys: dict[str, Any]) -> Application:
    return Application(gatehouse, client_id, auth=ClientAuth.PRIVATE_KEY_JWT, jwks=json.dumps({"keys": keys}))


@pytest.fixture(scope="module")
def signing(gatehouse: InProcess) -> Application:
    return keyed(gatehouse, "signing", jwk(OWN, kid="own"))


@pytest.fixture(scope="module")
def neighbour(gatehouse: InProcess) -> Application:
    """Registered as well, with a key of its own under the same name."""
    return keyed(gatehouse, "neighbour", jwk(OTHER, kid="own"))


_numbers = iter(range(100_000))


def claims(client_id: str = "signing", **changes: Any) -> dict[str, Any]:
    now = 1_900_000_000
    made = {"iss": client_id, "sub": client_id, "aud": ISSUER, "jti": f"j{next(_numbers)}", "exp": now + 60, **changes}
    return {name: value for name, value in made.items() if value is not None}


def assertion(key: Any = OWN, headers: dict[str, Any] | None = None, /, **changes: Any) -> str:
    return jwt.encode(claims(**changes), key, "ES256", headers={"kid": "own", **(headers or {})})


def forged(header: dict[str, Any], content: dict[str, Any], key: bytes | None) -> str:
    """As no library makes it: signed by HMAC with a text that is known, or not at all."""

    def part(text: bytes) -> str:
        return base64.urlsafe_b64encode(text).rstrip(b"=").decode()

    body = f"{part(json.dumps(header).encode())}.{part(json.dumps(content).encode())}"
    return f"{body}.{part(hmac.digest(key, body.encode(), hashlib.sha256) if key is not None else b'')}"


def used(app: Application, token: str, path: str = "/oauth2/token", **form: str) -> Answer:
    given = {"client_assertion_type": ASSERTION_TYPE, "client_assertion": token, "token": "x", "code": "x"}
    return app.call(path, None, **{**given, "grant_type": "authorization_code", **form})


def known(answer: Answer) -> bool:
    """Authenticated: what is refused then is the code."""
    return refused(answer, "invalid_grant")


def unknown(answer: Answer) -> bool:
    return refused(answer, "invalid_client", 401)


def test_the_right_one_is_accepted(signing: Application) -> None:
    """So that what is refused below is refused for what it tries."""
    assert known(used(signing, assertion()))


# Algorithms and keys


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "nOnE", "", "HS256", "HS384", "HS512"])
def test_nothing_is_believed_without_a_key_of_the_application(signing: Application, algorithm: str) -> None:
    public_key = OWN.public_key()
    texts = [
        None,
        b"",
        public_key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        public_key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint),
        json.dumps(jwk(OWN, kid="own")).encode(),
        b"own",
        b"signing",
    ]
    for key in texts:
        assert unknown(used(signing, forged({"alg": algorithm, "kid": "own", "typ": "JWT"}, claims(), key)))


def test_a_secret_of_a_client_makes_no_assertion(gatehouse: InProcess, app: Application) -> None:
    """`client_secret_jwt` is not there, also for who knows the secret."""
    token = forged({"alg": "HS256"}, claims("app"), app.secret.encode())
    assert unknown(used(app, token))
    assert unknown(used(app, token, client_id="app"))


@pytest.mark.parametrize(
    "header",
    [
        {"jwk": jwk(OTHER)},
        {"jku": "https://evil.example/jwks.json"},
        {"x5u": "https://evil.example/cert.pem"},
        {"x5c": ["MIIB"]},
        {"kid": "other"},
        {"kid": "../../../../dev/null"},
        {"kid": "own' OR '1'='1"},
        {"kid": ["own"]},
        {"kid": 0},
        {"kid": None},
        {"crit": ["exp"]},
        {"crit": []},
        {"b64": False},
        {"alg": "ES256K"},
        {"alg": ["ES256"]},
        {"alg": {"ES256": 1}},
        {"zip": "DEF"},
    ],
    ids=lambda header: str(header)[:24],  # without a key, which is another one in each worker
)
def test_no_header_brings_a_key_along(signing: Application, header: dict[str, Any]) -> None:
    """Signed by the attacker's key; the header says where to find it, or that it does not matter."""
    content = {"alg": "ES256", "kid": "own", "typ": "JWT", **header}
    body = ".".join(forged(content, claims(), None).split(".")[:2])
    signature = jwt.get_algorithm_by_name("ES256").sign(body.encode(), OTHER)
    token = f"{body}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"
    assert unknown(used(signing, token))


def test_keys_of_others_are_none(signing: Application, neighbour: Application) -> None:
    """Another application's, our own, of another curve or kind, or the attacker's."""
    assert unknown(used(signing, assertion(OTHER)))
    assert unknown(used(signing, jwt.encode(claims(), RSA, "RS256", headers={"kid": "own"})))
    assert unknown(used(signing, jwt.encode(claims(), WRONG_CURVE, "ES384", headers={"kid": "own"})))
    ours = signing.gatehouse.service.key_ring.signer
    body = ".".join(forged({"alg": ours.algorithm, "kid": ours.kid}, claims(), None).split(".")[:2])
    signature = base64.urlsafe_b64encode(ours.sign(body.encode())).rstrip(b"=").decode()
    assert unknown(used(signing, f"{body}.{signature}"))


@pytest.mark.parametrize("signature", [b"", b"\0" * 64, b"\0" * 63 + b"\1", b"\xff" * 64])
def test_an_empty_signature_is_none(signing: Application, signature: bytes) -> None:
    """Psychic signatures: r and s are zero."""
    body = assertion().rpartition(".")[0]
    assert unknown(used(signing, f"{body}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"))


# Whose it is, for whom, and how long


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "neighbour"},
        {"sub": "neighbour"},
        {"iss": "neighbour", "sub": "neighbour"},
        {"sub": None},
        {"iss": None},
        {"sub": "Signing", "iss": "Signing"},
        {"aud": "https://evil.example"},
        {"aud": ["https://evil.example", ISSUER]},
        {"aud": [ISSUER, "https://evil.example/oauth2/token"]},
        {"aud": [ISSUER, 7]},
        {"aud": []},
        {"aud": None},
        {"aud": ISSUER + "/"},
        {"aud": ISSUER + "/oauth2/authorize"},
        {"aud": ISSUER.upper()},
        {"aud": "app"},
        {"aud": "gatehouse"},
        {"exp": None},
        {"exp": 1_899_999_000},
        {"exp": 1_900_003_600},
        {"exp": "1900000060"},
        {"exp": True},
        {"exp": 1e300},
        {"exp": -1},
        {"nbf": 1_900_000_600},
        {"iat": 1_900_000_600},
        {"jti": None},
        {"jti": ""},
        {"jti": 5},
        {"jti": ["a"]},
        {"jti": "x" * 256},
    ],
    ids=str,
)
def test_an_assertion_for_somebody_else_is_refused(
    signing: Application, neighbour: Application, changes: dict[str, Any]
) -> None:
    assert unknown(used(signing, assertion(**changes)))


def test_the_assertion_of_one_application_is_none_for_another(
    signing: Application, neighbour: Application, app: Application
) -> None:
    """Under another `client_id`, and beside the credentials of another."""
    for client_id in ("neighbour", "app", "nobody"):
        assert refused(used(signing, assertion(), client_id=client_id), "invalid_request")
    beside = app.token(
        {"authorization": basic("app", app.secret)},
        grant_type="x",
        client_assertion=assertion(),
        client_assertion_type=ASSERTION_TYPE,
    )
    assert refused(beside, "invalid_request")
    in_form = used(signing, assertion(), client_id="signing", client_secret="x")
    assert refused(in_form, "invalid_request")


# Once


def test_an_assertion_is_good_once_at_all_endpoints(signing: Application) -> None:
    token = assertion()
    assert known(used(signing, token))
    for path in ("/oauth2/token", "/oauth2/par", "/oauth2/revoke", "/oauth2/introspect"):
        assert unknown(used(signing, token, path))
    again = assertion(jti="the same")
    assert used(signing, again, "/oauth2/revoke").status == 200
    assert unknown(used(signing, assertion(jti="the same", exp=1_900_000_100))), "signed anew under the same name"


def test_at_once_on_two_nodes_one_is_taken(signing: Application, gatehouse: InProcess) -> None:
    nodes = [gatehouse, second_node(gatehouse)]
    form = {"client_assertion_type": ASSERTION_TYPE, "client_assertion": assertion(), "token": "x"}

    async def all_at_once() -> list[Answer]:
        return await asyncio.gather(*(signing.post("/oauth2/revoke", form, node=nodes[n % 2]) for n in range(12)))

    statuses = sorted(answer.status for answer in gatehouse.run(all_at_once()))
    gatehouse.run(nodes[1].service.stop())
    assert statuses == [200] + [401] * 11


def test_it_is_remembered_as_long_as_it_could_be_used(signing: Application, gatehouse: InProcess) -> None:
    token = assertion(exp=1_900_000_600)
    assert known(used(signing, token))
    for seconds in (300, 299, 1, 1, 28, 1, 1, 30, 60):
        gatehouse.clock.move(seconds)
        assert unknown(used(signing, token))
    gatehouse.clock.now = 1_900_000_000


def test_names_are_each_applications_own(gatehouse: InProcess, signing: Application, neighbour: Application) -> None:
    """Nobody uses up the assertions of another by guessing their names."""
    assert known(used(neighbour, assertion(OTHER, client_id="neighbour", jti="mine")))
    assert known(used(signing, assertion(jti="mine")))


# Several kinds, and the wrong one


def test_who_signs_cannot_be_talked_down_to_less(signing: Application, gatehouse: InProcess) -> None:
    for form in ({}, {"client_secret": "x"}, {"client_secret": ""}):
        answer = signing.token(grant_type="authorization_code", code="x", client_id="signing", **form)
        assert unknown(answer)
    for password in ("", "x", json.dumps(jwk(OWN))):
        assert unknown(signing.token({"authorization": basic("signing", password)}, grant_type="x"))


def test_a_public_client_has_no_secret(gatehouse: InProcess) -> None:
    """Nobody may believe that it was authenticated."""
    spa = public(gatehouse)
    code = code_of(signed_in(gatehouse), client_id="spa")
    form = {"grant_type": "authorization_code", "code": code}
    assert unknown(spa.token(client_id="spa", client_secret="guess", **form))
    for password in ("", "guess"):
        assert unknown(spa.token({"authorization": basic("spa", password)}, **form))
    assert refused(spa.call("/oauth2/introspect", None, token="x"), "invalid_client", 401)
    assert spa.exchange(code).status == 200


@pytest.mark.parametrize("kind", ["header and form", "two headers' worth", "form of another"])
def test_two_kinds_at_once_are_refused(app: Application, hostile: Application, kind: str) -> None:
    right = {"authorization": basic("app", app.secret)}
    form = {"grant_type": "refresh_token", "refresh_token": "x"}
    more = {
        "header and form": {"client_id": "app", "client_secret": app.secret},
        "two headers' worth": {"client_secret": app.secret},
        "form of another": {"client_id": "hostile", "client_secret": hostile.secret},
    }[kind]
    assert refused(app.token(right, **form, **more), "invalid_request")
    assert refused(app.token(right, **form, client_id="hostile"), "invalid_request")


def test_the_secret_of_one_is_none_for_another(app: Application, hostile: Application) -> None:
    assert unknown(app.token({"authorization": basic("app", hostile.secret)}, grant_type="x"))
    assert unknown(app.token(client_id="app", client_secret=hostile.secret, grant_type="x"))
    assert unknown(app.token(client_id="app", client_secret=app.secret + " ", grant_type="x"))
    assert unknown(app.token(client_id="app", client_secret=app.secret[:-1], grant_type="x"))
    assert unknown(app.token(client_id="APP", client_secret=app.secret, grant_type="x"))


def test_credentials_in_the_query_are_not_read(app: Application, gatehouse: InProcess) -> None:
    """Logs would keep them (RFC 6749, 2.3.1)."""
    query = {"client_id": "app", "client_secret": app.secret, "grant_type": "refresh_token", "refresh_token": "x"}
    headers = {"content-type": "application/x-www-form-urlencoded"}
    assert unknown(gatehouse.request("POST", "/oauth2/token", query=query, content=b"", headers=headers))
    assert unknown(gatehouse.request("POST", "/oauth2/token", query=query, content=b"grant_type=x", headers=headers))
    assert gatehouse.request("GET", "/oauth2/token", query=query).status == 405
    tokens = tokens_of(app, signed_in(gatehouse))
    asked = gatehouse.request("GET", "/oauth2/userinfo", query={"access_token": tokens["access_token"]})
    assert (asked.status, "email" in asked.json) == (401, False)

"""Access tokens that somebody else made: none of them opens anything."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA512
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_private_key

from gatehouse.auth.audit import ClientInfo
from gatehouse.auth.keys.algorithms import ALGORITHMS
from gatehouse.auth.keys.key_ring import unseal_private
from gatehouse.auth.sessions.tokens import RefreshTokens
from tests.support.inprocess import InProcess


@pytest.fixture(scope="module", params=list(ALGORITHMS))
def gatehouse(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    with InProcess(tmp_path_factory.mktemp("tokens") / "data", signing_algorithm=request.param) as running:
        # The data folder comes with a key of the default; its successor is one of the algorithm in the settings.
        running.run(running.service.key_rotation.retire(running.service.key_ring.signer.kid, ClientInfo()))
        assert running.service.key_ring.signer.algorithm == request.param
        yield running


def parts(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    header, claims, _ = token.split(".")
    return json.loads(_decoded(header)), json.loads(_decoded(claims))


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def forge(header: dict[str, Any], claims: dict[str, Any], sign: Callable[[bytes], bytes]) -> str:
    body = f"{_encoded(json.dumps(header).encode())}.{_encoded(json.dumps(claims).encode())}"
    return f"{body}.{_encoded(sign(body.encode()))}"


def ours(gatehouse: InProcess) -> Callable[[bytes], bytes]:
    return gatehouse.service.key_ring.signer.sign


def test_a_faithful_copy_is_taken(gatehouse: InProcess) -> None:
    """So that the refusals below are for what each of them changes."""
    header, claims = parts(gatehouse.login().data["accessToken"])
    assert gatehouse.me(forge(header, claims, ours(gatehouse))).status == 200


OTHERS = ["none", "None", "NONE", "HS256", "HS512", "RS256", "RS512", "PS256", "ES256", "ES384", "EdDSA", "Ed448", ""]


@pytest.mark.parametrize("algorithm", [*OTHERS, None])
def test_no_other_algorithm(gatehouse: InProcess, algorithm: str | None) -> None:
    header, claims = parts(gatehouse.login().data["accessToken"])
    if algorithm is not None and algorithm == header["alg"]:
        algorithm = algorithm.lower()  # its own name is no other one, unless it is written in another way
    stored = gatehouse.service.key_ring.stored[0]
    public = ALGORITHMS[stored.algorithm].read_public(stored.public)
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    signatures: list[Callable[[bytes], bytes]] = [
        lambda _: b"",
        lambda body: hmac.digest(stored.public, body, "sha256"),
        lambda body: hmac.digest(pem, body, hashlib.sha256),
        lambda body: hmac.digest(b"", body, "sha256"),
        ours(gatehouse),
    ]
    if stored.algorithm == "RS256":
        # Our own key in another scheme, which the library would take if it believed the header.
        private = load_der_private_key(unseal_private(gatehouse.service.key_ring.secrets, stored), None)
        assert isinstance(private, RSAPrivateKey)
        signatures.append(lambda body: private.sign(body, PKCS1v15(), SHA512()))
    for sign in signatures:
        assert gatehouse.me(forge(header | {"alg": algorithm}, claims, sign)).code == "A0230"


@pytest.mark.parametrize(
    "change",
    [
        {"typ": "secevent+jwt"}, {"typ": "rt+jwt"}, {"typ": None}, {"typ": "at+jwt\0"}, {"kid": "unknown"},
        {"kid": None}, {"kid": 5}, {"kid": ["x"]}, {"kid": "../../secret"}, {"crit": ["b64"], "b64": False},
        {"zip": "DEF"},
    ],
)  # fmt: skip
def test_no_other_header(gatehouse: InProcess, change: dict[str, Any]) -> None:
    header, claims = parts(gatehouse.login().data["accessToken"])
    token = forge(header | change, claims, ours(gatehouse))
    refused = gatehouse.me(token).code == "A0230"
    assert refused or change == {"zip": "DEF"}, "an unknown member that is not critical may be passed over"


@pytest.mark.parametrize("member", ["jku", "x5u", "jwk", "x5c"])
def test_a_key_that_comes_along_is_no_key(gatehouse: InProcess, member: str) -> None:
    header, claims = parts(gatehouse.login().data["accessToken"])
    algorithm = ALGORITHMS[header["alg"]]
    private, public = algorithm.generate()
    brought: Any = {**algorithm.jwk(public), "kid": header["kid"]}
    if member in {"jku", "x5u"}:
        brought = "http://127.0.0.1:1/keys"
    assert gatehouse.me(forge(header | {member: brought}, claims, algorithm.make_signer(private))).code == "A0230"


@pytest.mark.parametrize(
    "change",
    [
        {"iss": "https://evil.example.com"}, {"iss": None}, {"aud": "another"}, {"aud": ["another"]}, {"aud": None},
        {"exp": 0}, {"exp": None}, {"exp": "soon"}, {"exp": 1e400}, {"sub": "2"}, {"sub": "1 OR 1=1"}, {"sub": None},
        {"sid": "1-AAAAAAAAAAAAAAAAAAAAAA"}, {"sid": None}, {"sid": "' --"}, {"sid": "*"}, {"sid": "{1}"},
    ],
)  # fmt: skip
def test_no_other_claims_even_if_signed(gatehouse: InProcess, change: dict[str, Any]) -> None:
    """As if the key were ours and the mistake too."""
    header, claims = parts(gatehouse.login().data["accessToken"])
    changed = {name: value for name, value in (claims | change).items() if value is not None}
    assert gatehouse.me(forge(header, changed, ours(gatehouse))).code == "A0230"


def test_every_changed_bit_breaks_it(gatehouse: InProcess) -> None:
    token = gatehouse.login().data["accessToken"]
    for at in range(0, len(token), 7):
        other = "A" if token[at] != "A" else "B"
        changed = token[:at] + other + token[at + 1 :]
        # The last character of a base64 text carries bits that nobody reads.
        assert gatehouse.me(changed).code == "A0230" or at == len(token) - 1


def test_expiry_is_to_the_second_and_skew_gives_nothing(gatehouse: InProcess) -> None:
    token = gatehouse.login().data["accessToken"]
    gatehouse.clock.move(7199)
    assert gatehouse.me(token).status == 200
    gatehouse.clock.move(1)
    assert gatehouse.me(token).code == "A0230"


def test_a_token_that_was_remembered_is_still_looked_up(gatehouse: InProcess) -> None:
    token = gatehouse.login().data["accessToken"]
    for _ in range(3):
        assert gatehouse.me(token).status == 200
    assert gatehouse.logout(token).status == 200
    assert gatehouse.me(token).code == "A0230"


def test_nobody_else_makes_a_refresh_token(gatehouse: InProcess) -> None:
    token = gatehouse.login().data["refreshToken"]
    version, session, generation, mac = token.split(".")
    for forged in (
        f"{version}.{session}.{int(generation) + 1}.{mac}",
        f"{version}.{session}.{generation}.{'A' * 43}",
        RefreshTokens(bytes(32)).make(session, int(generation)),
    ):
        assert gatehouse.refresh(forged).code == "A0231"
    assert gatehouse.refresh(token).status == 200, "none of them has ended the session"


def test_the_library_agrees_with_how_we_sign(gatehouse: InProcess) -> None:
    token = gatehouse.login().data["accessToken"]
    [key] = gatehouse.request("GET", "/.well-known/jwks.json").json["keys"]
    assert (key["alg"], key["use"]) == (parts(token)[0]["alg"], "sig")
    assert not set(key) & {"d", "p", "q", "dp", "dq", "qi", "oth", "k"}, "public parts only"
    claims = jwt.decode(
        token,
        jwt.PyJWK(key),
        algorithms=[key["alg"]],
        audience="gatehouse",
        options={"verify_exp": False, "verify_iat": False},
    )
    assert claims == parts(token)[1]

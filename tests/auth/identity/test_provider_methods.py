"""What of a provider's word about a login counts here."""

from __future__ import annotations

import pytest

from gatehouse.auth.identity.provider_methods import MAX_METHODS, provider_methods
from gatehouse.auth.sessions.amr import SECOND_FACTORS, pack_methods, proof_claims, source_of, unpack_methods
from gatehouse.identity_sources.clients import ProviderLogin
from gatehouse.identity_sources.definitions import ProviderConfig
from gatehouse.identity_sources.person import Person

PERSON = Person("1", "caroline", {})


def proof(*amr: str, acr: str = "", trusted: bool = True, acrs: tuple[str, ...] = ("gold",)) -> str:
    config = ProviderConfig(trust_factors=trusted, factor_acrs=acrs)
    return pack_methods(provider_methods("corp", config, ProviderLogin(PERSON, amr=amr, acr=acr)))


@pytest.mark.parametrize(
    ("amr", "acr", "expected"),
    [
        (("pwd", "otp"), "", "oidc@corp+pwd+otp+mfa"),
        (("pwd", "mfa"), "", "oidc@corp+pwd+mfa"),
        (("hwk", "pin"), "", "oidc@corp+hwk+pin+mfa"),
        (("pwd",), "gold", "oidc@corp+pwd+mfa+acr:gold"),
        (("mfa", "weird"), "", "oidc@corp+mfa+~weird"),
        # One kind of proof is one factor, whatever it is called.
        (("otp",), "", "oidc@corp+~otp"),
        (("pwd", "pin"), "", "oidc@corp+~pwd+~pin"),
        (("pwd",), "silver", "oidc@corp+~pwd+acr:silver"),
        ((), "", "oidc@corp"),
    ],
)
def test_a_second_factor_counts_if_the_source_is_trusted_for_it(amr: tuple[str, ...], acr: str, expected: str) -> None:
    assert proof(*amr, acr=acr) == expected
    counts = not SECOND_FACTORS.isdisjoint(unpack_methods(expected))
    assert counts == ("mfa" in expected)
    assert SECOND_FACTORS.isdisjoint(unpack_methods(proof(*amr, acr=acr, trusted=False)))


@pytest.mark.parametrize(
    "method", ["otp+mfa", "~x+hwk", "ldap@other", "mfa+oidc@other", "qr", "oidc", "acr:gold", "x" * 33, "é", ""]
)
def test_a_provider_cannot_write_into_the_proof(method: str) -> None:
    for trusted in (True, False):
        made = proof(method, acr="a+mfa@x", trusted=trusted)
        assert unpack_methods(made) == ("oidc",)
        assert source_of(made) == "corp"
        assert proof_claims(made)["acr"] == "a+mfa@x"


def test_the_proof_is_bounded() -> None:
    made = proof(*(f"method-{number}" for number in range(1000)), acr="x" * 1000)
    assert len(made.split("+")) == 1 + MAX_METHODS

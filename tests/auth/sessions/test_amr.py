"""The proof of a session: which methods count, which source it went by, what its tokens say."""

from __future__ import annotations

from gatehouse.auth.sessions.amr import (
    SECOND_FACTORS,
    Method,
    confirmed_by_qr,
    method_at,
    pack_methods,
    proof_claims,
    reported,
    reported_acr,
    source_of,
    unpack_methods,
    with_source,
)


def test_the_source_stands_beside_the_method_and_not_in_its_name() -> None:
    proof = pack_methods([method_at(Method.DIRECTORY, "corp"), Method.CODE])
    assert proof == "ldap@corp+otp"
    assert unpack_methods(proof) == ("ldap", "otp")
    assert source_of(proof) == "corp"
    assert proof_claims(proof) == {"amr": ("ldap", "otp"), "idp": "corp"}


def test_what_a_provider_only_reports_is_no_second_factor() -> None:
    proof = pack_methods(
        [method_at(Method.PROVIDER, "kc"), reported("otp"), reported("a+b@c"), reported_acr("urn:x/2 3")]
    )
    assert " " not in proof  # Redis keeps it in a line of words
    assert unpack_methods(proof) == ("oidc",)
    assert SECOND_FACTORS.isdisjoint(unpack_methods(proof))
    assert proof_claims(proof) == {"amr": ("oidc",), "idp": "kc", "acr": "urn:x/2 3"}


def test_sessions_of_our_own_have_no_source() -> None:
    assert proof_claims("pwd+otp") == {"amr": ("pwd", "otp")}
    assert (source_of(""), proof_claims("")) == ("", {"amr": ()})


def test_a_session_that_another_one_confirmed_keeps_its_source() -> None:
    assert pack_methods(confirmed_by_qr(with_source(("ldap", "otp"), "corp"))) == "ldap@corp+otp+qr"
    assert confirmed_by_qr("") == ()

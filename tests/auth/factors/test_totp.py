"""TOTP and recovery codes as pure functions: the vectors of RFC 6238, skew, and what people may type."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from gatehouse.auth.factors import recovery_codes, totp
from gatehouse.auth.factors.code_input import Code, CodeKind, read_code

RFC_SECRET = b"12345678901234567890"
NOW = 1_900_000_000.0


@pytest.mark.parametrize(
    ("at", "code"),
    [
        (59, "94287082"),
        (1111111109, "07081804"),
        (1111111111, "14050471"),
        (1234567890, "89005924"),
        (2000000000, "69279037"),
        (20000000000, "65353130"),
    ],
)
def test_vectors_of_rfc_6238(at: int, code: str) -> None:
    assert totp.code_of(RFC_SECRET, totp.time_step_at(at), digits=8) == code
    assert totp.matching_time_step(RFC_SECRET, code[2:], at) == totp.time_step_at(at)


def test_one_step_of_skew_to_either_side_and_no_more() -> None:
    secret, step = totp.new_secret(), totp.time_step_at(NOW)
    matched = [totp.matching_time_step(secret, totp.code_of(secret, step + away), NOW) for away in range(-3, 4)]
    assert matched == [None, None, step - 1, step, step + 1, None, None]


def test_a_step_is_remembered_for_as_long_as_it_is_accepted() -> None:
    secret, step = totp.new_secret(), totp.time_step_at(NOW)
    last = totp.accepted_until(step)
    assert totp.matching_time_step(secret, totp.code_of(secret, step), last - 0.1) == step
    assert totp.matching_time_step(secret, totp.code_of(secret, step), last) is None


@pytest.mark.parametrize("code", ["", "1", "12345", "1234567", "abcdef", "12345é", "１２３４５６"])
def test_what_is_not_a_code_matches_nothing(code: str) -> None:
    assert totp.matching_time_step(RFC_SECRET, code, NOW) is None


def test_the_uri_of_an_enrolment_is_what_apps_read() -> None:
    secret = totp.new_secret()
    parsed = urlsplit(totp.uri(secret, "Gate & House", "ann:b@c"))
    assert (parsed.scheme, parsed.netloc, parsed.path) == ("otpauth", "totp", "/Gate%20%26%20House:ann%3Ab%40c")
    values = {name: value for name, [value] in parse_qs(parsed.query).items()}
    expected = {"issuer": "Gate & House", "algorithm": "SHA1", "digits": "6", "period": "30"}
    assert values == {"secret": totp.base32(secret), **expected}


def test_recovery_codes_are_ten_and_all_different() -> None:
    codes = recovery_codes.new_codes()
    assert len(set(codes)) == 10
    assert all(read_code(code) == Code(CodeKind.RECOVERY, code.replace("-", "")) for code in codes)
    secret = totp.new_secret()
    assert len(set(recovery_codes.digests(secret, codes))) == 10
    assert recovery_codes.digests(secret, codes) != recovery_codes.digests(totp.new_secret(), codes)


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("123456", Code(CodeKind.TOTP, "123456")),
        (" 123 456 ", Code(CodeKind.TOTP, "123456")),
        ("１２３４５６", Code(CodeKind.TOTP, "123456")),
        ("K7M2P-9XWQD", Code(CodeKind.RECOVERY, "k7m2p9xwqd")),
        ("k7m2p 9xwqd", Code(CodeKind.RECOVERY, "k7m2p9xwqd")),
        ("oil2p-9xwqd", Code(CodeKind.RECOVERY, "0112p9xwqd")),
        ("abcd", None),
        ("1234", None),
        ("12345", None),
        ("1234567", None),
        ("uuuuu-uuuuu", None),
        ("", None),
        (None, None),
    ],
)
def test_what_people_type(typed: str | None, code: Code | None) -> None:
    assert read_code(typed) == code

"""Where a browser may be sent with a ticket."""

from __future__ import annotations

import pytest

from gatehouse.auth.login.return_addresses import ReturnAddresses, origin_of, with_ticket
from gatehouse.auth.refusals import FieldInvalid

ADDRESSES = ReturnAddresses(
    "https://gate.example/auth/", ("https://console.example:443/app", "http://127.0.0.1:5173", "*", "")
)


@pytest.mark.parametrize(
    "to",
    [
        "https://gate.example/auth/",
        "https://console.example",
        "https://console.example/enter?provider=corp",
        "https://console.example/#/login?redirect=%2Fusers",
        "https://console.example?x=1",
        "http://127.0.0.1:5173/",
    ],
)
def test_pages_of_ours_and_of_consoles(to: str) -> None:
    assert ADDRESSES.check(to) == to


def test_nothing_means_our_login_page() -> None:
    assert ADDRESSES.check("") == "https://gate.example/auth/"


@pytest.mark.parametrize(
    "to",
    [
        "https://evil.example/",
        "https://console.example.evil.example/",
        "https://console.example@evil.example/",
        "https://console.example:8443/",
        "https://console.example:443@evil.example/",
        "https://evil.example\\@console.example/",
        "https://console.example\\.evil.example/",
        "https:console.example",
        "https:///evil.example",
        "https://",
        "http://console.example/",
        "//evil.example/",
        "/\\evil.example",
        "/account",
        "javascript:alert(1)//https://console.example/",
        "data:text/html,x",
        "*",
        "*://x",
        "https://console.example/\nSet-Cookie: x",
        "https://console.example/\u00e9",
        " https://console.example/",
        "https://CONSOLE.example/",
        "https://console.example/" + "x" * 1024,
    ],
)
def test_nothing_else(to: str) -> None:
    with pytest.raises(FieldInvalid):
        ADDRESSES.check(to)


def test_the_ticket_stands_before_the_fragment_and_is_the_only_one() -> None:
    assert with_ticket("https://c.example", "T") == "https://c.example/?ticket=T"
    assert with_ticket("https://c.example/#/login?a=b", "T") == "https://c.example/?ticket=T#/login?a=b"
    assert with_ticket("https://c.example/x?a=1&ticket=evil&b=#f", "T") == "https://c.example/x?a=1&b=&ticket=T#f"


def test_origins() -> None:
    assert origin_of("https://[::1]:8443/x") == "https://[::1]:8443"
    assert origin_of("http://host:80") == "http://host"
    assert origin_of("ftp://host/") == origin_of("*") == origin_of("") == ""

"""Claims that have no column, as userinfo shows them."""

from __future__ import annotations

from dataclasses import replace

from gatehouse.auth.oauth.standard_claims import claims_text, extra_claims, stored_claims
from gatehouse.stores.database.users import User

SOMEBODY = User(7, "ann", "Ann", "", 1, "", enabled=True, captcha_exempt=False, created=1_700_000_000.5)


def test_the_parts_of_an_address_are_one_claim() -> None:
    text = claims_text({"locale": "en", "address.country": "CN", "address.locality": "Xi'an", "website": ""})
    assert stored_claims(text) == {"locale": "en", "address.country": "CN", "address.locality": "Xi'an"}
    claims = extra_claims(replace(SOMEBODY, claims=text, changed=1_700_000_009.9))
    assert claims == {
        "updated_at": 1_700_000_009,
        "locale": "en",
        "address": {"country": "CN", "locality": "Xi'an"},
    }


def test_nothing_is_claimed_of_which_nothing_is_known() -> None:
    assert claims_text({"website": ""}) is None
    assert extra_claims(SOMEBODY) == {"updated_at": 1_700_000_000}

"""Standard claims of OpenID Connect (5.1) that have no column of their own: kept with the user as JSON, usually none.

Each is a text under its name; `address.locality` is `locality` in the object `address`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gatehouse.stores.database.users import User

PROFILE_CLAIMS = (
    "given_name", "family_name", "middle_name", "profile", "website", "birthdate", "zoneinfo", "locale",
)  # fmt: skip
ADDRESS_FIELDS = ("formatted", "street_address", "locality", "region", "postal_code", "country")
CLAIM_NAMES = (*PROFILE_CLAIMS, *(f"address.{name}" for name in ADDRESS_FIELDS))

_decode = msgspec.json.Decoder(dict[str, str]).decode


def stored_claims(text: str | None) -> dict[str, str]:
    return _decode(text) if text else {}


def claims_text(claims: Mapping[str, str]) -> str | None:
    """For the column. What is empty is left out, as the standard wants it."""
    kept = {name: value for name, value in sorted(claims.items()) if value}
    return msgspec.json.encode(kept).decode() if kept else None


def extra_claims(user: User) -> dict[str, object]:
    """The stored claims as userinfo has them, and when the account was changed last."""
    claims: dict[str, object] = {"updated_at": int(user.changed or user.created)}
    address = {}
    for name, value in stored_claims(user.claims).items():
        if name.startswith("address."):
            address[name.removeprefix("address.")] = value
        else:
            claims[name] = value
    return claims | ({"address": address} if address else {})

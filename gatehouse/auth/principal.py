"""The principal of a request: the claims of the access token, and the user's profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gatehouse.auth.sessions.tokens import Claims
    from gatehouse.stores.database.users import Profile


class Principal(NamedTuple):
    """Who sends a request: the verified claims of the token and the user's profile. From where is `ClientInfo`."""

    claims: Claims
    profile: Profile

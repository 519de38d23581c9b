"""Access and refresh tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.keys.sealing import derive
from gatehouse.auth.sessions.claims import ClaimSet
from gatehouse.auth.sessions.tokens import AccessTokens, RefreshTokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.composition.shared_parts import SharedParts


class TokenParts:
    def __init__(self, shared: SharedParts) -> None:
        settings = shared.settings
        self.access = AccessTokens(
            shared.key_ring,
            settings.public_url,
            settings.audience,
            token_type=settings.token_type,
            claim_set=ClaimSet(perms=settings.token_perms, youlai=settings.token_claims == "youlai"),
        )
        self.refresh = RefreshTokens(*_refresh_keys(shared.key_ring.secrets))

    def rekey(self, secrets: Sequence[bytes]) -> None:
        """The first of these master secrets signs refresh tokens from now on; each of them verifies."""
        self.refresh.rekey(*_refresh_keys(secrets))


def _refresh_keys(secrets: Sequence[bytes]) -> list[bytes]:
    return [derive(secret, "refresh tokens") for secret in secrets]

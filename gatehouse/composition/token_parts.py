"""Access and refresh tokens, and the refresh tokens of applications."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.keys.sealing import derive
from gatehouse.auth.sessions.claims import ClaimSet
from gatehouse.auth.sessions.tokens import AccessTokens, RefreshTokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.composition.shared_parts import SharedParts


APPLICATIONS = "refresh tokens of applications"


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
        secrets = shared.key_ring.secrets
        self.refresh = RefreshTokens(*_refresh_keys(secrets))
        # Made with another key: none of them is ever taken for one of the other kind.
        self.application_refresh = RefreshTokens(*_refresh_keys(secrets, APPLICATIONS))

    def rekey(self, secrets: Sequence[bytes]) -> None:
        """The first of these master secrets signs refresh tokens from now on; each of them verifies."""
        self.refresh.rekey(*_refresh_keys(secrets))
        self.application_refresh.rekey(*_refresh_keys(secrets, APPLICATIONS))


def _refresh_keys(secrets: Sequence[bytes], purpose: str = "refresh tokens") -> list[bytes]:
    return [derive(secret, purpose) for secret in secrets]

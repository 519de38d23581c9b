"""What applications call: their authentication, tokens for codes, and what their tokens open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.oauth.application_access import ApplicationAccess
from gatehouse.auth.oauth.application_tokens import ApplicationTokens
from gatehouse.auth.oauth.client_authentication import ClientAuthentication
from gatehouse.auth.oauth.grants import Grants
from gatehouse.auth.oauth.public_origins import PublicOrigins
from gatehouse.auth.oauth.token_exchange import TokenExchange

if TYPE_CHECKING:
    from gatehouse.auth.authentication import Authenticator
    from gatehouse.auth.keys.key_rotation import KeyRotation
    from gatehouse.auth.sessions.tokens import RefreshTokens
    from gatehouse.composition.oauth_parts import OAuthParts
    from gatehouse.composition.shared_parts import SharedParts


class ApplicationParts:
    def __init__(
        self,
        shared: SharedParts,
        oauth: OAuthParts,
        *,
        authenticator: Authenticator,
        keys: KeyRotation,
        refresh_tokens: RefreshTokens,
    ) -> None:
        settings, stores, clock, audit = shared.settings, shared.stores, shared.clock, shared.audit
        issuer = settings.public_url
        self.public_origins = PublicOrigins(stores.oauth_clients, clock)
        self.authentication = ClientAuthentication(
            clients=oauth.clients,
            store=stores.oauth_clients,
            state=stores.state,
            throttle=shared.throttle,
            audit=audit,
            clock=clock,
            # The issuer is the one to name; RFC 7523 and 9126 know the others.
            audiences={issuer, *(f"{issuer}/oauth2/{name}" for name in ("token", "par", "introspect", "revoke"))},
        )
        self.grants = Grants(
            store=stores.grants,
            sessions=shared.sessions,
            rotations=shared.grant_rotations,
            audit=audit,
            clock=clock,
        )
        tokens = ApplicationTokens(shared.key_ring, issuer)
        self.access = ApplicationAccess(
            tokens=tokens,
            clients=oauth.clients,
            grants=self.grants,
            authenticator=authenticator,
            clock=clock,
        )
        self.exchange = TokenExchange(
            codes=oauth.codes,
            grants=self.grants,
            sessions=shared.sessions,
            authenticator=authenticator,
            directory_recheck=shared.identity.recheck,
            keys=keys,
            access_tokens=tokens,
            id_tokens=oauth.id_tokens,
            refresh_tokens=refresh_tokens,
            audit=audit,
            clock=clock,
            access_ttl=settings.access_ttl,
        )

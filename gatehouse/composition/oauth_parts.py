"""The OpenID provider: applications, browser sessions, codes and grants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.oauth.authorization_codes import AuthorizationCodes
from gatehouse.auth.oauth.authorization_requests import AuthorizationRequests, PushedRequests
from gatehouse.auth.oauth.browser_sessions import BrowserSessions
from gatehouse.auth.oauth.id_tokens import IdTokens

if TYPE_CHECKING:
    from gatehouse.auth.oauth.clients import Clients
    from gatehouse.composition.shared_parts import SharedParts


class OAuthParts:
    def __init__(self, shared: SharedParts, clients: Clients) -> None:
        settings, stores, clock, ring = shared.settings, shared.stores, shared.clock, shared.key_ring
        self.clients = clients
        self.codes = AuthorizationCodes(ring, stores.state, clock)
        self.browser_sessions = BrowserSessions(
            ring=ring,
            sessions=shared.sessions,
            recheck=shared.identity.recheck,
            clock=clock,
            max_seconds=settings.session_max,
        )
        self.id_tokens = IdTokens(ring, settings.public_url)
        self.pushed_requests = PushedRequests(ring, stores.state, clock)
        self.requests = AuthorizationRequests(self.clients, self.pushed_requests, self.id_tokens.subject_of_hint, clock)

"""The OpenID provider: applications, browser sessions, codes and grants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.oauth.authorization_codes import AuthorizationCodes
from gatehouse.auth.oauth.browser_sessions import BrowserSessions
from gatehouse.auth.oauth.clients import Clients

if TYPE_CHECKING:
    from gatehouse.composition.shared_parts import SharedParts


class OAuthParts:
    def __init__(self, shared: SharedParts) -> None:
        settings, stores, clock = shared.settings, shared.stores, shared.clock
        self.clients = Clients(stores.oauth_clients)
        self.codes = AuthorizationCodes(shared.key_ring, stores.state, clock)
        self.browser_sessions = BrowserSessions(shared.key_ring, shared.sessions, clock, settings.session_max)

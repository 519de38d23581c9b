"""The OpenID provider: applications, browser sessions, codes and grants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.oauth.authorization_codes import AuthorizationCodes
from gatehouse.auth.oauth.authorization_requests import AuthorizationRequests, PushedRequests
from gatehouse.auth.oauth.backchannel import BackchannelLogout
from gatehouse.auth.oauth.browser_sessions import BrowserSessions
from gatehouse.auth.oauth.id_tokens import IdTokens
from gatehouse.auth.oauth.session_ends import SessionEnds
from gatehouse.common.form_post import FormPost

if TYPE_CHECKING:
    from gatehouse.auth.keys.key_rotation import KeyRotation
    from gatehouse.auth.oauth.clients import Clients
    from gatehouse.auth.sessions.ended_sessions_feed import EndedSessionsFeed
    from gatehouse.composition.shared_parts import SharedParts


LOGOUT_SECONDS = 5.0  # that an application has to take a logout token


class OAuthParts:
    def __init__(
        self, shared: SharedParts, clients: Clients, keys: KeyRotation, ended_sessions: EndedSessionsFeed
    ) -> None:
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
        self.form_post = FormPost(LOGOUT_SECONDS)
        self.backchannel_logout = BackchannelLogout(
            grants=stores.grants,
            clients=stores.oauth_clients,
            outbox=shared.outbox,
            post=self.form_post,
            keys=keys,
            audit=shared.audit,
            clock=clock,
            issuer=settings.public_url,
        )
        self.session_ends = SessionEnds(
            state=stores.state,
            feed=ended_sessions,
            grants=stores.grants,
            sessions=shared.sessions,
            logout=self.backchannel_logout,
            clock=clock,
        )

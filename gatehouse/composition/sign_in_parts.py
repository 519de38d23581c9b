"""The sign-in for applications: what the pages of a browser need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.oauth.authorization import Authorization
from gatehouse.auth.oauth.console_entry import ConsoleEntry
from gatehouse.auth.oauth.form_tokens import FormTokens
from gatehouse.auth.oauth.kept_flows import KeptFlows
from gatehouse.auth.oauth.logout_requests import LogoutRequests
from gatehouse.auth.oauth.own_applications import OwnApplications

if TYPE_CHECKING:
    from gatehouse.auth.authentication import Authenticator
    from gatehouse.composition.oauth_parts import OAuthParts
    from gatehouse.composition.shared_parts import SharedParts


class SignInParts:
    def __init__(self, shared: SharedParts, oauth: OAuthParts, authenticator: Authenticator) -> None:
        stores = shared.stores
        self.form_tokens = FormTokens(shared.key_ring)
        self.logout_requests = LogoutRequests(shared.key_ring, oauth.clients, oauth.id_tokens, shared.clock)
        self.kept_flows = KeptFlows(stores.state, shared.clock)
        self.console_entry = ConsoleEntry(
            ring=shared.key_ring,
            state=stores.state,
            sessions=shared.sessions,
            grants=stores.grants,
            throttle=shared.throttle,
            audit=shared.audit,
            clock=shared.clock,
        )
        self.own_applications = OwnApplications(
            grants=stores.grants,
            consents=stores.consents,
            clients=oauth.clients,
            sessions=shared.sessions,
            logout=oauth.backchannel_logout,
        )
        self.authorization = Authorization(
            browser_sessions=oauth.browser_sessions,
            authenticator=authenticator,
            pushed=oauth.pushed_requests,
            codes=oauth.codes,
            consents=stores.consents,
            factors=stores.factors,
            passkeys=stores.passkeys,
            clock=shared.clock,
        )

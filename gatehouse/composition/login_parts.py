"""The ways to log in: password, passkey, QR code and providers; and the history of logins."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gatehouse.auth.identity.provider_logout import ProviderLogout
from gatehouse.auth.keys.sealing import derive
from gatehouse.auth.login.captcha import Challenges
from gatehouse.auth.login.captcha_check import CaptchaCheck
from gatehouse.auth.login.code_after_password import TICKET_SECONDS, CodeAfterPassword
from gatehouse.auth.login.company_login import CompanyLogin
from gatehouse.auth.login.company_tickets import CompanyTickets
from gatehouse.auth.login.login import Login
from gatehouse.auth.login.login_history import LoginHistory
from gatehouse.auth.login.passkey_login import PasskeyLogin
from gatehouse.auth.login.qr_login import QrLogin
from gatehouse.auth.login.return_addresses import ReturnAddresses
from gatehouse.auth.sealed_tickets.user_tickets import UserTickets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.composition.factor_parts import FactorParts
    from gatehouse.composition.shared_parts import SharedParts

CAPTCHA_PURPOSE = "captcha"


class LoginParts:
    def __init__(self, shared: SharedParts, factors: FactorParts) -> None:
        settings, stores, secrets = shared.settings, shared.stores, shared.key_ring.secrets
        self.captcha_challenges = Challenges(
            derive(secrets[0], CAPTCHA_PURPOSE),
            settings.captcha_ttl,
            fixed_answer=settings.captcha_test_answer or None,
        )
        self.rekey(secrets)
        self.password = Login(
            users=stores.users,
            hashes=shared.hash_pool,
            captcha_check=CaptchaCheck(
                state=stores.state,
                users=stores.users,
                challenges=self.captcha_challenges,
                clock=shared.clock,
                exempt=settings.captcha_exempt_addresses,
            ),
            throttle=shared.throttle,
            lockout=shared.lockout,
            sessions=shared.sessions,
            audit=shared.audit,
            passwords=shared.identity.passwords,
            second_factor=factors.second_factor,
        )
        self.code_after_password = CodeAfterPassword(
            ring=shared.key_ring,
            user_tickets=UserTickets(shared.key_ring, "password shown, by", TICKET_SECONDS, stores.users, shared.clock),
            users=stores.users,
            second_factor=factors.second_factor,
            sessions=shared.sessions,
            throttle=shared.throttle,
            lockout=shared.lockout,
            clock=shared.clock,
        )
        self.passkey = PasskeyLogin(
            verifier=factors.passkey_verifier,
            users=stores.users,
            throttle=shared.throttle,
            lockout=shared.lockout,
            sessions=shared.sessions,
            audit=shared.audit,
        )
        self.qr = QrLogin(
            ring=shared.key_ring,
            state=stores.state,
            users=stores.users,
            sessions=shared.sessions,
            throttle=shared.throttle,
            audit=shared.audit,
            clock=shared.clock,
            page=f"{settings.public_url}/qr",
        )
        self.provider_logout = ProviderLogout(
            store=stores.provider_sessions,
            sources=shared.identity.sources,
            sessions=shared.sessions,
            state=stores.state,
            ring=shared.key_ring,
            clock=shared.clock,
            public_url=settings.public_url,
        )
        consoles = (settings.console_url, *settings.cors_origins)
        self.return_addresses = ReturnAddresses(f"{settings.public_url}/", consoles)
        self.company = self._company(shared, factors)
        self.history = LoginHistory(
            store=stores.login_places,
            trail=stores.audit_trail,
            sessions=shared.sessions,
            audit=shared.audit,
            clock=shared.clock,
        )

    def _company(self, shared: SharedParts, factors: FactorParts) -> CompanyLogin:
        settings, stores, identity = shared.settings, shared.stores, shared.identity
        tickets = partial(
            CompanyTickets, ring=shared.key_ring, state=stores.state, audit=shared.audit, clock=shared.clock
        )
        return CompanyLogin(
            ring=shared.key_ring,
            state=stores.state,
            sources=identity.sources,
            identities=stores.sources,
            people=identity.people,
            users=stores.users,
            sessions=shared.sessions,
            second_factor=factors.second_factor,
            throttle=shared.throttle,
            lockout=shared.lockout,
            audit=shared.audit,
            addresses=self.return_addresses,
            complete_tickets=tickets(),
            pending_tickets=tickets(pending=True),
            logout=self.provider_logout,
            clock=shared.clock,
            public_url=settings.public_url,
        )

    def rekey(self, secrets: Sequence[bytes]) -> None:
        """The first of these master secrets encrypts captchas from now on; each of them decrypts."""
        self.captcha_challenges.rekey(*(derive(secret, CAPTCHA_PURPOSE) for secret in secrets))

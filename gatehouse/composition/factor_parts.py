"""Second factors: codes of an app, recovery codes, passkeys."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gatehouse.auth.factors.app_enrolment import CONFIRM_SECONDS, Enrolment
from gatehouse.auth.factors.code_verifier import CodeVerifier
from gatehouse.auth.factors.factor_change_proof import OwnerProof
from gatehouse.auth.factors.factor_policy import FactorMode, FactorPolicy, SessionPolicy
from gatehouse.auth.factors.forced_enrolment import ForcedEnrolment
from gatehouse.auth.factors.own_passkeys import OwnPasskeys
from gatehouse.auth.factors.passkey_ceremonies import Ceremonies
from gatehouse.auth.factors.passkey_verifier import PasskeyVerifier
from gatehouse.auth.factors.totp_secrets import TotpSecrets
from gatehouse.auth.login.second_factor_step import SecondFactor
from gatehouse.auth.sealed_tickets.user_tickets import UserTickets

if TYPE_CHECKING:
    from gatehouse.composition.shared_parts import SharedParts


class FactorParts:
    def __init__(self, shared: SharedParts) -> None:
        settings, stores, audit, clock = shared.settings, shared.stores, shared.audit, shared.clock
        policy = FactorPolicy(FactorMode(settings.second_factor), frozenset(settings.second_factor_roles))
        self.session_policy = SessionPolicy(policy, stores.factors, stores.passkeys)

        self.totp_secrets = TotpSecrets(shared.key_ring, stores.factors)
        verifier = CodeVerifier(factors=stores.factors, vault=self.totp_secrets, state=stores.state, clock=clock)
        self.ceremonies = Ceremonies(
            ring=shared.key_ring, state=stores.state, clock=clock, public_url=settings.public_url
        )
        self.passkey_verifier = PasskeyVerifier(
            ceremonies=self.ceremonies, passkeys=stores.passkeys, audit=audit, clock=clock
        )
        self.owner_proof = OwnerProof(
            reauthentication=shared.reauthentication,
            factors=stores.factors,
            codes=verifier,
            passkeys=stores.passkeys,
            passkey_verifier=self.passkey_verifier,
            audit=audit,
        )
        self.own_passkeys = OwnPasskeys(
            ceremonies=self.ceremonies, store=stores.passkeys, proof=self.owner_proof, audit=audit, clock=clock
        )
        self.enrolment = Enrolment(
            factors=stores.factors,
            vault=self.totp_secrets,
            verifier=verifier,
            proof=self.owner_proof,
            state=stores.state,
            audit=audit,
            clock=clock,
            issuer=urlsplit(settings.public_url).netloc,
        )
        tickets = UserTickets(shared.key_ring, "enrolment tickets", CONFIRM_SECONDS, stores.users, clock)
        self.forced_enrolment = ForcedEnrolment(
            tickets=tickets,
            enrolment=self.enrolment,
            passkeys=stores.passkeys,
            throttle=shared.throttle,
            audit=audit,
        )
        self.second_factor = SecondFactor(
            verifier=verifier,
            factors=stores.factors,
            passkeys=stores.passkeys,
            users=stores.users,
            policy=policy,
            tickets=tickets,
            lockout=shared.lockout,
            audit=audit,
            public_url=settings.public_url,
        )

"""Builds second factors: codes, recovery codes, passkeys and the login by QR code."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from gatehouse.auth.factors.app_enrolment import CONFIRM_SECONDS, Enrolment
from gatehouse.auth.factors.code_verifier import CodeVerifier
from gatehouse.auth.factors.factor_policy import FactorMode, FactorPolicy, SessionPolicy
from gatehouse.auth.factors.forced_enrolment import ForcedEnrolment
from gatehouse.auth.factors.own_passkeys import OwnPasskeys
from gatehouse.auth.factors.owner_proof import OwnerProof
from gatehouse.auth.factors.passkey_verifier import PasskeyVerifier
from gatehouse.auth.factors.passkeys import Ceremonies
from gatehouse.auth.factors.totp_secrets import TotpSecrets
from gatehouse.auth.login.passkey_login import PasskeyLogin
from gatehouse.auth.login.qr_login import QrLogin
from gatehouse.auth.login.second_factor import SecondFactor
from gatehouse.auth.sealed_tickets.user_tickets import UserTickets

if TYPE_CHECKING:
    from gatehouse.auth.factors.reauthentication import Reauthentication
    from gatehouse.composition.core import Core


class FactorServices(NamedTuple):
    vault: TotpSecrets
    at_login: SecondFactor
    enrolment: Enrolment
    forced_enrolment: ForcedEnrolment
    ceremonies: Ceremonies
    passkey_login: PasskeyLogin
    own_passkeys: OwnPasskeys
    qr_login: QrLogin
    session_policy: SessionPolicy


def open_factors(core: Core, reauthentication: Reauthentication) -> FactorServices:
    settings = core.settings
    policy = FactorPolicy(FactorMode(settings.second_factor), frozenset(settings.second_factor_roles))
    vault = TotpSecrets(core.ring, core.stores.factors)
    verifier = CodeVerifier(factors=core.stores.factors, vault=vault, state=core.state, clock=core.clock)
    tickets = UserTickets(core.ring, "enrolment tickets", CONFIRM_SECONDS, core.stores.users, core.clock)
    ceremonies = Ceremonies(ring=core.ring, state=core.state, clock=core.clock, public_url=settings.public_url)
    passkeys = PasskeyVerifier(ceremonies=ceremonies, passkeys=core.stores.passkeys, audit=core.audit, clock=core.clock)
    proof = OwnerProof(
        reauthentication=reauthentication,
        factors=core.stores.factors,
        codes=verifier,
        passkeys=core.stores.passkeys,
        passkey_verifier=passkeys,
        audit=core.audit,
    )
    enrolment = _open_enrolment(core, vault, verifier, proof)
    return FactorServices(
        vault=vault,
        at_login=_open_second_factor(core, policy, verifier, tickets),
        enrolment=enrolment,
        forced_enrolment=ForcedEnrolment(
            tickets=tickets,
            enrolment=enrolment,
            passkeys=core.stores.passkeys,
            throttle=core.throttle,
            audit=core.audit,
        ),
        ceremonies=ceremonies,
        passkey_login=_open_passkey_login(core, passkeys),
        own_passkeys=_open_own_passkeys(core, ceremonies, proof),
        qr_login=_open_qr_login(core),
        session_policy=SessionPolicy(policy, core.stores.factors, core.stores.passkeys),
    )


def _open_second_factor(core: Core, policy: FactorPolicy, verifier: CodeVerifier, tickets: UserTickets) -> SecondFactor:
    return SecondFactor(
        verifier=verifier,
        factors=core.stores.factors,
        passkeys=core.stores.passkeys,
        users=core.stores.users,
        policy=policy,
        tickets=tickets,
        audit=core.audit,
        public_url=core.settings.public_url,
    )


def _open_enrolment(core: Core, vault: TotpSecrets, verifier: CodeVerifier, proof: OwnerProof) -> Enrolment:
    return Enrolment(
        factors=core.stores.factors,
        vault=vault,
        verifier=verifier,
        proof=proof,
        state=core.state,
        audit=core.audit,
        clock=core.clock,
        issuer=urlsplit(core.settings.public_url).netloc,
    )


def _open_passkey_login(core: Core, verifier: PasskeyVerifier) -> PasskeyLogin:
    return PasskeyLogin(
        verifier=verifier,
        users=core.stores.users,
        throttle=core.throttle,
        sessions=core.sessions,
        audit=core.audit,
    )


def _open_own_passkeys(core: Core, ceremonies: Ceremonies, proof: OwnerProof) -> OwnPasskeys:
    return OwnPasskeys(
        ceremonies=ceremonies,
        store=core.stores.passkeys,
        proof=proof,
        audit=core.audit,
        clock=core.clock,
    )


def _open_qr_login(core: Core) -> QrLogin:
    return QrLogin(
        ring=core.ring,
        state=core.state,
        users=core.stores.users,
        sessions=core.sessions,
        throttle=core.throttle,
        audit=core.audit,
        clock=core.clock,
        page=f"{core.settings.public_url}/qr",
    )

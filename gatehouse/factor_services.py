"""Puts the parts of second factors together, for `service.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from gatehouse.auth.factors.administration import FactorAdministration
from gatehouse.auth.factors.enrolment import Enrolment
from gatehouse.auth.factors.forced_enrolment import ForcedEnrolment, enrolment_tickets
from gatehouse.auth.factors.fresh_proof import FreshProof
from gatehouse.auth.factors.own_passkeys import OwnPasskeys
from gatehouse.auth.factors.passkeys import Ceremonies
from gatehouse.auth.factors.policy import FactorMode, FactorPolicy
from gatehouse.auth.factors.vault import TotpVault
from gatehouse.auth.factors.verifier import CodeVerifier
from gatehouse.auth.login.passkey_login import PasskeyLogin, PasskeyVerifier
from gatehouse.auth.login.qr_login import QrLogin
from gatehouse.auth.login.second_factor import SecondFactor

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.audit import Audit
    from gatehouse.auth.keys.ring import KeyRing
    from gatehouse.auth.login.hash_pool import HashPool
    from gatehouse.auth.login.throttle import Throttle
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.settings import Settings
    from gatehouse.stores.accounts.factors import Factors
    from gatehouse.stores.accounts.passkeys import Passkeys
    from gatehouse.stores.accounts.users import Users
    from gatehouse.stores.state.protocol import State


class FactorServices(NamedTuple):
    vault: TotpVault
    at_login: SecondFactor
    enrolment: Enrolment
    forced_enrolment: ForcedEnrolment
    ceremonies: Ceremonies
    passkey_login: PasskeyLogin
    own_passkeys: OwnPasskeys
    qr_login: QrLogin
    administration: FactorAdministration


def open_factors(
    settings: Settings,
    *,
    ring: KeyRing,
    users: Users,
    store: Factors,
    passkeys: Passkeys,
    state: State,
    hashes: HashPool,
    throttle: Throttle,
    sessions: Sessions,
    audit: Audit,
    clock: Callable[[], float],
) -> FactorServices:
    vault = TotpVault(ring, store)
    verifier = CodeVerifier(factors=store, vault=vault, state=state, clock=clock)
    tickets = enrolment_tickets(ring, clock)
    at_login = SecondFactor(
        verifier=verifier,
        factors=store,
        passkeys=passkeys,
        users=users,
        policy=FactorPolicy(FactorMode(settings.second_factor), frozenset(settings.second_factor_roles)),
        tickets=tickets,
        audit=audit,
        enrol_at=settings.public_url,
    )
    proof = FreshProof(users=users, hashes=hashes, throttle=throttle, sessions=sessions, audit=audit, clock=clock)
    enrolment = Enrolment(
        factors=store,
        vault=vault,
        verifier=verifier,
        proof=proof,
        audit=audit,
        clock=clock,
        issuer=urlsplit(settings.public_url).netloc,
    )
    ceremonies = Ceremonies(ring=ring, state=state, clock=clock, public_url=settings.public_url)
    passkey_verifier = PasskeyVerifier(ceremonies=ceremonies, passkeys=passkeys, audit=audit, clock=clock)
    forced = ForcedEnrolment(tickets=tickets, users=users, enrolment=enrolment)
    return FactorServices(
        vault=vault,
        at_login=at_login,
        enrolment=enrolment,
        forced_enrolment=forced,
        ceremonies=ceremonies,
        passkey_login=PasskeyLogin(
            verifier=passkey_verifier, users=users, throttle=throttle, sessions=sessions, audit=audit
        ),
        own_passkeys=OwnPasskeys(
            ceremonies=ceremonies, store=passkeys, verifier=passkey_verifier, proof=proof, audit=audit, clock=clock
        ),
        administration=FactorAdministration(factors=store, passkeys=passkeys, users=users, audit=audit),
        qr_login=QrLogin(
            ring=ring,
            state=state,
            users=users,
            sessions=sessions,
            throttle=throttle,
            audit=audit,
            clock=clock,
            page=f"{settings.public_url}/qr",
        ),
    )

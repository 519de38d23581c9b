"""Puts the parts of second factors together, for `service.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from gatehouse.auth.factors.enrolment import Enrolment
from gatehouse.auth.factors.forced_enrolment import ForcedEnrolment, enrolment_tickets
from gatehouse.auth.factors.fresh_proof import FreshProof
from gatehouse.auth.factors.policy import FactorMode, FactorPolicy
from gatehouse.auth.factors.vault import TotpVault
from gatehouse.auth.factors.verifier import CodeVerifier
from gatehouse.auth.login.second_factor import SecondFactor

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.audit import Audit
    from gatehouse.auth.keys.ring import KeyRing
    from gatehouse.auth.login.passwords import HashPool
    from gatehouse.auth.login.throttle import Throttle
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.settings import Settings
    from gatehouse.stores.accounts.factors import Factors
    from gatehouse.stores.accounts.users import Users
    from gatehouse.stores.state.protocol import State


class FactorServices(NamedTuple):
    vault: TotpVault
    at_login: SecondFactor
    enrolment: Enrolment
    forced_enrolment: ForcedEnrolment


def open_factors(
    settings: Settings,
    *,
    ring: KeyRing,
    users: Users,
    store: Factors,
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
        users=users,
        policy=FactorPolicy(FactorMode(settings.second_factor), frozenset(settings.second_factor_roles)),
        tickets=tickets,
        audit=audit,
        enrol_at=settings.public_url,
    )
    enrolment = Enrolment(
        factors=store,
        vault=vault,
        verifier=verifier,
        proof=FreshProof(users=users, hashes=hashes, throttle=throttle, sessions=sessions, audit=audit, clock=clock),
        audit=audit,
        clock=clock,
        issuer=urlsplit(settings.public_url).netloc,
    )
    forced = ForcedEnrolment(tickets=tickets, users=users, enrolment=enrolment)
    return FactorServices(vault, at_login, enrolment, forced)

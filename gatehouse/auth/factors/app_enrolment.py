"""Enrolment of an authenticator app: what people do to their own second factor.

Two steps. The first, after a fresh proof, stores a secret that is not on yet and shows it. The second presents a code:
that shows that the app works, switches the factor on and hands out ten recovery codes, once. A secret that is not
confirmed within ten minutes, or by one of five codes, cannot be confirmed any more.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.audit import Audit, ClientInfo, Event
from gatehouse.auth.factors import recovery_codes, totp
from gatehouse.auth.factors.code_input import read_code
from gatehouse.auth.factors.factor_change_proof import Proof
from gatehouse.auth.refusals import AlreadyEnrolled, EnrolmentVoid, NoSuchFactor, SecondFactorCodeWrong
from gatehouse.common.clock_skew import CLOCK_SKEW_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.factors.code_verifier import CodeVerifier
    from gatehouse.auth.factors.factor_change_proof import OwnerProof
    from gatehouse.auth.factors.totp_secrets import TotpSecrets
    from gatehouse.auth.principal import Principal
    from gatehouse.stores.database.totp_and_recovery_codes import Factors, StoredTotp
    from gatehouse.stores.state.protocol import State

CONFIRM_SECONDS = 600
CONFIRM_TRIES = 5


class NewTotp(NamedTuple):
    """Shown only to the user who enrols."""

    secret: str
    uri: str


class FactorStatus(NamedTuple):
    totp: bool
    recovery_codes_left: int


class Enrolment:
    def __init__(
        self,
        *,
        factors: Factors,
        vault: TotpSecrets,
        verifier: CodeVerifier,
        proof: OwnerProof,
        state: State,
        audit: Audit,
        clock: Callable[[], float],
        issuer: str,
    ) -> None:
        self._factors = factors
        self._vault = vault
        self._verifier = verifier
        self._proof = proof
        self._state = state
        self._audit = audit
        self._clock = clock
        self._issuer = issuer

    async def status(self, user: int) -> FactorStatus:
        stored = await self._factors.totp(user)
        on = stored is not None and stored.confirmed is not None
        return FactorStatus(on, await self._factors.recovery_codes_left(user) if on else 0)

    async def begin(self, principal: Principal, proof: Proof, client: ClientInfo) -> NewTotp:
        user = principal.profile.user
        if (await self.status(user.id)).totp:
            raise AlreadyEnrolled("a second factor is on")
        await self._proof.require(principal, proof, client)
        return await self.begin_for(user.id, user.username)

    async def begin_for(self, user: int, username: str) -> NewTotp:
        """The caller has verified the user by other means."""
        secret = totp.new_secret()
        if not await self._factors.begin_totp(user, self._vault.seal(user, secret), self._clock()):
            raise AlreadyEnrolled("a second factor is on")
        return NewTotp(totp.base32(secret), totp.uri(secret, self._issuer, username))

    async def confirm(self, user: int, typed: str, client: ClientInfo, session: str | None = None) -> list[str]:
        """Switch the factor on; the recovery codes are returned here and never again."""
        stored = await self._factors.totp(user)
        now = self._clock()
        if stored is None or stored.confirmed is not None or now >= stored.created + CONFIRM_SECONDS:
            raise NoSuchFactor("no enrolment is under way")
        left = await self._count_try(user, stored)
        code = read_code(typed)
        right = await self._verifier.check(user, stored.sealed, code) if code else None
        if right is None or not await self._verifier.use(right):
            self._audit.record(Event.ENROLMENT_FAILED, client, user=user, session=session, detail={"left": left})
            raise SecondFactorCodeWrong("enrolment") if left else EnrolmentVoid("the enrolment is void")
        codes = recovery_codes.new_codes()
        digests = recovery_codes.digests(self._vault.open(user, stored.sealed), codes)
        if not await self._factors.confirm_totp(user, stored.sealed, now, digests):
            raise NoSuchFactor("the enrolment was replaced by another one")
        self._audit.record(Event.FACTOR_ADDED, client, user=user, session=session, detail={"factor": "totp"})
        return codes

    async def _count_try(self, user: int, stored: StoredTotp) -> int:
        """Count a try before its code is checked, so that parallel guesses count too; how many are left."""
        key = f"enrolment|{user}|{hashlib.sha256(stored.sealed).hexdigest()[:16]}"
        expires, now = stored.created + CONFIRM_SECONDS + CLOCK_SKEW_SECONDS, self._clock()
        while True:
            counted = await self._state.value(key, now)
            left = CONFIRM_TRIES - int(counted or 0)
            if left <= 0:
                raise NoSuchFactor("too many wrong codes")
            if await self._state.compare_and_set(key, counted, str(CONFIRM_TRIES - left + 1), expires, now):
                return left - 1

    async def end(self, principal: Principal, password: str | None, typed: str, client: ClientInfo) -> None:
        """Needs the password and a code, so that knowing one of them is not enough to remove the other."""
        user = principal.claims.user
        await self._sealed_after_proof(principal, Proof(password, typed), client)
        if await self._factors.end_totp(user):
            detail = {"factor": "totp"}
            self._audit.record(Event.FACTOR_REMOVED, client, user=user, session=principal.claims.session, detail=detail)

    async def renew_recovery_codes(
        self, principal: Principal, password: str | None, typed: str, client: ClientInfo
    ) -> list[str]:
        """Ten new codes in place of all old ones."""
        user = principal.claims.user
        sealed = await self._sealed_after_proof(principal, Proof(password, typed), client)
        codes = recovery_codes.new_codes()
        await self._factors.replace_recovery_codes(user, recovery_codes.digests(self._vault.open(user, sealed), codes))
        self._audit.record(Event.RECOVERY_CODES_RENEWED, client, user=user, session=principal.claims.session)
        return codes

    async def _sealed_after_proof(self, principal: Principal, proof: Proof, client: ClientInfo) -> bytes:
        """The sealed secret of the app that is on: looked for before the proof, and read after it."""
        await self._sealed(principal.claims.user)
        await self._proof.require(principal, proof, client)
        return await self._sealed(principal.claims.user)

    async def _sealed(self, user: int) -> bytes:
        stored = await self._factors.totp(user)
        if stored is None or stored.confirmed is None:
            raise NoSuchFactor("no second factor is on")
        return stored.sealed

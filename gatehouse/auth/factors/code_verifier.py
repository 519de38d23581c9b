"""Verifies TOTP and recovery codes, and marks them as used.

`check` changes nothing, and takes the same time for a user without a factor, who is checked against a decoy. `use` is
one atomic step in which exactly one caller succeeds, on all nodes together: a value in state for the code of an app, an
update in the accounts for a recovery code.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.factors import recovery_codes, totp
from gatehouse.auth.factors.code_input import Code, CodeKind
from gatehouse.auth.keys.sealing import WrongSecret
from gatehouse.common.clock_skew import CLOCK_SKEW_SECONDS
from gatehouse.common.logs import log

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.factors.totp_secrets import TotpSecrets
    from gatehouse.stores.database.totp_and_recovery_codes import Factors
    from gatehouse.stores.state.protocol import State

NO_USER = 0  # no user has this number


class MatchedCode(NamedTuple):
    """A code that is right and has yet to be used."""

    kind: CodeKind
    user: int
    fingerprint: bytes  # of the secret, or of the recovery code
    time_step: int = 0


class CodeVerifier:
    def __init__(self, *, factors: Factors, vault: TotpSecrets, state: State, clock: Callable[[], float]) -> None:
        self._factors = factors
        self._vault = vault
        self._state = state
        self._clock = clock
        self._decoy = totp.new_secret()

    async def check(self, user: int | None, sealed: bytes | None, code: Code) -> MatchedCode | None:
        """The code as one that may be used, or None. Without a user or a factor the answer is always None."""
        owner = user if user is not None and sealed is not None else NO_USER
        secret = self._open(owner, sealed)
        if code.kind is CodeKind.TOTP:
            time_step = totp.matching_time_step(secret, code.value, self._clock())
            right = time_step is not None and owner != NO_USER
            return MatchedCode(code.kind, owner, hashlib.sha256(secret).digest()[:8], time_step or 0) if right else None
        digest = recovery_codes.digest(secret, code.value)
        found = await self._factors.has_recovery_code(owner, digest)
        return MatchedCode(code.kind, owner, digest) if found else None

    async def use(self, code: MatchedCode) -> bool:
        """Mark the code as used; False if it was used before."""
        now = self._clock()
        if code.kind is CodeKind.RECOVERY:
            return await self._factors.use_recovery_code(code.user, code.fingerprint, now)
        # The secret is part of the key, so that a new enrolment within the same half minute can use its code.
        key = f"totp|{code.user}|{code.time_step}|{code.fingerprint.hex()}"
        return await self._state.compare_and_set(
            key, None, "used", totp.accepted_until(code.time_step) + CLOCK_SKEW_SECONDS, now
        )

    def is_same(self, user: int, checked: bytes | None, current: bytes | None) -> bool:
        """Whether codes for `checked` prove as much as codes for `current`: the same secret, or none any more."""
        if current is None or checked == current:
            return True
        # A new master secret seals the same secret anew.
        return checked is not None and self._open(user, checked) == self._open(user, current)

    def _open(self, owner: int, sealed: bytes | None) -> bytes:
        """The user's secret, or the decoy, which is decrypted only so that it takes the same time."""
        if sealed is None or owner == NO_USER:
            sealed, owner = self._vault.decoy(NO_USER, self._decoy), NO_USER
        try:
            return self._vault.open(owner, sealed)
        except WrongSecret as problem:
            log.warning("a second factor cannot be checked", problem=str(problem))
            return totp.new_secret()

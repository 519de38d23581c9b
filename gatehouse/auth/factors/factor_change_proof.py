"""The proof before one's own factors change: an open session is not enough, and where a factor is on, neither is the
password alone.

With an authenticator app it is the password and a code. With passkeys and no app it is a passkey, which in any case
stands for password and second factor. This holds even while `SECOND_FACTOR=off` asks nobody at login: what is added
then stays when the setting is gone. Who has no password, because a provider logs them in, has logged in minutes ago.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gatehouse.auth.audit import Audit, ClientInfo, Event, LoginFailure
from gatehouse.auth.factors.code_input import CodeKind, read_code
from gatehouse.auth.refusals import (
    CodeProofRequired,
    PasskeyProofRequired,
    PasskeyRefused,
    SecondFactorCodeWrong,
    TicketGone,
)

if TYPE_CHECKING:
    from gatehouse.auth.factors.code_verifier import CodeVerifier
    from gatehouse.auth.factors.current_password_check import Reauthentication
    from gatehouse.auth.factors.passkey_verifier import PasskeyVerifier
    from gatehouse.auth.principal import Principal
    from gatehouse.stores.database.passkeys import Passkeys
    from gatehouse.stores.database.totp_and_recovery_codes import Factors


class Proof(NamedTuple):
    """The current password, with a code where an app is on; or a passkey's answer to a challenge."""

    password: str | None = None
    code: str | None = None
    credential: dict[str, Any] | None = None


class OwnerProof:
    def __init__(
        self,
        *,
        reauthentication: Reauthentication,
        factors: Factors,
        codes: CodeVerifier,
        passkeys: Passkeys,
        passkey_verifier: PasskeyVerifier,
        audit: Audit,
    ) -> None:
        self._reauthentication = reauthentication
        self._factors = factors
        self._codes = codes
        self._passkeys = passkeys
        self._passkey_verifier = passkey_verifier
        self._audit = audit

    async def require(self, principal: Principal, proof: Proof, client: ClientInfo) -> None:
        if proof.credential is not None:
            await self._require_passkey(principal, proof.credential, client)
            return
        if proof.password:
            await self._reauthentication.reauthenticate(principal, proof.password, client)
        else:
            self._reauthentication.require_recent_login(principal)
        # Read after the password was hashed: an app may have been switched on meanwhile.
        stored = await self._factors.totp(principal.claims.user)
        if stored is not None and stored.confirmed is not None:
            await self._require_code(principal, stored.sealed, proof.code, client)
        elif await self._passkeys.of_user(principal.claims.user):
            self._record_failure(principal, client, LoginFailure.SECOND_FACTOR_MISSING)
            raise PasskeyProofRequired("the password alone")

    async def _require_passkey(self, principal: Principal, credential: dict[str, Any], client: ClientInfo) -> None:
        try:
            if (await self._passkey_verifier.verify(credential, client)).user != principal.claims.user:
                raise PasskeyRefused("a passkey of another user")
        except (PasskeyRefused, TicketGone):
            self._record_failure(principal, client, LoginFailure.PASSKEY)
            raise

    async def _require_code(self, principal: Principal, sealed: bytes, typed: str | None, client: ClientInfo) -> None:
        """Guessed at no faster than at login: both count under the same key."""
        user, session = principal.claims.user, principal.claims.session
        if not typed:
            self._record_failure(principal, client, LoginFailure.SECOND_FACTOR_MISSING)
            raise CodeProofRequired("the password alone")
        code = read_code(typed)
        right = await self._codes.check(user, sealed, code) if code else None
        if right is None or not await self._codes.use(right):
            await self._reauthentication.record_failure(principal, client, LoginFailure.SECOND_FACTOR)
            raise SecondFactorCodeWrong("own account")
        if right.kind is CodeKind.RECOVERY:
            left = await self._factors.recovery_codes_left(user)
            self._audit.record(Event.RECOVERY_CODE_USED, client, user=user, session=session, detail={"left": left})

    def _record_failure(self, principal: Principal, client: ClientInfo, reason: LoginFailure) -> None:
        user, session = principal.claims.user, principal.claims.session
        self._audit.record(Event.LOGIN_FAILED, client, user=user, session=session, reason=reason)

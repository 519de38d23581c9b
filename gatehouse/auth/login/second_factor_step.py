"""The second factor of a login: where its code is found, whether it is right, and who must have one.

Clients that know nothing of second factors send the code where the answer of the captcha goes. Such a login needs no
picture to be solved, so it must disclose nothing: a wrong code fails as a wrong password does, in the same time, for
names with and without a factor, known or not. Only beside a solved picture and a right password is a code asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.audit import Audit, Event, LoginFailure
from gatehouse.auth.factors.code_input import Code, CodeKind, read_code
from gatehouse.auth.refusals import CodeRequired, CredentialsWrong, EnrolmentRequired, PasskeyRequired

if TYPE_CHECKING:
    from gatehouse.auth.factors.code_verifier import CodeVerifier, MatchedCode
    from gatehouse.auth.factors.factor_policy import FactorPolicy
    from gatehouse.auth.limits.lockout import Attempt, Lockout
    from gatehouse.auth.sealed_tickets.user_tickets import UserTickets
    from gatehouse.stores.database.passkeys import Passkeys
    from gatehouse.stores.database.totp_and_recovery_codes import Factors
    from gatehouse.stores.database.users import Credentials, Users


class GivenCode(NamedTuple):
    typed: bool
    code: Code | None  # None: nothing was typed, or nothing that could be a code
    instead_of_captcha: bool


class SecondFactor:
    def __init__(
        self,
        *,
        verifier: CodeVerifier,
        factors: Factors,
        passkeys: Passkeys,
        users: Users,
        policy: FactorPolicy,
        tickets: UserTickets,
        lockout: Lockout,
        audit: Audit,
        public_url: str,
    ) -> None:
        self._verifier = verifier
        self._factors = factors
        self._passkeys = passkeys
        self._users = users
        self._policy = policy
        self._tickets = tickets
        self._lockout = lockout
        self._audit = audit
        self._public_url = public_url

    def read(self, captcha_answer: str | None, otp_code: str | None) -> GivenCode:
        if not self._policy.is_on:
            return GivenCode(typed=False, code=None, instead_of_captcha=False)
        code = read_code(captcha_answer)
        if code is not None:
            return GivenCode(typed=True, code=code, instead_of_captcha=True)
        return GivenCode(bool(otp_code), read_code(otp_code), instead_of_captcha=False)

    async def check(self, found: Credentials | None, given: GivenCode) -> MatchedCode | None:
        """Check the code. Takes the same time with and without a factor, so it runs before any answer."""
        if given.code is None:
            return None
        return await self._verifier.check(found.user.id if found else None, found.totp if found else None, given.code)

    def is_same(self, checked: Credentials, current: Credentials) -> bool:
        """Whether what the login has shown suffices for the user as it is now: no app was switched on or replaced."""
        return not self._policy.is_on or self._verifier.is_same(current.user.id, checked.totp, current.totp)

    async def is_needed(self, found: Credentials) -> bool:
        """Whether a login that has shown none must go on to `require`."""
        if not self._policy.is_on:
            return False
        return found.totp is not None or await self._must_enrol(found)

    async def require(
        self, found: Credentials, given: GivenCode, right: MatchedCode | None, attempt: Attempt
    ) -> CodeKind | None:
        """What the login was proven by beside the password; refused if something is missing. Uses the code up."""
        if not self._policy.is_on:
            return None
        if found.totp is None:
            await self._require_enrolment(found, attempt)
            return None
        if not given.typed:
            self._audit.record(
                Event.LOGIN_FAILED, attempt.client, user=found.user.id, reason=LoginFailure.SECOND_FACTOR_MISSING
            )
            raise CodeRequired("no code was sent")
        if right is None or not await self._verifier.use(right):
            await self._lockout.record_failure(attempt, LoginFailure.SECOND_FACTOR)
            raise CredentialsWrong if given.instead_of_captcha else CodeRequired("the code is wrong or used")
        if right.kind is CodeKind.RECOVERY:
            left = await self._factors.recovery_codes_left(found.user.id)
            self._audit.record(Event.RECOVERY_CODE_USED, attempt.client, user=found.user.id, detail={"left": left})
        return right.kind

    async def show(self, found: Credentials, typed: str | None, attempt: Attempt) -> CodeKind | None:
        """All of it where the code comes alone, after a password or a provider has shown the rest."""
        given = self.read(None, typed)
        return await self.require(found, given, await self.check(found, given), attempt)

    async def _require_enrolment(self, found: Credentials, attempt: Attempt) -> None:
        if not await self._must_enrol(found):
            return
        self._audit.record(
            Event.LOGIN_FAILED, attempt.client, user=found.user.id, reason=LoginFailure.SECOND_FACTOR_MISSING
        )
        if await self._passkeys.of_user(found.user.id):
            # No ticket: the password alone must not be enough to enrol an app and so get around the passkey.
            raise PasskeyRequired(self._public_url)
        raise EnrolmentRequired(self._tickets.make(found.user).text, self._public_url)

    async def _must_enrol(self, found: Credentials) -> bool:
        if not self._policy.requires_some:
            return False
        profile = await self._users.profile(found.user.id)
        return profile is not None and self._policy.requires(profile.roles)

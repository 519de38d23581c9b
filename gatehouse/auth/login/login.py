"""The steps of a login, in this order: captcha, the limits of the address and of all logins, a slot in the hash queue,
lockout, password, second factor, session. Each step refuses before the next one costs anything.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.audit import Audit, ClientInfo, Event, LoginFailure, SessionEndReason
from gatehouse.auth.refusals import (
    CaptchaWrong,
    CodeRequired,
    CredentialsWrong,
    DirectoryPasswordExpired,
    FieldMissing,
    PasswordShown,
    Refused,
)
from gatehouse.auth.sessions.amr import Method

if TYPE_CHECKING:
    from gatehouse.auth.identity.password_check import CheckedPassword, PasswordChecks
    from gatehouse.auth.limits.lockout import Attempt, Lockout
    from gatehouse.auth.limits.throttle import Throttle
    from gatehouse.auth.login.captcha_check import CaptchaCheck
    from gatehouse.auth.login.second_factor_step import GivenCode, SecondFactor
    from gatehouse.auth.login_name import LoginName
    from gatehouse.auth.passwords.hash_pool import HashPool
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.stores.database.users import Credentials, User, Users
    from gatehouse.stores.state.protocol import Session


class LoginForm(NamedTuple):
    """What a person typed. Without captcha fields only those who are exempt get further."""

    name: LoginName
    password: str
    captcha_id: str | None
    captcha_answer: str | None
    otp_code: str | None = None


class OpenedLogin(NamedTuple):
    """The session of a login, and the second factor that was shown, if any. It is recorded once it has tokens."""

    session: Session
    factor: str | None


class Login:
    def __init__(
        self,
        *,
        users: Users,
        hashes: HashPool,
        captcha_check: CaptchaCheck,
        throttle: Throttle,
        lockout: Lockout,
        sessions: Sessions,
        audit: Audit,
        passwords: PasswordChecks,
        second_factor: SecondFactor,
    ) -> None:
        self._users = users
        self._hashes = hashes
        self._captcha_check = captcha_check
        self._throttle = throttle
        self._lockout = lockout
        self._sessions = sessions
        self._audit = audit
        self._passwords = passwords
        self._second_factor = second_factor

    async def log_in(self, form: LoginForm, client: ClientInfo, within: Session | None = None) -> OpenedLogin:
        """`within`: the session of this browser, which goes on if the same user logs in again."""
        code = self._second_factor.read(form.captcha_answer, form.otp_code)
        name, with_code = form.name, code.instead_of_captcha
        # Before anything else: in a flood most logins end here, and have cost nothing.
        self._hashes.require_slot(name.key, with_code=with_code)
        # Used up before anything depends on its answer, the limits included.
        refusal = await self._captcha_check.use(form.captcha_id, form.captcha_answer, is_second_factor_code=with_code)
        solved = refusal is None and not with_code
        attempt, _ = await asyncio.gather(
            self._lockout.attempt(name, client, with_code=with_code),
            self._throttle.admit_login(client.address, solved=solved),
        )
        if refusal is None:
            await self._throttle.admit_to_login_total(solved=solved)
        elif not await self._captcha_check.is_exempt(name, client.address):
            await self._record_captcha_failure(refusal, client)
            raise refusal
        # Taken only now, so that those whose captcha turns out wrong keep no slot from those who solved theirs.
        with self._hashes.reserve(name.key, with_code=with_code):
            return await self._check_and_open(attempt._replace(solved=solved), form.password, code, within)

    async def _check_and_open(
        self, attempt: Attempt, password: str, code: GivenCode, within: Session | None
    ) -> OpenedLogin:
        found = await self._users.credentials_of(attempt.name.key)
        attempt = attempt._replace(user=found.user.id if found else None)
        await self._lockout.raise_if_locked(attempt)
        check = await self._check_password(attempt, found, password, code)
        found, failure = check.found, check.failure
        right_code = await self._second_factor.check(found, code)
        if failure is None and code.instead_of_captcha and right_code is None:
            failure = LoginFailure.SECOND_FACTOR
        if found is None or failure is not None:
            await self._lockout.record_failure(attempt, failure or LoginFailure.UNKNOWN_NAME)
            raise CredentialsWrong
        attempt = attempt._replace(user=found.user.id)
        # While this hash ran, other guesses may have locked the name. Then even the right password is refused, so
        # that parallel guesses learn no more than guesses in a row.
        await self._lockout.raise_if_locked(attempt)
        try:
            factor = await self._second_factor.require(found, code, right_code, attempt)
        except CodeRequired as refusal:
            refusal.shown = PasswordShown(found.user, check.method)
            raise
        methods = (check.method, Method.CODE) if factor else (check.method,)
        session = await self._sessions.log_in(found.user.id, attempt.client, methods, within)
        await self._recheck(attempt, found, password, session)
        await self._lockout.record_success(attempt)
        if check.needs_rehash:
            await self._replace_hash(found.user, password, attempt.client)
        return OpenedLogin(session, factor)

    async def _record_captcha_failure(self, refusal: Refused, client: ClientInfo) -> None:
        await self._throttle.record_login_failure(client.address)
        if not isinstance(refusal, FieldMissing):
            wrong = isinstance(refusal, CaptchaWrong)
            reason = LoginFailure.CAPTCHA_WRONG if wrong else LoginFailure.CAPTCHA_GONE
            self._audit.record(Event.LOGIN_FAILED, client, reason=reason)

    async def _check_password(
        self, attempt: Attempt, found: Credentials | None, password: str, code: GivenCode
    ) -> CheckedPassword:
        try:
            return await self._passwords.check(
                attempt.name, found, password, attempt.client, with_code=code.instead_of_captcha
            )
        except DirectoryPasswordExpired:
            await self._lockout.record_failure(attempt, LoginFailure.DIRECTORY_EXPIRED)
            if code.instead_of_captcha:  # which must not tell that the password is right
                raise CredentialsWrong from None
            raise

    async def _recheck(self, attempt: Attempt, checked: Credentials, password: str, session: Session) -> None:
        """What was changed while the password was being checked must not leave a session of the old rules behind."""
        current = await self._users.credentials_by_id(checked.user.id)
        failure = await self._failure_by_now(attempt.name, checked, current, password)
        if failure is None:
            return
        await self._sessions.end(session.id, SessionEndReason.PASSWORD, attempt.client)
        self._audit.record(Event.LOGIN_FAILED, attempt.client, user=session.user, session=session.id, reason=failure)
        if failure is LoginFailure.SECOND_FACTOR_MISSING:
            raise CodeRequired("a second factor was switched on meanwhile")
        raise CredentialsWrong

    async def _failure_by_now(
        self, name: LoginName, checked: Credentials, current: Credentials | None, password: str
    ) -> LoginFailure | None:
        if current is None:
            return LoginFailure.PASSWORD
        if not current.password_login:
            return LoginFailure.PASSWORD_LOGIN_OFF
        is_changed = current.user.password_hash != checked.user.password_hash
        if is_changed and not (await self._passwords.check_hash(name, current, password)).correct:
            return LoginFailure.PASSWORD
        return None if self._second_factor.is_same(checked, current) else LoginFailure.SECOND_FACTOR_MISSING

    async def _replace_hash(self, user: User, password: str, client: ClientInfo) -> None:
        if await self._users.replace_password_hash(user.id, user.password_hash, await self._hashes.hash(password)):
            self._audit.record(Event.PASSWORD_REHASHED, client, user=user.id)

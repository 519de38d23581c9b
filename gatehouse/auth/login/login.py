"""The steps of a login, in this order: captcha, the limits of the address and of all logins, a slot in the hash queue,
lockout, password, second factor, session. Each step refuses before the next one costs anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.audit import Audit, ClientInfo, Event, LoginFailure, SessionEndReason
from gatehouse.auth.limits.attempts import Attempt, Attempts
from gatehouse.auth.refusals import CodeRequired, CredentialsWrong
from gatehouse.auth.sessions.proof import Method
from gatehouse.stores.database.users import name_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.limits.throttle import Throttle
    from gatehouse.auth.login.captcha_check import CaptchaCheck
    from gatehouse.auth.login.second_factor import GivenCode, SecondFactor
    from gatehouse.auth.passwords.decoy_hashes import DecoyHashes
    from gatehouse.auth.passwords.hash_pool import HashPool
    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.stores.database.users import Credentials, User, Users
    from gatehouse.stores.state.protocol import Session


class LoginForm(NamedTuple):
    """What a person typed. Without captcha fields only those who are exempt get further."""

    username: str
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
        sessions: Sessions,
        audit: Audit,
        clock: Callable[[], float],
        decoy_hashes: DecoyHashes,
        second_factor: SecondFactor,
    ) -> None:
        self._users = users
        self._hashes = hashes
        self._captcha_check = captcha_check
        self._throttle = throttle
        self._attempts = Attempts(throttle, audit, clock)
        self._sessions = sessions
        self._audit = audit
        self._clock = clock
        self._decoy_hashes = decoy_hashes
        self._second_factor = second_factor

    async def log_in(self, form: LoginForm, client: ClientInfo) -> OpenedLogin:
        given = self._second_factor.read(form.captcha_answer, form.otp_code)
        name, with_code = name_key(form.username), given.instead_of_captcha
        # Before anything else: in a flood most logins end here, and have cost nothing.
        self._hashes.require_slot(name, with_code=with_code)
        solved = await self._captcha_check.check(
            form.username, form.captcha_id, form.captcha_answer, client, is_second_factor_code=with_code
        )
        # Taken only now, so that those whose captcha turns out wrong keep no slot from those who solved theirs.
        with self._hashes.reserve(name, with_code=with_code):
            return await self._check_and_open(form, given, client, solved=solved)

    async def _check_and_open(
        self, form: LoginForm, given: GivenCode, client: ClientInfo, *, solved: bool
    ) -> OpenedLogin:
        key = await self._throttle.lockout.key_for(form.username, client.address, with_code=given.instead_of_captcha)
        found = await self._users.credentials(form.username)
        attempt = Attempt(key, client, found.user.id if found else None, solved=solved)
        await self._attempts.raise_if_locked(attempt)
        # An unknown name costs one real hash, and so does a user without a password or a disabled one: neither the
        # answer nor its time tells them apart.
        stored = (found and found.user.password_hash) or await self._decoy_hashes.for_name(form.username)
        check_password = self._hashes.check_with_code if given.instead_of_captcha else self._hashes.check
        check = await check_password(stored, form.password)
        right_code = await self._second_factor.check(found, given)
        failure = _failure(found, password_correct=check.correct)
        if failure is None and given.instead_of_captcha and right_code is None:
            failure = LoginFailure.SECOND_FACTOR
        if found is None or failure is not None:
            await self._attempts.record_failure(attempt, failure or LoginFailure.UNKNOWN_NAME)
            raise CredentialsWrong
        # While this hash ran, other guesses may have locked the name. Then even the right password is refused, so
        # that parallel guesses learn no more than guesses in a row.
        await self._attempts.raise_if_locked(attempt)
        factor = await self._second_factor.require(found, given, right_code, attempt, self._attempts)
        user = found.user
        methods = (Method.PASSWORD, Method.CODE) if factor else (Method.PASSWORD,)
        session = await self._sessions.open(user.id, client, methods)
        await self._recheck(found, form, session, client)
        await self._throttle.record_login_success(key, form.username, client.address)
        if check.needs_rehash:
            await self._replace_hash(user, form.password, client)
        return OpenedLogin(session, factor)

    async def _recheck(self, checked: Credentials, form: LoginForm, session: Session, client: ClientInfo) -> None:
        """What was changed while the password was being checked must not leave a session of the old rules behind."""
        current = await self._users.credentials(form.username)
        failure = await self._failure_by_now(checked, current, form.password)
        if failure is None:
            return
        await self._sessions.end(session.id, SessionEndReason.PASSWORD, client)
        self._audit.record(Event.LOGIN_FAILED, client, user=session.user, session=session.id, reason=failure)
        if failure is LoginFailure.SECOND_FACTOR_MISSING:
            raise CodeRequired("a second factor was switched on meanwhile")
        raise CredentialsWrong

    async def _failure_by_now(
        self, checked: Credentials, current: Credentials | None, password: str
    ) -> LoginFailure | None:
        if current is None:
            return LoginFailure.PASSWORD
        if not current.password_login:
            return LoginFailure.PASSWORD_LOGIN_OFF
        stored = current.user.password_hash
        if stored != checked.user.password_hash and not (await self._hashes.check(stored, password)).correct:
            return LoginFailure.PASSWORD
        return None if self._second_factor.is_same(checked, current) else LoginFailure.SECOND_FACTOR_MISSING

    async def _replace_hash(self, user: User, password: str, client: ClientInfo) -> None:
        if await self._users.replace_password_hash(user.id, user.password_hash, await self._hashes.hash(password)):
            self._audit.record(Event.PASSWORD_REHASHED, client, user=user.id)


def _failure(found: Credentials | None, *, password_correct: bool) -> LoginFailure | None:
    if found is None:
        return LoginFailure.UNKNOWN_NAME
    if not found.user.enabled:
        return LoginFailure.DISABLED
    if not found.password_login:
        return LoginFailure.PASSWORD_LOGIN_OFF
    return None if password_correct else LoginFailure.PASSWORD

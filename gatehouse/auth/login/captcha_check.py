"""Checks the captcha of a login, and marks it as used before anything costly happens.

Before it is used up, nothing may depend on whether the answer is right: else one picture could be guessed at again and
again. So the limit of the address, which has one count for solved captchas and one for the others, comes after it.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from gatehouse.auth.audit import Audit, ClientInfo, Event, LoginFailure
from gatehouse.auth.refusals import CaptchaGone, CaptchaWrong, FieldMissing, Refused
from gatehouse.common.clock_skew import CLOCK_SKEW_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gatehouse.auth.limits.throttle import Throttle
    from gatehouse.auth.login.captcha import Challenges
    from gatehouse.common.parsing import Network
    from gatehouse.stores.database.users import Users
    from gatehouse.stores.state.protocol import State


class CaptchaCheck:
    def __init__(
        self,
        *,
        state: State,
        users: Users,
        challenges: Challenges,
        throttle: Throttle,
        audit: Audit,
        clock: Callable[[], float],
        exempt: Sequence[Network] = (),
    ) -> None:
        self._state = state
        self._users = users
        self._challenges = challenges
        self._throttle = throttle
        self._audit = audit
        self._clock = clock
        self._exempt = exempt

    async def check(
        self,
        username: str,
        captcha_id: str | None,
        answer: str | None,
        client: ClientInfo,
        *,
        is_second_factor_code: bool,
    ) -> bool:
        """Whether it was solved. Raises the refusal, unless the user or the address is exempt.

        `is_second_factor_code`: consoles without a field for the code of a second factor send it in the captcha field.
        The captcha is used up then, and its answer is not looked at: the code is checked later.
        """
        refusal = await self._use_captcha(captcha_id, answer, is_second_factor_code=is_second_factor_code)
        solved = refusal is None and not is_second_factor_code
        await self._throttle.admit_login(client.address, solved=solved)
        if refusal is None:
            await self._throttle.admit_to_login_total(solved=solved)
            return solved
        if await self._is_exempt(username, client.address):
            return False
        await self._throttle.record_login_failure(client.address)
        if not isinstance(refusal, FieldMissing):
            wrong = isinstance(refusal, CaptchaWrong)
            reason = LoginFailure.CAPTCHA_WRONG if wrong else LoginFailure.CAPTCHA_GONE
            self._audit.record(Event.LOGIN_FAILED, client, reason=reason)
        raise refusal

    async def _use_captcha(
        self, captcha_id: str | None, answer: str | None, *, is_second_factor_code: bool
    ) -> Refused | None:
        """None, or why it is refused. A captcha is used up by this, whatever comes of it."""
        if not captcha_id:
            return FieldMissing("captchaId")
        if not answer:
            return FieldMissing("captchaCode")
        now = self._clock()
        challenge = self._challenges.decode(captcha_id, now)
        if challenge is None:
            return CaptchaGone()
        if not await self._state.use_captcha(challenge.fingerprint, challenge.expires + CLOCK_SKEW_SECONDS, now):
            return CaptchaGone()
        if not is_second_factor_code and not self._challenges.matches(challenge, answer):
            return CaptchaWrong()
        return None

    async def _is_exempt(self, username: str, address: str) -> bool:
        if self._exempt and address:
            parsed = ipaddress.ip_address(address)
            if any(parsed in network for network in self._exempt):
                return True
        user = await self._users.by_name(username)
        return user is not None and user.captcha_exempt

"""The captcha of a login: it is marked as used, whatever comes of it, and some need none.

Before it is used up, nothing may depend on whether the answer is right: else one picture could be guessed at again and
again. So the limit of the address, which has one count for solved captchas and one for the others, comes after it.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from gatehouse.auth.refusals import CaptchaGone, CaptchaWrong, FieldMissing, Refused
from gatehouse.common.clock_skew import CLOCK_SKEW_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gatehouse.auth.login.captcha import Challenges
    from gatehouse.auth.login_name import LoginName
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
        clock: Callable[[], float],
        exempt: Sequence[Network] = (),
    ) -> None:
        self._state = state
        self._users = users
        self._challenges = challenges
        self._clock = clock
        self._exempt = exempt

    async def use(self, captcha_id: str | None, answer: str | None, *, is_second_factor_code: bool) -> Refused | None:
        """None, or why it is refused.

        `is_second_factor_code`: consoles without a field for the code of a second factor send it in the captcha field.
        The captcha is used up then, and its answer is not looked at: the code is checked later.
        """
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

    async def is_exempt(self, name: LoginName, address: str) -> bool:
        if self._exempt and address:
            parsed = ipaddress.ip_address(address)
            if any(parsed in network for network in self._exempt):
                return True
        user = await self._users.by_name(name.typed)
        return user is not None and user.captcha_exempt

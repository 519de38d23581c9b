"""Second factors in tests: an authenticator app, and how it is enrolled."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from gatehouse.auth.factors import totp
from tests.support.running import PASSWORD


class App:
    """An authenticator app with one account: it knows the secret and the time, and nothing of the service."""

    def __init__(self, secret: str, clock: Callable[[], float]) -> None:
        self._secret = base64.b32decode(secret)
        self._clock = clock

    def code(self, steps: int = 0) -> str:
        """What it shows now, or so many steps away."""
        return totp.code_of(self._secret, totp.time_step_at(self._clock()) + steps)

    def wrong(self) -> str:
        """Six digits that it shows at no time near now."""
        near = {self.code(steps) for steps in range(-3, 4)}
        return next(code for code in (f"{number:06}" for number in range(10)) if code not in near)


def enrol(
    call: Callable[..., dict[str, Any]], clock: Callable[[], float], proof: dict[str, Any] | None = None
) -> tuple[App, list[str]]:
    """Both steps; `call(method, path, body)` returns `data`. The app and the recovery codes."""
    app = App(call("POST", "/api/v1/users/me/totp", proof or {"currentPassword": PASSWORD})["secret"], clock)
    return app, call("PUT", "/api/v1/users/me/totp", {"code": app.code()})["recoveryCodes"]

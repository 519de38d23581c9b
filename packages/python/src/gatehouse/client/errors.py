"""The exceptions of the client, with the code and message of the service. None of them carries a token."""

from __future__ import annotations


class GatehouseError(Exception):
    """The service refused. `status` and `code` are 0 and empty where no answer of the service came back."""

    def __init__(
        self, msg: str, *, status: int = 0, code: str = "", retry_after: int | None = None, request_id: str = ""
    ) -> None:
        super().__init__(msg)
        self.msg = msg
        self.status = status
        self.code = code
        self.retry_after = retry_after
        self.request_id = request_id

    def __str__(self) -> str:
        facts = [f"HTTP {self.status}"] if self.status else []
        facts += [self.code] if self.code else []
        facts += [f"request {self.request_id}"] if self.request_id else []
        return f"{self.msg} ({', '.join(facts)})" if facts else self.msg


class CaptchaWrong(GatehouseError):
    """The answer was wrong and the captcha is used up: get a new one."""


class CaptchaGone(GatehouseError):
    """The captcha has expired or was used before: get a new one."""


class CredentialsWrong(GatehouseError):
    """Wrong username or password, or the user is disabled."""


class SecondFactorNeeded(GatehouseError):
    """Name, password and captcha were right: log in again with a new captcha and `otp_code`. Or the code was wrong."""


class MustWait(GatehouseError):
    """Too many failed logins or too many requests: `retry_after` says for how long."""


class NotLoggedIn(GatehouseError):
    """There is no access token, or it is not accepted."""


class SessionEnded(GatehouseError):
    """The session cannot be renewed: log in again."""


class NotAllowed(GatehouseError):
    """Authenticated, but not permitted to do this."""


class Unavailable(GatehouseError):
    """The service is busy or waits for a store: try again after `retry_after`."""


class Unreachable(GatehouseError):
    """No answer came: connection refused, broken off or timed out."""


_BY_CODE: dict[str, type[GatehouseError]] = {
    "A0240": CaptchaWrong,
    "A0242": CaptchaGone,
    "A0210": CredentialsWrong,
    "A0220": SecondFactorNeeded,
    "A0211": MustWait,
    "A0502": MustWait,
    "A0230": NotLoggedIn,
    "A0231": SessionEnded,
    "A0301": NotAllowed,
    "B0210": Unavailable,
    "C0300": Unavailable,
}


def error_for(code: str) -> type[GatehouseError]:
    return _BY_CODE.get(code, GatehouseError)

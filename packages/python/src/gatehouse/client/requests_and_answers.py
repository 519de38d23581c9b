"""Builds the requests of each variant and reads the answers: everything without I/O.

The synchronous and the asyncio client share all of it.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlencode

from gatehouse.client.errors import GatehouseError, error_for

if TYPE_CHECKING:
    import httpx

Variant = Literal["A", "B"]

SUCCESS = "00000"
# A token is renewed this many seconds before it expires, or in the last tenth of a shorter life.
RENEW_MARGIN_SECONDS = 30.0
# A refresh whose answer is lost must be repeated within the grace window of the service (`GATEHOUSE_REFRESH_GRACE`,
# 10 s by default); later it would be taken for theft. So the first answer is not awaited for longer than this.
REFRESH_SECONDS = 3.0
# Before a refresh is repeated that the service could not answer.
REFRESH_PAUSE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Captcha:
    """`image` is a data URI, ready for a page."""

    id: str
    image: str = field(repr=False)

    @property
    def png(self) -> bytes:
        return base64.b64decode(self.image.partition(",")[2])


@dataclass(frozen=True, slots=True)
class Tokens:
    """A token set. `due` is when to renew it, by the clock of the client that received it."""

    access: str = field(repr=False)
    refresh: str = field(repr=False)
    expires_in: int
    due: float


@dataclass(frozen=True, slots=True)
class User:
    id: int
    username: str
    nickname: str
    avatar: str
    department: int
    roles: tuple[str, ...]
    perms: tuple[str, ...]


class Call(NamedTuple):
    """One request. `query` is the query string, which is left out of logs; `seconds` limits each phase of it."""

    method: str
    path: str
    body: dict[str, str] | None = None
    query: dict[str, str] | None = None
    seconds: float | None = None


CAPTCHA = Call("GET", "/api/v1/auth/captcha")
ME = Call("GET", "/api/v1/users/me")


def login_call(
    variant: Variant, username: str, password: str, captcha: Captcha | None, answer: str, *, otp_code: str
) -> Call:
    body = {"username": username, "password": password}
    if otp_code:
        body["otpCode"] = otp_code
    if captcha is not None:
        body |= {"captchaKey" if variant == "A" else "captchaId": captcha.id, "captchaCode": answer}
    return Call("POST", "/api/v1/auth/login", body)


def refresh_call(variant: Variant, token: str) -> Call:
    given = {"refreshToken": token}
    if variant == "A":
        return Call("POST", "/api/v1/auth/refresh-token", given, seconds=REFRESH_SECONDS)
    return Call("POST", "/api/v1/auth/refresh-token", query=given, seconds=REFRESH_SECONDS)


def logout_call(variant: Variant) -> Call:
    return Call("POST" if variant == "A" else "DELETE", "/api/v1/auth/logout")


def build(http: httpx.Client | httpx.AsyncClient, call: Call, access: str | None) -> httpx.Request:
    headers = {"Authorization": f"Bearer {access}"} if access else {}
    request = http.build_request(call.method, call.path.lstrip("/"), json=call.body, headers=headers)
    if call.seconds is not None:
        limits: dict[str, float | None] = request.extensions["timeout"]
        request.extensions["timeout"] = {
            phase: min(limit or call.seconds, call.seconds) for phase, limit in limits.items()
        }
    if call.query:
        # httpx logs the URL of every request. What is sent instead of it is never logged.
        target = request.url.raw_path + b"?" + urlencode(call.query).encode()
        request.extensions = {**request.extensions, "target": target}
    return request


def read(response: httpx.Response) -> dict[str, Any]:
    """The `data` of a success; everything else is raised."""
    envelope = _envelope(response)
    code = str(envelope.get("code", ""))
    if response.is_success and code == SUCCESS:
        data = envelope.get("data", {})
        return data if isinstance(data, dict) else {}
    retry_after = response.headers.get("retry-after", "")
    raise error_for(code)(
        str(envelope.get("msg") or response.reason_phrase or "not an answer of the service"),
        status=response.status_code,
        code=code,
        retry_after=int(retry_after) if retry_after.isdecimal() else None,
        request_id=response.headers.get("x-request-id", ""),
    )


def may_have_happened(problem: GatehouseError) -> bool:
    """Whether what was asked for may have been done: no answer came, or a 5xx, perhaps of a proxy."""
    return problem.status == 0 or problem.status >= 500


def _envelope(response: httpx.Response) -> dict[str, Any]:
    try:
        envelope = json.loads(response.content)
    except ValueError:
        return {}
    return envelope if isinstance(envelope, dict) else {}


def captcha_from(data: dict[str, Any], variant: Variant) -> Captcha:
    names = ("captchaKey", "captchaImage") if variant == "A" else ("captchaId", "captchaBase64")
    return Captcha(*(str(_field(data, name)) for name in names))


def tokens_from(data: dict[str, Any], asked_at: float) -> Tokens:
    """The life of a token is counted from the request, so that the time of the answer is not added to it."""
    life = int(_field(data, "expiresIn"))
    due = asked_at + life - min(RENEW_MARGIN_SECONDS, life / 10)
    return Tokens(str(_field(data, "accessToken")), str(_field(data, "refreshToken")), life, due)


def user_from(data: dict[str, Any]) -> User:
    return User(
        id=int(_field(data, "userId")),
        username=str(_field(data, "username")),
        nickname=str(_field(data, "nickname")),
        avatar=str(_field(data, "avatar")),
        department=int(_field(data, "deptId")),
        roles=tuple(_field(data, "roles")),
        perms=tuple(_field(data, "perms")),
    )


def _field(data: dict[str, Any], name: str) -> Any:
    try:
        return data[name]
    except KeyError:
        raise GatehouseError(f"the answer has no {name}") from None

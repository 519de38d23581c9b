"""The bodies of the contract. The same types decode requests, encode answers and describe both in OpenAPI.

Field names are those on the wire, of both variants.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

Username = Annotated[str, Meta(min_length=1, max_length=64, description="Without regard to case.", examples=["admin"])]
Password = Annotated[str, Meta(min_length=1, description="Never cut, trimmed or folded.")]
CaptchaId = Annotated[str, Meta(min_length=1, max_length=64, description="As the captcha operation returned it.")]
CaptchaCode = Annotated[
    str,
    Meta(
        min_length=1, max_length=32, description="What the picture shows, in any case; or the code of a second factor."
    ),
]
OtpCode = Annotated[
    str,
    Meta(min_length=1, max_length=32, description="Six digits of an authenticator app, or a recovery code."),
]
RefreshToken = Annotated[str, Meta(min_length=1, max_length=1024)]


class LoginBody(Struct):
    """Any name of the captcha's id and answer will do; several are fine if they are equal.

    `verifyCodeKey` and `verifyCode` are the names that consoles of 2023 send.
    """

    username: Username
    password: Password
    captchaCode: CaptchaCode | None = None
    captchaKey: CaptchaId | None = None
    captchaId: CaptchaId | None = None
    verifyCodeKey: CaptchaId | None = None
    verifyCode: CaptchaCode | None = None
    otpCode: OtpCode | None = None


class RefreshBody(Struct):
    """Variant A. In variant B the token comes as the query parameter of the same name."""

    refreshToken: RefreshToken | None = None


class RefreshQuery(Struct):
    refreshToken: RefreshToken | None = None


class PasswordBody(Struct):
    currentPassword: Password
    newPassword: Password


class CaptchaData(Struct):
    """One captcha under the names of both variants."""

    captchaKey: str
    captchaImage: str
    captchaId: str
    captchaBase64: str


class TokenData(Struct):
    accessToken: str
    refreshToken: str
    tokenType: Annotated[str, Meta(examples=["Bearer"])]
    expiresIn: Annotated[int, Meta(description="Seconds until the access token expires.", examples=[7200])]


class UserData(Struct):
    userId: int
    username: str
    nickname: str
    avatar: str
    deptId: int
    roles: list[str]
    perms: list[str]


class SessionData(Struct):
    """One login of the caller's. Times are ISO 8601 in UTC; `amr` is how it was proven (pwd, otp, hwk, qr)."""

    id: str
    openedAt: str
    refreshedAt: str
    endsAt: str
    address: str
    agent: str
    browser: str
    amr: list[str]
    authTime: str
    current: bool


class SessionsData(Struct):
    sessions: list[SessionData]


class EndedData(Struct):
    ended: int

"""Login by username, password and captcha."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from gatehouse.api.http.request import Request, either
from gatehouse.api.login.credential_types import OtpCode, Password
from gatehouse.api.login.token_data import TokenData, tokens_response
from gatehouse.api.operation_declaration import JSON, MULTIPART, URLENCODED, Limit, Operation
from gatehouse.auth import refusals
from gatehouse.auth.login.login import LoginForm
from gatehouse.auth.login_name import LoginName
from gatehouse.auth.refusals import FieldInvalid, FieldMissing
from gatehouse.auth.sessions.console_versions import ConsoleVersion
from gatehouse.identity_sources.errors import SourceUnavailable

if TYPE_CHECKING:
    from gatehouse.api.http.response import Response
    from gatehouse.composition import Service

Username = Annotated[str, Meta(min_length=1, max_length=64, description="Without regard to case.", examples=["admin"])]
CaptchaId = Annotated[str, Meta(min_length=1, max_length=64, description="As the captcha operation returned it.")]
CaptchaCode = Annotated[
    str,
    Meta(
        min_length=1, max_length=32, description="What the picture shows, in any case; or the code of a second factor."
    ),
]


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


class PasswordLoginEndpoint:
    def __init__(self, service: Service) -> None:
        self._authenticator = service.authenticator
        self._console_versions = service.console_versions

    @Operation(
        "POST",
        "/api/v1/auth/login",
        "Log in by username, password and captcha",
        public=True,
        body=LoginBody,
        takes=(JSON, URLENCODED, MULTIPART),
        data=TokenData,
        limits=(Limit.LOGIN_ADDRESS, Limit.LOGIN_TOTAL, Limit.LOGIN_NAME),
        refusals=(
            refusals.CaptchaWrong,
            refusals.CaptchaGone,
            refusals.CredentialsWrong,
            refusals.DirectoryPasswordExpired,
            SourceUnavailable,
            refusals.CodeRequired,
            refusals.EnrolmentRequired,
            refusals.PasskeyRequired,
            refusals.TooBusy,
        ),
        description="A names the captcha by `captchaKey`, B by `captchaId`. Each login opens a session of its own. "
        "Who has a second factor types its code into the captcha field in place of the picture's answer, or sends it "
        "as `otpCode` beside it. A user who must have one and has none is answered `A0220` with the header "
        "`Enrolment-Ticket`.",
        body_examples={
            "A": {"username": "admin", "password": "", "captchaKey": "", "captchaCode": ""},
            "B": {"username": "admin", "password": "", "captchaId": "", "captchaCode": ""},
        },
    )
    async def login(self, request: Request) -> Response:
        form = login_form(await request.fields(LoginBody, forms=True))
        tokens = await self._authenticator.login(form, request.client)
        if request.is_form:  # as consoles before 4.3 log in
            await self._console_versions.remember(tokens.session, ConsoleVersion.FORM)
        return tokens_response(tokens, request.language)


def login_form(body: LoginBody) -> LoginForm:
    username = body.username.strip()
    if not username:
        raise FieldMissing("username")
    if not username.isprintable():
        raise FieldInvalid("username", "not printable")
    answer = either("captchaCode", body.captchaCode, body.verifyCode)
    return LoginForm(
        LoginName.of(username),
        body.password,
        either("captchaId", body.captchaKey, body.captchaId, body.verifyCodeKey),
        answer.strip() if answer else None,
        body.otpCode,
    )

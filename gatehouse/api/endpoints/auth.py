"""Captcha, login, refresh, logout."""

from __future__ import annotations

import base64
from time import perf_counter
from typing import TYPE_CHECKING

from gatehouse.api.contract.schemas import CaptchaData, LoginBody, RefreshBody
from gatehouse.api.endpoints.tokens import tokens_response
from gatehouse.api.http.fair_lock import FairLock
from gatehouse.api.http.request import Request, either
from gatehouse.api.http.response import Response, success
from gatehouse.auth.login.login import LoginForm
from gatehouse.auth.refusals import FieldInvalid, FieldMissing
from gatehouse.auth.sessions.console_versions import ConsoleVersion

if TYPE_CHECKING:
    from gatehouse.api.telemetry.collector import Metrics
    from gatehouse.auth.login.captcha.image import CaptchaRenderer
    from gatehouse.composition import Service


# As many as are drawn in a quarter of a second; further requests are answered with 503.
CAPTCHAS_WAITING = 500


class AuthEndpoints:
    def __init__(self, service: Service, renderer: CaptchaRenderer, metrics: Metrics) -> None:
        self._clock = service.clock
        self._challenges = service.captcha_challenges
        self._throttle = service.throttle
        self._authenticator = service.authenticator
        self._console_versions = service.console_versions
        self._renderer = renderer
        self._drawing = FairLock(CAPTCHAS_WAITING)
        self._metrics = metrics

    async def captcha(self, request: Request) -> Response:
        self._throttle.admit_captcha(request.client.address)
        async with self._drawing:
            challenge = self._challenges.issue(self._clock())
            started = perf_counter()
            image = "data:image/png;base64," + base64.b64encode(self._renderer.render(challenge.answer)).decode()
            self._metrics.record_captcha(perf_counter() - started)
        return success(CaptchaData(challenge.id, image, challenge.id, image), request.language)

    async def login(self, request: Request) -> Response:
        body = await request.fields(LoginBody, forms=True)
        username = body.username.strip()
        if not username:
            raise FieldMissing("username")
        if not username.isprintable():
            raise FieldInvalid("username", "not printable")
        answer = either("captchaCode", body.captchaCode, body.verifyCode)
        form = LoginForm(
            username,
            body.password,
            either("captchaId", body.captchaKey, body.captchaId, body.verifyCodeKey),
            answer.strip() if answer else None,
            body.otpCode,
        )
        tokens = await self._authenticator.login(form, request.client)
        if request.is_form:  # as consoles before 4.3 log in
            await self._console_versions.remember(tokens.session, ConsoleVersion.FORM)
        return tokens_response(tokens, request.language)

    async def refresh(self, request: Request) -> Response:
        body = await request.fields(RefreshBody, forms=True)
        token = either("refreshToken", body.refreshToken, *request.query("refreshToken"))
        if not token:
            raise FieldMissing("refreshToken")
        return tokens_response(await self._authenticator.refresh(token, request.client), request.language)

    async def logout(self, request: Request) -> Response:
        await self._authenticator.logout(request.bearer(), request.client)
        return success(language=request.language)

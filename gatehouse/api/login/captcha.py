"""The captcha of a login."""

from __future__ import annotations

import base64
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from gatehouse.api.http.fair_lock import FairLock
from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Limit, Operation
from gatehouse.auth import refusals

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.api.telemetry.metrics import Metrics
    from gatehouse.auth.login.captcha.image import CaptchaRenderer
    from gatehouse.composition import Service

# As many as are drawn in a quarter of a second; further requests are answered with 503.
CAPTCHAS_WAITING = 500


class CaptchaData(Struct):
    """One captcha under the names of both variants."""

    captchaKey: str
    captchaImage: str
    captchaId: str
    captchaBase64: str


class CaptchaPicture(NamedTuple):
    id: str
    image: str  # a data URI


class CaptchaPictures:
    """Draws captchas, for the API and for the pages that work without scripts."""

    def __init__(self, service: Service, renderer: CaptchaRenderer, metrics: Metrics) -> None:
        self._clock = service.clock
        self._challenges = service.login.captcha_challenges
        self._throttle = service.throttle
        self._renderer = renderer
        self._drawing = FairLock(CAPTCHAS_WAITING)
        self._metrics = metrics

    async def draw(self, request: Request) -> CaptchaPicture:
        self._throttle.admit_captcha(request.client.address)
        async with self._drawing:
            challenge = self._challenges.issue(self._clock())
            started = perf_counter()
            image = "data:image/png;base64," + base64.b64encode(self._renderer.render(challenge.answer)).decode()
            self._metrics.record_captcha(perf_counter() - started)
        return CaptchaPicture(challenge.id, image)


class CaptchaEndpoint:
    def __init__(self, pictures: CaptchaPictures) -> None:
        self._pictures = pictures

    @Operation(
        "GET",
        "/api/v1/auth/captcha",
        "Get a captcha",
        public=True,
        data=CaptchaData,
        limits=(Limit.CAPTCHA_ADDRESS,),
        refusals=(refusals.TooBusy,),
        without_stores=True,
        description="One answer serves both variants. A reads `captchaKey` and `captchaImage`, B reads `captchaId` and "
        "`captchaBase64`; the values are the same. The image is a data URI. A captcha is used up by the first login "
        "that names it, right or wrong.",
    )
    async def captcha(self, request: Request) -> Response:
        picture = await self._pictures.draw(request)
        return success(CaptchaData(*picture, *picture), request.language)

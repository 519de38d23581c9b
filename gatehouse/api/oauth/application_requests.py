"""What the servers of applications call, and applications in a browser: forms in, JSON out, errors by RFC 6749."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from gatehouse.api.error_catalogue import (
    BodyTooLarge,
    BodyUnreadable,
    MethodNotAllowed,
    UnsupportedMediaType,
    entry_for,
    headers_for,
)
from gatehouse.api.http.cors import Cors
from gatehouse.api.http.response import JSON, Response
from gatehouse.auth.oauth.client_authentication import uses_basic
from gatehouse.auth.oauth.errors import InvalidClient, OAuthRefusal, PageRefusal
from gatehouse.auth.refusals import FieldInvalid, RetryLater
from gatehouse.common.logs import log
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.stores.errors import StoreUnavailable, UnstorableValue

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.oauth.clients import Client
    from gatehouse.composition import Service

Serve = TypeVar("Serve", bound=Callable[..., Awaitable[Response]])

REFUSALS = (
    OAuthRefusal, PageRefusal, FieldInvalid, BodyUnreadable, BodyTooLarge, UnsupportedMediaType, UnstorableValue,
)  # fmt: skip
BASIC = ("www-authenticate", 'Basic realm="gatehouse", charset="UTF-8"')


class ApplicationEndpoints:
    """Endpoints that pages of public clients may call, too, from the origins of their redirect addresses."""

    def __init__(self, service: Service) -> None:
        self._authentication = service.applications.authentication
        self._origins = service.applications.public_origins

    async def _authenticated(self, request: Request) -> tuple[dict[str, str], Client]:
        """The form and the application that has sent it."""
        form = await request.form_once()
        return form, await self._authentication.authenticate(request.headers("authorization"), form, request.client)

    async def _cors(self, request: Request) -> Cors | None:
        """For a page of a public client; what the settings allow is answered by `App`."""
        origin = request.header("origin")
        return Cors((origin,)) if origin is not None and await self._origins.has(origin) else None


def for_applications(serve: Serve) -> Serve:
    """Answers refusals and outages in the form that applications read."""

    @wraps(serve)
    async def answered(self: ApplicationEndpoints, request: Request) -> Response:
        cors = await self._cors(request)
        if request.method == "OPTIONS":
            preflight = cors.preflight(request, ("GET", "POST")) if cors else None
            if cors is None or preflight is None:
                raise MethodNotAllowed("GET, POST")
            return _with(preflight, cors, request)
        try:
            response = await serve(self, request)
        except REFUSALS as problem:
            response = refusal(problem, request)
        except (RetryLater, StoreUnavailable, SourceUnavailable) as problem:
            response = outage(problem, request)
        return _with(response, cors, request)

    answered_by: Any = answered
    return answered_by  # type: ignore[no-any-return]


def _with(response: Response, cors: Cors | None, request: Request) -> Response:
    added = cors.headers(request) if cors else [("vary", "origin")]
    return Response(response.status, response.body, [*response.headers, *added], response.code)


def refusal(problem: Exception, request: Request) -> Response:
    if isinstance(problem, OAuthRefusal):
        basic = isinstance(problem, InvalidClient) and uses_basic(request.headers("authorization"))
        extra = [BASIC] if basic else []
        return json_error(problem.status, problem.error, problem.description, *extra)
    if isinstance(problem, PageRefusal):
        return json_error(400, "invalid_request", "redirect_uri is not registered for this client")
    status = 413 if isinstance(problem, BodyTooLarge) else 400
    return json_error(status, "invalid_request", "expected a form, with each parameter once")


def outage(problem: Exception, request: Request) -> Response:
    """Nothing is decided while we cannot: the application asks again."""
    entry = entry_for(problem)
    if not isinstance(problem, RetryLater):
        log.warning("store unavailable", request=request.id, path=request.path, problem=str(problem))
    response = json_error(entry.status, "temporarily_unavailable", "try again", *headers_for(problem, entry))
    response.code = entry.code
    return response


def json_error(status: int, error: str, description: str, *extra: tuple[str, str]) -> Response:
    body = msgspec.json.encode({"error": error, "error_description": description})
    return Response(status, body, [*JSON, *extra], error)


def json_answer(content: object, status: int = 200) -> Response:
    return Response(status, msgspec.json.encode(content), JSON)

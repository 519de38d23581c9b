"""Django middleware and a decorator: who calls, and may they."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.http import HttpResponse

from gatehouse.verify import EndedSessions, TokenInvalid, Verifier, VerifyError
from gatehouse.verify.principal import bearer

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest

    View = Callable[..., HttpResponse]


class GatehouseMiddleware:
    """Every request needs a good token; the view finds who it is in `request.principal`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response
        url = settings.GATEHOUSE_URL
        ended = EndedSessions(f"{url}/events/ended-sessions/stream", settings.GATEHOUSE_SERVICE_KEY)
        # The address is also the issuer. If Gatehouse has a GATEHOUSE_ISSUER of its own, give that one.
        self._verifier = Verifier(
            f"{url}/.well-known/jwks.json",
            issuer=url,
            perms_in_token=True,
            ended_sessions=ended,
            token_type=settings.GATEHOUSE_TOKEN_TYPE,
        )

    def __call__(self, request: HttpRequest) -> HttpResponse:
        token = bearer(request.headers.get("Authorization"))
        try:
            if token is None:
                raise TokenInvalid("no token")
            request.principal = self._verifier.check(token)  # type: ignore[attr-defined]
        except VerifyError as refusal:
            return answer(refusal)
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, problem: Exception) -> HttpResponse | None:
        """What `require_perms` raises in a view."""
        return answer(problem) if isinstance(problem, VerifyError) else None


def require_perms(*perms: str) -> Callable[[View], View]:
    """All of these perms are needed."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *given: Any, **named: Any) -> HttpResponse:
            request.principal.require(*perms)  # type: ignore[attr-defined]
            return view(request, *given, **named)

        return guarded

    return decorate


def answer(refusal: VerifyError) -> HttpResponse:
    return HttpResponse(refusal.body, status=refusal.status, headers=refusal.headers, content_type="application/json")

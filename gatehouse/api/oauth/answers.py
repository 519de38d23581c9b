"""What a browser takes back to an application: in the query of its address, or as a form that is posted there.

`iss` says who answers (RFC 9207), so that an application with several providers notices a mix-up.
"""

from __future__ import annotations

import html
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

from gatehouse.api.http.response import redirect
from gatehouse.auth.oauth.errors import PageRefusal, RedirectRefusal
from gatehouse.auth.refusals import Refused
from gatehouse.common.logs import log
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.api.http.response import Response
    from gatehouse.api.oauth.flow_pages import FlowPages
    from gatehouse.auth.oauth.authorization_requests import AuthorizationRequest

Serve = TypeVar("Serve", bound=Callable[..., Awaitable["Response"]])


class Answers:
    def __init__(self, pages: FlowPages, issuer: str) -> None:
        self._pages = pages
        self._issuer = issuer

    def code(self, request: Request, asked: AuthorizationRequest, code: str) -> Response:
        return self._send(request, asked, {"code": code})

    def refusal(self, request: Request, refusal: RedirectRefusal) -> Response:
        return self._send(request, refusal, {"error": refusal.error, "error_description": refusal.description})

    def _send(self, request: Request, to: AuthorizationRequest | RedirectRefusal, answer: dict[str, str]) -> Response:
        answer |= {"state": to.state, "iss": self._issuer}
        answer = {name: value for name, value in answer.items() if value}
        if to.response_mode != "form_post":
            return redirect(f"{to.redirect_uri}{'&' if '?' in to.redirect_uri else '?'}{urlencode(answer)}", status=303)
        fields = "".join(
            f'<input type="hidden" name="{name}" value="{html.escape(value)}">' for name, value in answer.items()
        )
        page = self._pages.page(request)
        return page.show("post", {"target": to.redirect_uri}, target=to.redirect_uri, parts={"fields": fields})


class PageEndpoints:
    """Endpoints that a person meets: whatever is refused, they see a page of ours or come back to the application."""

    _pages: FlowPages
    _answers: Answers


def for_people(serve: Serve) -> Serve:
    @wraps(serve)
    async def answered(self: PageEndpoints, request: Request) -> Response:
        try:
            return await serve(self, request)
        except RedirectRefusal as refusal:
            return self._answers.refusal(request, refusal)
        except PageRefusal as refusal:
            return self._pages.page(request).problem(f"flow.problem.{refusal.problem}")
        except (Refused, SourceUnavailable) as refusal:
            return self._pages.page(request).failure(refusal)
        except StoreUnavailable as outage:
            log.warning("store unavailable", request=request.id, path=request.path, problem=str(outage))
            return self._pages.page(request).failure(outage)

    answered_by: Any = answered
    return answered_by  # type: ignore[no-any-return]

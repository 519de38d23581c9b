"""What a browser takes back to an application: in the query of its address, or as a form that is posted there.

`iss` says who answers (RFC 9207), so that an application with several providers notices a mix-up.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from gatehouse.api.http.response import redirect

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.api.http.response import Response
    from gatehouse.api.oauth.flow_pages import FlowPages
    from gatehouse.auth.oauth.authorization_requests import AuthorizationRequest
    from gatehouse.auth.oauth.errors import RedirectRefusal


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

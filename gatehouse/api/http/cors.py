"""Cross-origin requests: allowed for the configured origins only.

Tokens travel in the Authorization header and not in cookies, so no credentials are ever allowed here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.http.response import Headers, Response

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gatehouse.api.http.request import Request

PREFLIGHT_SECONDS = "600"
# What scripts of another origin may read beside the body: consoles take the name of an export from Content-Disposition.
EXPOSED = "X-Request-Id, Retry-After, Content-Disposition, Enrolment-Ticket, Logout-Location"


class Cors:
    def __init__(self, origins: tuple[str, ...]) -> None:
        self._origins = frozenset(origins)
        self._any = "*" in origins

    def headers(self, request: Request) -> Headers:
        """What to add to an answer."""
        origin = request.header("origin")
        vary = [] if self._any else [("vary", "origin")]
        if origin is None or not self._allows(origin):
            return vary
        return [
            *vary,
            ("access-control-allow-origin", self._allowed_origin(origin)),
            ("access-control-expose-headers", EXPOSED),
        ]

    def preflight(self, request: Request, methods: Iterable[str]) -> Response | None:
        """The answer to a preflight from a configured origin; None for anything else."""
        origin = request.header("origin")
        if request.method != "OPTIONS" or origin is None or not self._allows(origin):
            return None
        if request.header("access-control-request-method") is None:
            return None
        headers = [
            ("access-control-allow-methods", ", ".join(methods)),
            ("access-control-max-age", PREFLIGHT_SECONDS),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
        ]
        asked = request.header("access-control-request-headers")
        if asked:
            headers.append(("access-control-allow-headers", asked))
        return Response(204, b"", headers)

    def _allows(self, origin: str) -> bool:
        return self._any or origin in self._origins

    def _allowed_origin(self, origin: str) -> str:
        return "*" if self._any else origin

"""Guards single operations of a FastAPI application. Install FastAPI yourself: Gatehouse does not depend on it.

guard = Guard(checker)   # an Introspector or a Verifier
guard.install(app)

@app.get("/report", dependencies=[Depends(guard.require_role("ADMIN"))])
@app.post("/users", dependencies=[Depends(guard.require("sys:user:add"))])
async def who(principal: Annotated[Principal, Depends(guard.principal)]): ...

`require` needs to know the perms: from an `Introspector`, or from a `Verifier` with `perms_in_token` or `role_perms`.
"""
# Without `from __future__ import annotations`: FastAPI reads the annotations below.

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, FastAPI, Request, Response, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from gatehouse.verify.errors import PermsUnknown, TokenInvalid, VerifyError
from gatehouse.verify.principal import Checker, Principal

_scheme = HTTPBearer(auto_error=False, bearerFormat="JWT", description="An access token of Gatehouse.")

Credentials = Annotated[HTTPAuthorizationCredentials | None, Security(_scheme)]


class Guard:
    def __init__(self, checker: Checker) -> None:
        self._checker = checker

    def install(self, app: FastAPI) -> None:
        """Have refusals answered in the envelope, with their status and headers."""
        app.add_exception_handler(VerifyError, _answer)

    async def principal(self, credentials: Credentials) -> Principal:
        """Who is calling; refused without a good token. Asked once a request, however often it is depended on."""
        if credentials is None:
            raise TokenInvalid("no token", presented=False)
        return await self._checker.check_async(credentials.credentials)

    def require_role(self, *any_of: str) -> Callable[..., Awaitable[Principal]]:
        """A dependency that refuses those who hold none of these roles."""

        async def allowed(principal: Annotated[Principal, Depends(self.principal)]) -> Principal:
            principal.require_role(*any_of)
            return principal

        return allowed

    def require(self, *perms: str) -> Callable[..., Awaitable[Principal]]:
        """A dependency that refuses those who lack one of these perms."""
        if not self._checker.knows_perms:
            # Raised when the program starts, not at the first request.
            raise PermsUnknown(f"{', '.join(perms)}: this check knows only roles")

        async def allowed(principal: Annotated[Principal, Depends(self.principal)]) -> Principal:
            principal.require(*perms)
            return principal

        return allowed


async def _answer(_request: Request, refusal: Exception) -> Response:
    if not isinstance(refusal, VerifyError):
        raise refusal
    headers = {"Cache-Control": "no-store", **refusal.headers}
    return Response(refusal.body, refusal.status, headers, media_type="application/json")

"""Guards an ASGI application: a request without a valid token is refused.

    app = Guarded(app, verifier, role="ADMIN", public={"/health"})

The application finds the `Principal` in `scope["principal"]`. CORS, if there is any, belongs outside of this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatehouse.verify.errors import PermsUnknown, TokenInvalid, VerifyError
from gatehouse.verify.principal import bearer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, MutableMapping

    from gatehouse.verify.principal import Checker, Principal

    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY_VIOLATION = 1008


class Guarded:
    """`role` and `perm` are required of every request; paths in `public` need no token."""

    def __init__(
        self,
        app: App,
        checker: Checker,
        *,
        role: str | None = None,
        perm: str | None = None,
        public: Collection[str] = (),
    ) -> None:
        if perm is not None and not checker.knows_perms:
            raise PermsUnknown(f"{perm}: this check knows only roles")
        self._app = app
        self._checker = checker
        self._role = role
        self._perm = perm
        self._public = frozenset(public)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in {"http", "websocket"} and scope["path"] not in self._public:
            try:
                principal = await self._authenticate(scope)
            except VerifyError as refusal:
                await _refuse(refusal, scope, send)
                return
            scope = {**scope, "principal": principal}
        await self._app(scope, receive, send)

    async def _authenticate(self, scope: Scope) -> Principal:
        token = bearer(_authorization(scope))
        if token is None:
            raise TokenInvalid("no token", presented=False)
        principal = await self._checker.check_async(token)
        if self._role is not None:
            principal.require_role(self._role)
        if self._perm is not None:
            principal.require(self._perm)
        return principal


def _authorization(scope: Scope) -> str | None:
    """The only `Authorization` header. Two count as none: a proxy may have read the other one."""
    values = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
    return values[0].decode("latin-1") if len(values) == 1 else None


async def _refuse(refusal: VerifyError, scope: Scope, send: Send) -> None:
    if scope["type"] == "websocket":
        # Closed before it was accepted: the server answers the handshake with 403.
        await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": refusal.msg})
        return
    headers = {
        "Content-Type": "application/json",
        "Content-Length": str(len(refusal.body)),
        "Cache-Control": "no-store",
        **refusal.headers,
    }
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refusal.status, "headers": raw})
    await send({"type": "http.response.body", "body": refusal.body})

"""Answers `auth_request` of nginx: may the holder of this token in? 204, 401, 403, or 503 if that cannot be known.

`GET /` asks for a good token, `GET /role/ADMIN` for a role, `GET /perm/sys:user:add` for a perm. It is needed because
nginx sees only the status of an answer, and Gatehouse's own users/me never says 403.
Run it beside nginx: granian --interface asgi --port 8001 sidecar:app
"""

import os
from typing import Any

from gatehouse.verify import EndedSessions, Forbidden, Verifier
from gatehouse.verify.asgi import Guarded

GATEHOUSE = os.environ.get("GATEHOUSE_URL", "http://127.0.0.1:8000")


async def allow(scope: Any, receive: Any, send: Any) -> None:
    """Reached by holders of a good token only."""
    principal = scope["principal"]
    try:
        match scope["path"].split("/")[1:]:
            case [""]:
                pass
            case ["role", role]:
                principal.require_role(role)
            case ["perm", perm]:
                principal.require(perm)
            case _:
                raise Forbidden("nothing is known under this path")
        status, headers = 204, [(b"x-user-id", str(principal.user_id).encode())]
    except Forbidden:
        status, headers = 403, []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


ended = EndedSessions(f"{GATEHOUSE}/events/ended-sessions/stream", os.environ["GATEHOUSE_SERVICE_KEY"])
verifier = Verifier(
    f"{GATEHOUSE}/.well-known/jwks.json",
    issuer=GATEHOUSE,
    perms_in_token=True,
    ended_sessions=ended,
    token_type=os.environ.get("GATEHOUSE_TOKEN_TYPE", "at+jwt"),
)
app = Guarded(allow, verifier)

"""Answers `auth_request` of nginx: may the holder of this token in? 204, 401 or 403.

`GET /role/ADMIN` asks for a role. It is needed because nginx sees only the status of an answer, and Gatehouse's own
users/me never says 403. Run it beside nginx: granian --interface asgi --port 8001 sidecar:app
"""

import os
from typing import Any

from gatehouse.verify import Forbidden, Verifier
from gatehouse.verify.asgi import Guarded

GATEHOUSE = os.environ.get("GATEHOUSE_URL", "http://127.0.0.1:8000")


async def allow(scope: Any, receive: Any, send: Any) -> None:
    """Reached by holders of a good token only."""
    _, _, role = scope["path"].partition("/role/")
    principal = scope["principal"]
    try:
        principal.require_role(role)
        status, headers = 204, [(b"x-user-id", str(principal.user_id).encode())]
    except Forbidden:
        status, headers = 403, []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


app = Guarded(allow, Verifier(f"{GATEHOUSE}/.well-known/jwks.json", issuer=GATEHOUSE))

"""For other services: verifies an access token and tells whose it is.

Offline, with the public keys of the service; a logout shows when the token expires:

    verifier = Verifier("https://login.example.com/.well-known/jwks.json", issuer="https://login.example.com")
    principal = verifier.check(token)
    principal.require_role("ADMIN")

Offline and following the sessions that end, with a service key; a logout shows within a second:

    ended = EndedSessions("https://login.example.com/events/ended-sessions/stream", service_key)
    verifier = Verifier(..., ended_sessions=ended)

Or by asking each time, with a service key; a logout shows at once, and perms are known:

    introspector = Introspector("https://login.example.com/oauth2/introspect", service_key)
    introspector.check(token).require("sys:user:add")

Both have `check` for threads and `check_async` for tasks. `gatehouse.verify.asgi` guards a whole ASGI application,
`gatehouse.verify.fastapi` single operations. Needs PyJWT and cryptography, and nothing of the server.
"""

from gatehouse.verify.ended_sessions import EndedSessions
from gatehouse.verify.errors import Forbidden, PermsUnknown, TokenInvalid, Unavailable, VerifyError
from gatehouse.verify.introspection import Introspector
from gatehouse.verify.keys import KeySet
from gatehouse.verify.principal import Checker, Principal
from gatehouse.verify.verifier import Verifier

__all__ = [
    "Checker",
    "EndedSessions",
    "Forbidden",
    "Introspector",
    "KeySet",
    "PermsUnknown",
    "Principal",
    "TokenInvalid",
    "Unavailable",
    "Verifier",
    "VerifyError",
]

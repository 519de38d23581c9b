"""A FastAPI service that trusts the tokens of Gatehouse: checked offline, and a logout is known within a second."""

import os
from typing import Annotated

from fastapi import Depends, FastAPI

from gatehouse.verify import EndedSessions, Principal, Verifier
from gatehouse.verify.fastapi import Guard

GATEHOUSE = os.environ.get("GATEHOUSE_URL", "http://127.0.0.1:8000")

ended = EndedSessions(f"{GATEHOUSE}/events/ended-sessions/stream", os.environ["GATEHOUSE_SERVICE_KEY"])
# The address is also the issuer. If Gatehouse has a GATEHOUSE_ISSUER of its own, give that one.
verifier = Verifier(
    f"{GATEHOUSE}/.well-known/jwks.json",
    issuer=GATEHOUSE,
    perms_in_token=True,
    ended_sessions=ended,
    token_type=os.environ.get("GATEHOUSE_TOKEN_TYPE", "at+jwt"),
)
guard = Guard(verifier)

app = FastAPI()
guard.install(app)


@app.get("/hello")
async def hello(principal: Annotated[Principal, Depends(guard.principal)]) -> dict[str, int]:
    return {"userId": principal.user_id}


@app.get("/report", dependencies=[Depends(guard.require_role("ADMIN"))])
async def report() -> dict[str, str]:
    return {"report": "all is well"}


@app.post("/users")
async def add_user(principal: Annotated[Principal, Depends(guard.require("sys:user:add"))]) -> dict[str, str | None]:
    return {"addedBy": principal.username}

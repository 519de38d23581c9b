"""A FastAPI service that trusts the tokens of Gatehouse: offline by role, by introspection for perms."""

import os
from typing import Annotated

from fastapi import Depends, FastAPI

from gatehouse.verify import Introspector, Principal, Verifier
from gatehouse.verify.fastapi import Guard

GATEHOUSE = os.environ.get("GATEHOUSE_URL", "http://127.0.0.1:8000")

# Offline: no request to Gatehouse, and a logout shows when the token expires.
offline = Guard(Verifier(f"{GATEHOUSE}/.well-known/jwks.json", issuer=GATEHOUSE))
# Asked each time: a logout shows at once, and perms are known.
asked = Guard(Introspector(f"{GATEHOUSE}/oauth2/introspect", os.environ["GATEHOUSE_SERVICE_KEY"]))

app = FastAPI()
offline.install(app)


@app.get("/hello")
async def hello(principal: Annotated[Principal, Depends(offline.principal)]) -> dict[str, int]:
    return {"userId": principal.user_id}


@app.get("/report", dependencies=[Depends(offline.require_role("ADMIN"))])
async def report() -> dict[str, str]:
    return {"report": "all is well"}


@app.post("/users")
async def add_user(principal: Annotated[Principal, Depends(asked.require("sys:user:add"))]) -> dict[str, str | None]:
    return {"addedBy": principal.username}

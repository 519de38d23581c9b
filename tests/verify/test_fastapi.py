"""The FastAPI guard: mistakes of the programmer show when the program starts, refusals carry status and headers."""

from typing import Annotated

import httpx
import pytest
from fastapi import Depends, FastAPI

from gatehouse.verify import PermsUnknown, Principal, TokenInvalid, Verifier
from gatehouse.verify.fastapi import Guard
from tests.verify.issuer import ISSUER, Issuer


class Counted:
    """A checker that counts how often it is asked."""

    knows_perms = True

    def __init__(self, principal: Principal) -> None:
        self._principal = principal
        self.asked = 0

    def check(self, token: str) -> Principal:
        raise TokenInvalid("only asked by tasks here")

    async def check_async(self, token: str) -> Principal:
        self.asked += 1
        return self._principal


def test_a_perm_without_introspection_is_refused_when_the_program_starts() -> None:
    with Issuer() as issuer, pytest.raises(PermsUnknown):
        Guard(Verifier(issuer.url, ISSUER)).require("sys:user:add")


async def test_a_token_is_checked_once_a_request() -> None:
    checker = Counted(Principal(7, "7-x", frozenset({"ADMIN"}), 0, frozenset({"a:b:c"})))
    guard, app = Guard(checker), FastAPI()
    guard.install(app)

    @app.get("/", dependencies=[Depends(guard.require("a:b:c")), Depends(guard.require_role("ADMIN", "OTHER"))])
    async def who(principal: Annotated[Principal, Depends(guard.principal)]) -> int:
        return principal.user_id

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://there") as client:
        answer = await client.get("/", headers={"Authorization": "Bearer x"})
        assert (answer.status_code, answer.json(), checker.asked) == (200, 7, 1)
        refused = await client.get("/")
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert refused.headers["cache-control"] == "no-store"

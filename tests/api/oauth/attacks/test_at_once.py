"""Many at once on two workers: a code, a refresh token and an assertion are used once, and a logout wins."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import httpx
import jwt
import pytest

from gatehouse.auth.audit import ClientInfo
from gatehouse.auth.oauth.authorization_codes import CodeContent
from gatehouse.auth.oauth.definitions import ClientAuth, ClientConfig
from gatehouse.auth.oauth.grants import new_grant_id
from gatehouse.composition import Service
from gatehouse.management.authority import Actor
from gatehouse.management.oauth_clients import ClientDraft
from tests.api.oauth.application import CALLBACK, CHALLENGE, SCOPES, VERIFIER
from tests.support.conversation import LOGOUT, bearer, login
from tests.support.people import with_stores
from tests.support.running import Running
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.every_engine

TOKEN = "/oauth2/token"


def grant(server: Running, client_id: str, session: str = "") -> str:
    """A code for a new public client, as the authorize page makes it; in a session of its own unless one is given."""

    async def made(service: Service) -> str:
        config = ClientConfig(auth=ClientAuth.NONE, redirect_uris=(CALLBACK,), id_token_alg="ES256")
        await service.management.client_changes.add(Actor(None), client_id, ClientDraft(name=client_id, config=config))
        client = await service.oauth.clients.find(client_id)
        assert client is not None
        opened = session or (await service.sessions.open(1, ClientInfo(), ("pwd",)))[0].id
        content = CodeContent(client.id, CALLBACK, CHALLENGE, "n", SCOPES, opened, new_grant_id(1))
        return service.oauth.codes.make(content)

    return with_stores(server, made)


def exchange(client_id: str, code: str) -> dict[str, Any]:
    form = {"grant_type": "authorization_code", "client_id": client_id, "code": code, "redirect_uri": CALLBACK}
    return {"method": "POST", "url": TOKEN, "data": {**form, "code_verifier": VERIFIER}}


def refresh(client_id: str, token: str) -> dict[str, Any]:
    form = {"grant_type": "refresh_token", "client_id": client_id, "refresh_token": token}
    return {"method": "POST", "url": TOKEN, "data": form}


async def at_once(server: Running, requests: list[dict[str, Any]]) -> list[httpx.Response]:
    """Each on a connection of its own, so that the workers share them."""
    limits = httpx.Limits(max_connections=len(requests), max_keepalive_connections=0)
    async with httpx.AsyncClient(base_url=server.url, timeout=PATIENCE, limits=limits) as client:
        return await asyncio.gather(*(client.request(**request) for request in requests))


def test_of_many_who_bring_one_code_nobody_keeps_anything(server: Running) -> None:
    code = grant(server, "racing")
    answers = asyncio.run(at_once(server, [exchange("racing", code)] * 16))
    assert Counter(answer.status_code for answer in answers)[200] <= 1
    with server.client() as client:
        for tokens in (answer.json() for answer in answers if answer.status_code == 200):
            headers = {"authorization": f"Bearer {tokens['access_token']}"}
            assert client.get("/oauth2/userinfo", headers=headers).status_code == 401
            assert client.request(**refresh("racing", tokens["refresh_token"])).status_code == 400


def test_of_many_who_bring_one_refresh_token_all_get_the_same(server: Running) -> None:
    """Two tabs, or an answer that was lost: nobody is taken for a thief, and there is one successor."""
    with server.client() as client:
        tokens = client.request(**exchange("tabs", grant(server, "tabs"))).json()
        answers = asyncio.run(at_once(server, [refresh("tabs", tokens["refresh_token"])] * 16))
        assert {answer.status_code for answer in answers} == {200}
        [successor] = {answer.json()["refresh_token"] for answer in answers}
        assert client.request(**refresh("tabs", successor)).status_code == 200


def test_whoever_exchanges_a_code_while_somebody_logs_out_keeps_nothing(server: Running) -> None:
    with server.client() as client:
        own = login(client)
        sid = jwt.decode(own["accessToken"], options={"verify_signature": False})["sid"]
        code = grant(server, "leaving", sid)
        requests = [exchange("leaving", code), {"method": "POST", "url": LOGOUT, "headers": bearer(own)}]
        exchanged, left = asyncio.run(at_once(server, requests))
        assert left.status_code == 200
        if exchanged.status_code == 200:
            tokens = exchanged.json()
            headers = {"authorization": f"Bearer {tokens['access_token']}"}
            assert client.get("/oauth2/userinfo", headers=headers).status_code == 401
            assert client.request(**refresh("leaving", tokens["refresh_token"])).status_code == 400
        assert client.request(**exchange("leaving", code)).status_code == 400

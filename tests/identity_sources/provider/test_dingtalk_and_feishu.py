"""Against stand-ins that answer as the public documentation of both says; neither was tried against the real one."""

from __future__ import annotations

import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from gatehouse.identity_sources.clients import CallbackRefused, Provider
from gatehouse.identity_sources.definitions import Mapping, ProviderConfig, SourceKind
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.identity_sources.provider.open_provider import open_provider
from tests.identity_sources.provider.loopback_server import Asked, LoopbackServer, Reply, json_reply

CLIENT_ID, SECRET, CODE, CALLBACK = "app-1", "a secret", "code-1", "https://gatehouse.example/callback"


class DingTalkStandIn(LoopbackServer):
    kind = SourceKind.DINGTALK
    token_path, person_path = "/v1.0/oauth2/userAccessToken", "/v1.0/contact/users/me"

    def __init__(self) -> None:
        super().__init__()
        self.person: dict[str, Any] = {
            "nick": "张三",
            "unionId": "union-1",
            "openId": "open-1",
            "email": "zhang@example.org",
            "mobile": "13000000000",
            "stateCode": "86",
            "avatarUrl": "https://example.org/a.png",
        }
        self.routes = {self.token_path: self._token, self.person_path: self._person}

    def callback(self, asked: dict[str, str]) -> dict[str, str]:
        assert asked["scope"] in ("openid", "openid corpid")
        assert asked["prompt"] == "consent"
        assert asked["client_id"] == CLIENT_ID
        assert "code_challenge" not in asked
        return {"authCode": CODE, "state": asked["state"]}

    def _token(self, asked: Asked) -> Reply:
        if asked.json["clientId"] != CLIENT_ID or asked.json["clientSecret"] != SECRET:
            return json_reply({"code": "invalidClientSecret", "message": "不合法的clientSecret"}, 400)
        if asked.json["code"] != CODE or asked.json["grantType"] != "authorization_code":
            return json_reply({"code": "invalidParameter.authCode.notFound", "message": "不存在的临时授权码"}, 400)
        return json_reply({"expireIn": 7200, "accessToken": "token-1", "refreshToken": "r", "corpId": "company-1"})

    def _person(self, asked: Asked) -> Reply:
        if asked.headers.get("x-acs-dingtalk-access-token") != "token-1":
            return json_reply({"code": "InvalidAuthentication", "message": "不合法的access_token"}, 401)
        return json_reply(self.person)


class FeishuStandIn(LoopbackServer):
    kind = SourceKind.FEISHU
    token_path, person_path = "/open-apis/authen/v2/oauth/token", "/open-apis/authen/v1/user_info"

    def __init__(self) -> None:
        super().__init__()
        self.challenge = ""
        self.person: dict[str, Any] = {
            "name": "张三",
            "en_name": "Zhang San",
            "open_id": "open-1",
            "union_id": "union-1",
            "email": "zhang@example.org",
            "mobile": "+8613000000000",
            "tenant_key": "company-1",
        }
        self.routes = {self.token_path: self._token, self.person_path: self._person}

    def callback(self, asked: dict[str, str]) -> dict[str, str]:
        assert asked["client_id"] == CLIENT_ID
        assert "scope" not in asked
        assert asked["code_challenge_method"] == "S256"
        self.challenge = asked["code_challenge"]
        return {"code": CODE, "state": asked["state"]}

    def _token(self, asked: Asked) -> Reply:
        body = asked.json
        if body["client_id"] != CLIENT_ID or body["client_secret"] != SECRET:
            return self._refuse(20002, "invalid_client", "The client secret is invalid.")
        if body["code"] != CODE or body["redirect_uri"] != CALLBACK:
            return self._refuse(20003, "invalid_grant", "The authorization code is not found.")
        digest = sha256(body["code_verifier"].encode()).digest()
        if urlsafe_b64encode(digest).decode().rstrip("=") != self.challenge:
            return self._refuse(20049, "invalid_grant", "PKCE code challenge failed.")
        return json_reply({"code": 0, "access_token": "token-1", "expires_in": 7200, "token_type": "Bearer"})

    def _refuse(self, code: int, error: str, why: str) -> Reply:
        return json_reply({"code": code, "error": error, "error_description": why}, 400)

    def _person(self, asked: Asked) -> Reply:
        if asked.headers.get("Authorization") != "Bearer token-1":
            return json_reply({"code": 20005, "msg": "The user access token passed is invalid."})
        return json_reply({"code": 0, "msg": "success", "data": self.person})


StandIn = DingTalkStandIn | FeishuStandIn


@pytest.fixture(params=[DingTalkStandIn, FeishuStandIn])
def stand_in(request: pytest.FixtureRequest) -> Iterator[StandIn]:
    with request.param() as server:
        yield server


def client(server: StandIn, secret: str = SECRET, **values: Any) -> Provider:
    config = ProviderConfig(**{"client_id": CLIENT_ID, "base_url": server.url, **values})
    return open_provider(server.kind, config, secret, time.time)


async def log_in(server: StandIn, provider: Provider, **changes: str) -> Any:
    request = await provider.begin(CALLBACK)
    query = {name: values[0] for name, values in parse_qs(urlsplit(request.url).query).items()}
    return await provider.complete({**server.callback(query), **changes}, request, CALLBACK)


async def test_somebody_logs_in(stand_in: StandIn) -> None:
    login = await log_in(stand_in, client(stand_in))
    assert (login.person.subject, login.person.name, login.person.issuer) == ("union-1", "张三", stand_in.url)
    assert login.person.attributes["email"] == ("zhang@example.org",)
    assert login.id_token == ""
    login = await log_in(stand_in, client(stand_in, mapping=Mapping(username="email")))
    assert login.person.name == "zhang@example.org"


async def test_people_of_another_company_are_refused(stand_in: StandIn) -> None:
    assert (await log_in(stand_in, client(stand_in, tenant="company-1"))).person.subject == "union-1"
    with pytest.raises(CallbackRefused, match="another company") as refused:
        await log_in(stand_in, client(stand_in, tenant="company-2"))
    assert refused.value.code == "access_denied"


async def test_what_the_browser_brings_is_checked(stand_in: StandIn) -> None:
    provider = client(stand_in)
    with pytest.raises(CallbackRefused, match="state"):
        await log_in(stand_in, provider, state="another")
    with pytest.raises(CallbackRefused, match="refuses") as refused:
        await log_in(stand_in, provider, error="access_denied")
    assert refused.value.code == "access_denied"
    assert stand_in.times(stand_in.token_path) == 0
    with pytest.raises(CallbackRefused) as refused:
        await log_in(stand_in, provider, code="stolen", authCode="stolen")
    assert refused.value.code == "invalid_grant"


async def test_a_wrong_secret_is_a_matter_of_the_configuration(stand_in: StandIn) -> None:
    with pytest.raises(SourceUnavailable, match="ecret"):
        await log_in(stand_in, client(stand_in, secret="wrong"))


async def test_answers_that_name_nobody_let_nobody_in(stand_in: StandIn) -> None:
    provider = client(stand_in)
    for person in ({}, {"unionId": "", "union_id": ""}):
        stand_in.person = person
        with pytest.raises(SourceUnavailable, match="names nobody"):
            await log_in(stand_in, provider)
    stand_in.person = {"unionId": 7, "union_id": 7}
    with pytest.raises(CallbackRefused):
        await log_in(stand_in, provider)
    for reply in (json_reply({}), json_reply({"code": 0, "data": []}, 500), Reply(b"<html>", content_type="text/html")):
        stand_in.routes[stand_in.person_path] = lambda _, reply=reply: reply  # type: ignore[misc]
        with pytest.raises(SourceUnavailable):
            await log_in(stand_in, provider)
    stand_in.routes[stand_in.token_path] = lambda _: json_reply({"code": 0})
    with pytest.raises(SourceUnavailable, match="token"):
        await log_in(stand_in, provider)


async def test_feishu_says_with_status_200_that_somebody_has_left() -> None:
    with FeishuStandIn() as server:
        server.routes[server.person_path] = lambda _: json_reply({"code": 20021, "msg": "User resigned"})
        with pytest.raises(CallbackRefused, match="User resigned") as refused:
            await log_in(server, client(server))
        assert refused.value.code == "access_denied"
        server.routes[server.person_path] = lambda _: json_reply({"code": 20005, "msg": "invalid"})
        with pytest.raises(SourceUnavailable, match="20005"):
            await log_in(server, client(server))


async def test_the_test_tells_a_known_client_from_an_unknown_one(stand_in: StandIn) -> None:
    for secret, works in ((SECRET, True), ("wrong", False)):
        steps = [step async for step in client(stand_in, secret).test()]
        assert [(step.step, step.works) for step in steps] == [("token", works)]


async def test_slow_and_stopped(stand_in: StandIn) -> None:
    provider = client(stand_in, timeout=0.2)
    stand_in.hold.clear()
    with pytest.raises(SourceUnavailable, match="does not answer within"):
        await log_in(stand_in, provider)
    stand_in.stop()
    with pytest.raises(SourceUnavailable, match="cannot be reached"):
        await log_in(stand_in, provider)


async def test_neither_has_a_logout(stand_in: StandIn) -> None:
    provider = client(stand_in)
    assert await provider.logout_url("", CALLBACK, "state") is None
    with pytest.raises(CallbackRefused):
        await provider.read_logout_token("a.b.c")
    await provider.close()


async def test_the_usual_addresses() -> None:
    for kind, start in (
        (SourceKind.DINGTALK, "https://login.dingtalk.com/oauth2/auth?response_type=code&"),
        (SourceKind.FEISHU, "https://accounts.feishu.cn/open-apis/authen/v1/authorize?response_type=code&"),
    ):
        request = await open_provider(kind, ProviderConfig(client_id="a"), "", time.time).begin(CALLBACK)
        assert request.url.startswith(start)

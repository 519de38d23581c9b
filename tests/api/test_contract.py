"""The contract, both variants, over a real socket: what a front end of this family notices."""

from __future__ import annotations

import base64
import io
import re
import time
from collections.abc import Callable
from typing import Any

import httpx
import jwt
import pytest
from PIL import Image

from tests.support.conversation import (
    CAPTCHA,
    LOGIN,
    LOGOUT,
    ME,
    REFRESH,
    assert_failure,
    bearer,
    captcha_id,
    credentials,
    login,
    refresh,
)
from tests.support.running import ANSWER, PASSWORD

PERM = re.compile(r"[^:]+:[^:]+:[^:]+")


def test_captcha_carries_both_variants(client: httpx.Client) -> None:
    answer = client.get(CAPTCHA)
    assert answer.status_code == 200
    body = answer.json()
    assert set(body) == {"code", "msg", "data"}
    assert body["code"] == "00000"
    data = body["data"]
    assert set(data) == {"captchaKey", "captchaImage", "captchaId", "captchaBase64"}
    assert data["captchaKey"] == data["captchaId"]
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", data["captchaId"])
    assert data["captchaImage"] == data["captchaBase64"]
    kind, _, encoded = data["captchaImage"].partition(",")
    assert kind == "data:image/png;base64"
    Image.open(io.BytesIO(base64.b64decode(encoded, validate=True))).verify()


@pytest.mark.parametrize("name", ["captchaKey", "captchaId"])
def test_login_takes_either_name_of_the_captcha(client: httpx.Client, name: str) -> None:
    body = credentials(client, captchaId=None) | {name: captcha_id(client)}
    answer = client.post(LOGIN, json=body)
    assert answer.status_code == 200
    data = answer.json()["data"]
    assert set(data) == {"accessToken", "refreshToken", "tokenType", "expiresIn"}
    assert data["tokenType"] == "Bearer"
    assert data["expiresIn"] == 7200
    assert isinstance(data["expiresIn"], int)
    assert data["accessToken"].count(".") == 2


FORMS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "urlencoded": lambda fields: {"data": fields},
    "multipart": lambda fields: {"files": {name: (None, value) for name, value in fields.items()}},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("key", "code"), [("captchaKey", "captchaCode"), ("captchaId", "captchaCode"), ("verifyCodeKey", "verifyCode")]
)
def test_login_and_refresh_take_forms(client: httpx.Client, form: str, key: str, code: str) -> None:
    fields = {"username": "admin", "password": PASSWORD, key: captcha_id(client), code: ANSWER}
    answer = client.post(LOGIN, **FORMS[form](fields))
    assert answer.status_code == 200, answer.text
    tokens = answer.json()["data"]
    assert client.get(ME, headers=bearer(tokens)).status_code == 200
    renewed = client.post(REFRESH, **FORMS[form]({"refreshToken": tokens["refreshToken"]}))
    assert renewed.status_code == 200, renewed.text
    assert renewed.json()["data"]["refreshToken"] != tokens["refreshToken"]
    by_query = client.post(REFRESH, params={"refreshToken": renewed.json()["data"]["refreshToken"]})
    assert by_query.status_code == 200


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_checked_like_json(client: httpx.Client, form: str) -> None:
    def post(**changes: str) -> httpx.Response:
        return client.post(LOGIN, **FORMS[form](credentials(client, **changes)))

    assert_failure(post(password="wrong"), 400, "A0210")
    assert_failure(post(captchaCode="zzzz"), 400, "A0240")
    assert_failure(post(username=""), 400, "A0410")
    assert_failure(post(username="x" * 65), 400, "A0421")
    assert_failure(post(captchaKey=captcha_id(client)), 400, "A0421")
    assert_failure(post(verifyCodeKey=captcha_id(client)), 400, "A0421")
    assert_failure(post(verifyCode="zzzz"), 400, "A0421")
    assert_failure(post(password="x" * 70_000), 413, "A0400")
    assert_failure(client.post(REFRESH, **FORMS[form]({"refreshToken": "x"})), 401, "A0231")


def test_a_form_carries_no_file(client: httpx.Client) -> None:
    fields: dict[str, tuple[str | None, str]] = {name: (None, value) for name, value in credentials(client).items()}
    answer = client.post(LOGIN, files=fields | {"password": ("password.txt", PASSWORD)})
    assert_failure(answer, 400, "A0421")
    assert client.post(LOGIN, files=fields).status_code == 200


def test_login_takes_both_names_if_they_are_equal(client: httpx.Client) -> None:
    given = captcha_id(client)
    assert login(client, captchaKey=given, captchaId=given)["accessToken"]


def test_login_refuses_two_different_captchas_and_uses_up_neither(client: httpx.Client) -> None:
    first, second = captcha_id(client), captcha_id(client)
    answer = client.post(LOGIN, json=credentials(client, captchaKey=first, captchaId=second))
    assert_failure(answer, 400, "A0421")
    assert login(client, captchaKey=first, captchaId=None)["accessToken"]


@pytest.mark.parametrize("typed", [ANSWER.upper(), ANSWER.lower(), f" {ANSWER} "])
def test_captcha_answer_is_read_without_regard_to_case(client: httpx.Client, typed: str) -> None:
    assert login(client, captchaCode=typed)["accessToken"]


def test_username_is_read_without_regard_to_case_and_passwords_are_not(client: httpx.Client) -> None:
    assert login(client, username="ADMIN")["accessToken"]
    body = credentials(client)
    body["password"] = body["password"].upper()
    assert_failure(client.post(LOGIN, json=body), 400, "A0210")


def test_unknown_fields_are_passed_over(client: httpx.Client) -> None:
    assert login(client, rememberMe=True, tenantId=0)["accessToken"]


def test_access_token_is_a_signed_jwt_that_others_can_check(client: httpx.Client) -> None:
    tokens = login(client)
    header = jwt.get_unverified_header(tokens["accessToken"])
    assert (header["alg"], header["typ"]) == ("ES256", "at+jwt")
    [key] = [key for key in client.get("/.well-known/jwks.json").json()["keys"] if key["kid"] == header["kid"]]
    assert "d" not in key
    claims = jwt.decode(tokens["accessToken"], jwt.PyJWK(key), algorithms=["ES256"], audience="gatehouse")
    assert claims["sub"] == "1"
    assert claims["exp"] - claims["iat"] == 7200
    assert claims["roles"] == ["ADMIN"]
    assert {"iss", "sid", "jti"} <= set(claims)


def test_current_user(client: httpx.Client) -> None:
    answer = client.get(ME, headers=bearer(login(client)))
    assert answer.status_code == 200
    user = answer.json()["data"]
    assert set(user) == {"userId", "username", "nickname", "avatar", "deptId", "roles", "perms"}
    assert type(user["userId"]) is int
    assert type(user["deptId"]) is int
    assert user["username"] == "admin"
    assert user["roles"] == ["ADMIN"]
    assert user["perms"]
    assert all(PERM.fullmatch(perm) for perm in user["perms"])
    picture = client.get(user["avatar"])
    assert picture.status_code == 200
    assert picture.headers["content-type"] == "image/svg+xml"


def test_refresh_in_both_variants_rotates(client: httpx.Client) -> None:
    tokens = login(client)
    by_body = client.post(REFRESH, json={"refreshToken": tokens["refreshToken"]})
    assert by_body.status_code == 200
    second = by_body.json()["data"]
    by_query = client.post(REFRESH, params={"refreshToken": second["refreshToken"]})
    assert by_query.status_code == 200
    third = by_query.json()["data"]
    assert len({tokens["refreshToken"], second["refreshToken"], third["refreshToken"]}) == 3
    assert set(third) == {"accessToken", "refreshToken", "tokenType", "expiresIn"}
    for each in (tokens, second, third):
        assert client.get(ME, headers=bearer(each)).status_code == 200


def test_refresh_takes_body_and_query_only_if_they_agree(client: httpx.Client) -> None:
    one, other = login(client)["refreshToken"], login(client)["refreshToken"]
    differing = client.post(REFRESH, params={"refreshToken": one}, json={"refreshToken": other})
    assert_failure(differing, 400, "A0421")
    twice = client.post(f"{REFRESH}?refreshToken={one}&refreshToken={other}")
    assert_failure(twice, 400, "A0421")
    agreeing = client.post(REFRESH, params={"refreshToken": one}, json={"refreshToken": one})
    assert agreeing.status_code == 200


@pytest.mark.parametrize(
    "headers", [{}, {"content-type": "application/json"}, {"content-type": "application/x-www-form-urlencoded"}]
)
def test_refresh_by_query_needs_no_body_whatever_the_media_type(client: httpx.Client, headers: dict[str, str]) -> None:
    token = login(client)["refreshToken"]
    assert client.post(REFRESH, params={"refreshToken": token}, headers=headers).status_code == 200


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_logout_in_both_variants_ends_all_tokens_of_the_session_at_once(client: httpx.Client, method: str) -> None:
    first = login(client)
    second = refresh(client, first).json()["data"]
    other = login(client)
    answer = client.request(method, LOGOUT, headers=bearer(second))
    assert answer.status_code == 200
    assert set(answer.json()) == {"code", "msg"}
    for tokens in (first, second):
        assert_failure(client.get(ME, headers=bearer(tokens)), 401, "A0230")
        assert_failure(refresh(client, tokens), 401, "A0231")
        assert_failure(client.request(method, LOGOUT, headers=bearer(tokens)), 401, "A0230")
    assert client.get(ME, headers=bearer(other)).status_code == 200


def test_the_parent_of_the_current_token_is_answered_with_the_current_one(client: httpx.Client) -> None:
    tokens = login(client)
    second = refresh(client, tokens).json()["data"]
    again = refresh(client, tokens).json()["data"]
    assert again["refreshToken"] == second["refreshToken"]
    assert again["accessToken"] != second["accessToken"]


def test_an_older_token_is_theft_and_the_end_is_stored(client: httpx.Client) -> None:
    first = login(client)
    second = refresh(client, first).json()["data"]
    third = refresh(client, second).json()["data"]
    assert_failure(refresh(client, first), 401, "A0231")
    assert_failure(refresh(client, third), 401, "A0231")
    assert_failure(client.get(ME, headers=bearer(third)), 401, "A0230")


def test_neither_token_passes_for_the_other(client: httpx.Client) -> None:
    tokens = login(client)
    assert_failure(client.get(ME, headers=bearer(tokens["refreshToken"])), 401, "A0230")
    assert_failure(refresh(client, tokens["accessToken"]), 401, "A0231")
    assert client.get(ME, headers=bearer(tokens)).status_code == 200


def test_a_stale_token_does_not_break_captcha_login_or_refresh(client: httpx.Client) -> None:
    stale = {"Authorization": "Bearer stale.stale.stale"}
    assert client.get(CAPTCHA, headers=stale).status_code == 200
    answer = client.post(LOGIN, json=credentials(client), headers=stale)
    assert answer.status_code == 200
    token = answer.json()["data"]["refreshToken"]
    assert client.post(REFRESH, json={"refreshToken": token}, headers=stale).status_code == 200


def test_captcha_is_used_up_by_the_first_login_that_names_it(client: httpx.Client) -> None:
    used = captcha_id(client)
    assert_failure(client.post(LOGIN, json=credentials(client, captchaId=used, captchaCode="zzzz")), 400, "A0240")
    assert_failure(client.post(LOGIN, json=credentials(client, captchaId=used)), 400, "A0242")
    assert_failure(client.post(LOGIN, json=credentials(client, captchaId=used.upper())), 400, "A0242")


def test_a_wrong_password_uses_up_the_captcha_too(client: httpx.Client) -> None:
    used = captcha_id(client)
    assert_failure(client.post(LOGIN, json=credentials(client, captchaId=used, password="wrong")), 400, "A0210")
    assert_failure(client.post(LOGIN, json=credentials(client, captchaId=used)), 400, "A0242")


def test_unknown_name_and_wrong_password_have_the_same_answer(client: httpx.Client) -> None:
    wrong = client.post(LOGIN, json=credentials(client, password="wrong"))
    unknown = client.post(LOGIN, json=credentials(client, username="nobody"))
    assert_failure(wrong, 400, "A0210")
    assert wrong.content == unknown.content


def test_every_answer_bears_the_headers_of_the_contract(client: httpx.Client) -> None:
    tokens = login(client)
    answers = [
        client.get(CAPTCHA),
        client.post(LOGIN, json={}),
        client.get(ME, headers=bearer(tokens)),
        client.get(ME),
        client.get("/api/v1/nothing"),
        client.put(LOGIN),
    ]
    for answer in answers:
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert len({answer.headers["x-request-id"] for answer in answers}) == len(answers)


def test_a_missing_access_token_is_told_how_to_authenticate(client: httpx.Client) -> None:
    for answer in (client.get(ME), client.post(LOGOUT), client.delete(LOGOUT)):
        assert_failure(answer, 401, "A0230")
        assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "path", ["/api/v1", "/api/v1/", "/api/v1/auth", "/api/v1/users/me/", "/api/v1/users/1/x", "/api/v1/auth/captcha/x"]
)
def test_the_envelope_holds_on_unknown_paths(client: httpx.Client, path: str) -> None:
    assert_failure(client.get(path), 404, "C0113")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", CAPTCHA, {"GET"}),
        ("GET", LOGIN, {"POST"}),
        ("DELETE", REFRESH, {"POST"}),
        ("GET", LOGOUT, {"POST", "DELETE"}),
        ("POST", ME, {"GET"}),
        ("TRACE", ME, {"GET"}),
        ("BREW", ME, {"GET"}),
    ],
)
def test_a_wrong_method_is_told_the_right_ones(client: httpx.Client, method: str, path: str, allowed: set[str]) -> None:
    answer = client.request(method, path)
    assert_failure(answer, 405, "C0113")
    assert {name.strip() for name in answer.headers["allow"].split(",")} == allowed


def test_outside_the_api_a_missing_path_is_plain_text(client: httpx.Client) -> None:
    answer = client.get("/no/such/page")
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["x-request-id"]


@pytest.mark.parametrize(
    ("accepted", "chinese"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", True),
        ("zh", True),
        ("en-US,en;q=0.9,zh;q=0.5", False),
        ("fr", False),
        ("zh;q=0, en", False),
        ("*", False),
        (";;;q=x,zh;q=nonsense", False),
    ],
)
def test_messages_are_chinese_where_that_is_preferred(client: httpx.Client, accepted: str, chinese: bool) -> None:
    for answer in (
        client.get(ME, headers={"Accept-Language": accepted}),
        client.get(ME, headers={"Accept-Language": accepted, **bearer(login(client))}),
    ):
        assert (not answer.json()["msg"].isascii()) is chinese


def test_no_origin_is_answered_by_default(client: httpx.Client) -> None:
    headers = {"Origin": "https://console.example.com", "Access-Control-Request-Method": "POST"}
    assert_failure(client.options(LOGIN, headers=headers), 405, "C0113")
    for answer in (client.options(LOGIN, headers=headers), client.get(CAPTCHA, headers=headers)):
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_sessions_of_a_user_are_listed_and_ended(client: httpx.Client) -> None:
    mine = login(client)
    other = login(client)
    listed = client.get(f"{ME}/sessions", headers=bearer(mine)).json()["data"]["sessions"]
    assert [session["current"] for session in listed].count(True) == 1
    [other_id] = [session["id"] for session in listed[:2] if not session["current"]]
    assert client.delete(f"{ME}/sessions/{other_id}", headers=bearer(mine)).json()["code"] == "00000"
    assert_failure(client.get(ME, headers=bearer(other)), 401, "A0230")
    assert_failure(client.delete(f"{ME}/sessions/{other_id}", headers=bearer(mine)), 404, "C0113")
    assert client.get(ME, headers=bearer(mine)).status_code == 200


def test_the_first_answer_names_the_time_in_utc(client: httpx.Client) -> None:
    tokens = login(client)
    [current] = [
        session
        for session in client.get(f"{ME}/sessions", headers=bearer(tokens)).json()["data"]["sessions"]
        if session["current"]
    ]
    opened = time.strptime(current["openedAt"], "%Y-%m-%dT%H:%M:%SZ")
    assert abs(time.mktime(opened) - time.mktime(time.gmtime())) < 60


@pytest.mark.parametrize("name", ["openid-configuration", "oauth-authorization-server"])
def test_a_service_that_knows_the_issuer_alone_finds_the_keys(client: httpx.Client, name: str) -> None:
    metadata = client.get(f"/.well-known/{name}").json()
    claims = jwt.decode(login(client)["accessToken"], options={"verify_signature": False})
    assert metadata["issuer"] == claims["iss"]
    assert client.get(metadata["jwks_uri"]).json()["keys"][0]["use"] == "sig"
    assert client.post(metadata["introspection_endpoint"]).status_code == 401  # it is there, and asks for a service key
    assert metadata["response_types_supported"] == ["code"]

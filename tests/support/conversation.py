"""The contract in the words of a client: short helpers that tests of every kind share."""

from __future__ import annotations

from typing import Any

import httpx

from tests.support.running import ANSWER, PASSWORD

CAPTCHA = "/api/v1/auth/captcha"
LOGIN = "/api/v1/auth/login"
REFRESH = "/api/v1/auth/refresh-token"
LOGOUT = "/api/v1/auth/logout"
ME = "/api/v1/users/me"


def captcha_id(client: httpx.Client) -> str:
    return str(client.get(CAPTCHA).json()["data"]["captchaId"])


def credentials(client: httpx.Client, **changes: Any) -> dict[str, Any]:
    """A login body that works, with changes; a change to None leaves the field out."""
    body = {
        "username": "admin",
        "password": PASSWORD,
        "captchaId": captcha_id(client),
        "captchaCode": ANSWER,
        **changes,
    }
    return {name: value for name, value in body.items() if value is not None}


def login(client: httpx.Client, **changes: Any) -> dict[str, Any]:
    """Log in and return the token set."""
    answer = client.post(LOGIN, json=credentials(client, **changes))
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["data"])


def bearer(tokens: dict[str, Any] | str) -> dict[str, str]:
    token = tokens if isinstance(tokens, str) else tokens["accessToken"]
    return {"Authorization": f"Bearer {token}"}


def refresh(client: httpx.Client, tokens: dict[str, Any] | str) -> httpx.Response:
    token = tokens if isinstance(tokens, str) else tokens["refreshToken"]
    return client.post(REFRESH, json={"refreshToken": token})


def assert_failure(answer: httpx.Response, status: int, code: str) -> None:
    assert (answer.status_code, answer.json().get("code")) == (status, code), answer.text
    assert set(answer.json()) == {"code", "msg"}
    assert answer.json()["msg"]
    assert answer.headers["x-request-id"]

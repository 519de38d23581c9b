"""Second factors on the wire: both variants, and several workers where a code must be good once."""

from __future__ import annotations

import itertools
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.terminal import Terminal
from tests.support.conversation import LOGIN, ME, bearer, captcha_id, credentials, login
from tests.support.factors import App, enrol
from tests.support.local import Local
from tests.support.people import add_user
from tests.support.running import ANSWER, PASSWORD, Running

ENROLMENT = "/api/v1/auth/enrolment"

_numbers = itertools.count(1)


@pytest.fixture
def username(service: Local) -> str:
    name = f"factor{next(_numbers)}"
    add_user(service, name)
    return name


def enrolled(client: httpx.Client, username: str) -> tuple[App, list[str]]:
    headers = bearer(login(client, username=username))

    def call(method: str, path: str, body: object) -> dict[str, Any]:
        answer = client.request(method, path, json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        return dict(answer.json()["data"])

    return enrol(call, time.time)


def fresh_code(app: App) -> str:
    """Not the one that enrolment used: the next, which the skew allows already, and for a minute from now."""
    return app.code(1)


@pytest.mark.parametrize("variant", ["captchaKey", "captchaId"])
@pytest.mark.parametrize("place", ["captchaCode", "otpCode", "verifyCode"])
def test_log_in_with_a_code(client: httpx.Client, username: str, variant: str, place: str) -> None:
    app, codes = enrolled(client, username)
    asked = client.post(LOGIN, json=credentials(client, username=username))
    assert (asked.status_code, asked.json()["code"]) == (400, "A0220")
    for code in (fresh_code(app), codes[0]):
        body = {"username": username, "password": PASSWORD, variant: captcha_id(client), "captchaCode": ANSWER}
        if place == "verifyCode":
            body.pop("captchaCode")
        answer = client.post(LOGIN, json=body | {place: code})
        assert answer.status_code == 200, answer.text
        assert answer.json()["data"]["tokenType"] == "Bearer"


def test_a_form_of_the_older_consoles_carries_it_too(client: httpx.Client, username: str) -> None:
    app, _ = enrolled(client, username)
    body = {"username": username, "password": PASSWORD, "verifyCodeKey": captcha_id(client)}
    assert client.post(LOGIN, data=body | {"verifyCode": fresh_code(app)}).status_code == 200


@pytest.mark.every_engine
def test_one_code_opens_one_session_on_all_workers(server: Running) -> None:
    username = f"factor{next(_numbers)}"
    add_user(server, username)
    with server.client() as client:
        app, codes = enrolled(client, username)
        for code in (fresh_code(app), codes[0]):
            bodies = [credentials(client, username=username, captchaCode=code) for _ in range(12)]

            def attempt(body: dict[str, Any]) -> str:
                with server.client() as own:  # a connection of its own, so that every worker gets some
                    return str(own.post(LOGIN, json=body).json()["code"])

            with ThreadPoolExecutor(6) as pool:
                answers = list(pool.map(attempt, bodies))
            assert sorted(answers) == ["00000"] + ["A0210"] * 11
            assert attempt(credentials(client, username=username, captchaCode=code)) == "A0210"


def test_the_operator_resets_it_and_the_password_is_enough_again(
    service: Local, client: httpx.Client, username: str
) -> None:
    _, codes = enrolled(client, username)
    assert client.post(LOGIN, json=credentials(client, username=username)).json()["code"] == "A0220"
    Terminal(service.env)("user", "factor", username, "--reset", "--yes").done()
    assert login(client, username=username)
    gone = client.post(LOGIN, json=credentials(client, username=username, captchaCode=codes[0]))
    assert gone.json()["code"] in {"A0210", "A0240"}, "the recovery codes went with it"


def test_a_chosen_role_must_enrol_and_the_ticket_can_do_nothing_else(tmp_path: Path) -> None:
    with Local(tmp_path / "data", second_factor_roles="ADMIN") as running, running.client() as client:
        refused = client.post(LOGIN, json=credentials(client))
        assert (refused.status_code, refused.json()["code"]) == (400, "A0220")
        ticket = refused.headers["enrolment-ticket"]
        assert client.get(ME, headers={"Authorization": f"Bearer {ticket}"}).status_code == 401
        app = App(client.post(ENROLMENT, json={"ticket": ticket}).json()["data"]["secret"], time.time)
        assert client.put(ENROLMENT, json={"ticket": ticket, "code": app.code()}).status_code == 200
        assert login(client, captchaCode=fresh_code(app))

"""No secret in any line: everything that was written is searched for everything that was used."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.conversation import CAPTCHA, LOGIN, LOGOUT, ME, REFRESH, bearer, credentials, login, refresh
from tests.support.local import Local
from tests.support.running import PASSWORD, Running

ANSWER = "zqxj"  # letters that no hexadecimal number holds
SESSION_ID = re.compile(r"\d+-[\w-]{22}")

WRONG = "a wrong but telling password"
NEW = "a new and telling password"
FORGED = "user\nlevel=critical forged"


def talk(service: Running) -> set[str]:
    """Use every operation, well and badly; return the secrets that went over the wire."""
    used = {PASSWORD, WRONG, NEW}
    with service.client() as client:
        used.add(client.get(CAPTCHA).json()["data"]["captchaImage"][-60:])
        tokens = login(client, captchaCode=ANSWER)
        second = refresh(client, tokens).json()["data"]
        third = client.post(REFRESH, params={"refreshToken": second["refreshToken"]}).json()["data"]
        for each in (tokens, second, third):
            used |= {each["accessToken"], each["accessToken"][-80:], each["refreshToken"], each["refreshToken"][-43:]}
        client.post(REFRESH, params={"refreshToken": third["refreshToken"] + "tampered"})
        client.get(ME, headers=bearer(third))
        client.get(ME, headers=bearer(third["accessToken"] + "tampered"))
        client.get(f"/api/v1/nothing?refreshToken={third['refreshToken']}", headers=bearer(third))
        client.post(LOGIN, json=credentials(client, captchaCode=ANSWER, password=WRONG))
        client.post(LOGIN, json=credentials(client, captchaCode=ANSWER, username=FORGED, password=WRONG))
        client.post(LOGIN, json=credentials(client, captchaCode=ANSWER, username=WRONG))
        client.post(
            LOGIN,
            content=b'{"password": "' + WRONG.encode() + b'", broken',
            headers={"content-type": "application/json"},
        )
        client.get(f"{ME}/sessions", headers=bearer(third))
        client.put(f"{ME}/password", headers=bearer(third), json={"currentPassword": WRONG, "newPassword": NEW})
        client.put(f"{ME}/password", headers=bearer(third), json={"currentPassword": PASSWORD, "newPassword": NEW})
        refresh(client, tokens)
        client.post(LOGOUT, headers=bearer(third))
    used.add((service.data / "secret").read_text().strip())
    return used


@pytest.fixture(scope="module")
def talked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Running, set[str], str]:
    """A service that has heard everything and was stopped, the secrets it heard, and its metrics."""
    data = tmp_path_factory.mktemp("secrets") / "data"
    with Running(data, log_level="debug", captcha_test_answer=ANSWER, metrics="on") as service:
        used = talk(service)
        with service.client() as client:
            metrics = client.get("/metrics").text
    return service, used, metrics


def test_logs_audit_and_metrics_hold_no_secret(talked: tuple[Running, set[str], str]) -> None:
    service, used, metrics = talked
    with closing(sqlite3.connect(service.data / "accounts.db")) as accounts:
        trail = accounts.execute("SELECT * FROM audit_events").fetchall()
    assert len(trail) >= 10
    written = {"log": service.output(), "metrics": metrics, "audit": str(trail)}
    for reserve, text in written.items():
        for secret in used:
            assert secret not in text, f"{secret[:12]}… in the {reserve}"
        assert ANSWER not in SESSION_ID.sub("", text).lower(), f"a captcha answer in the {reserve}"


def test_log_lines_cannot_be_forged(talked: tuple[Running, set[str], str]) -> None:
    service, _, _ = talked
    for line in service.output().splitlines():
        assert line.startswith("Gatehouse ") or json.loads(line)["level"] in {"debug", "info", "warning", "error"}
    assert not re.search(r"^level=critical", service.output(), re.MULTILINE)


def test_state_holds_nothing_that_makes_a_token(tmp_path: Path) -> None:
    with Local(tmp_path / "data", captcha_test_answer=ANSWER) as service, service.client() as client:
        tokens = login(client, captchaCode=ANSWER)
        token = tokens["refreshToken"]
    content = b"".join(file.read_bytes() for file in service.data.glob("state.db*"))
    assert token.split(".")[1].encode() in content, "the session is there"
    assert token.rsplit(".", 1)[1].encode() not in content
    assert tokens["accessToken"].encode() not in content

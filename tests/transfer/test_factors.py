"""Second factors in an export: nothing readable, good under the same master secret, left out under another."""

from __future__ import annotations

import base64
import json
import shutil
import time
from pathlib import Path
from typing import Any

from tests.support.authenticator import Authenticator
from tests.support.conversation import LOGIN, bearer, credentials, login
from tests.support.factors import App, enrol
from tests.support.running import PASSWORD
from tests.transfer.conftest import Place

ISSUER = "https://localhost"


def enrolled(place: Place) -> tuple[str, App, list[str], Authenticator]:
    """An administrator with an app, and a passkey that has replaced the password; the secret of the app."""
    made, shown = Authenticator(ISSUER, "localhost"), []
    with place.serving() as client:
        headers = bearer(login(client))

        def call(method: str, path: str, body: object) -> dict[str, Any]:
            answer = client.request(method, path, json=body, headers=headers)
            assert answer.status_code == 200, answer.text
            data = dict(answer.json().get("data") or {})
            shown.append(data.get("secret", ""))
            return data

        proof = {"currentPassword": PASSWORD}
        options = call("POST", "/api/v1/users/me/passkeys/options", proof)["publicKey"]
        call("POST", "/api/v1/users/me/passkeys", {"credential": made.create(options), "name": "Phone"})
        answer = made.get(call("POST", "/api/v1/auth/passkey/options", {})["publicKey"])
        app, codes = enrol(call, time.time, {"credential": answer})
        return next(filter(None, shown)), app, codes, made


def exported(place: Place) -> Path:
    file = place.data.parent / "all.jsonl"
    place.typed("export", str(file), "--with-hashes").done()
    return file


def test_they_are_carried_sealed_and_good_under_the_same_secret(tmp_path: Path) -> None:
    place = Place(tmp_path / "first", issuer=ISSUER)
    secret, _, codes, made = enrolled(place)
    file = exported(place)
    text = file.read_text()
    raw = base64.b32decode(secret)
    for readable in (secret, raw.hex(), base64.b64encode(raw).decode(), *codes, *(c.replace("-", "") for c in codes)):
        assert readable not in text
    (tmp_path / "second").mkdir()
    shutil.copy(place.data / "secret", tmp_path / "second" / "secret")
    other = Place(tmp_path / "second", issuer=ISSUER)
    other.typed("user", "add", "before", "--random-password").done()  # so that numbers differ
    told = other.told(other.typed("import", "users", str(file), "--json"))
    assert told["second factors"] == {"added": 1, "changed": 0, "unchanged": 0}
    with other.serving() as client:
        asked = client.post(LOGIN, json=credentials(client))
        assert asked.json()["code"] == "A0220"
        assert login(client, captchaCode=codes[0])
        options = client.post("/api/v1/auth/passkey/options").json()["data"]["publicKey"]
        answer = client.post("/api/v1/auth/passkey", json={"credential": made.get(options)})
        assert answer.status_code == 200, answer.text
    again = other.told(other.typed("import", "users", str(file), "--json"))
    assert again["second factors"] == {"added": 0, "changed": 0, "unchanged": 0}


def test_under_another_secret_they_are_left_out_and_that_is_said(tmp_path: Path) -> None:
    place = Place(tmp_path / "first", issuer=ISSUER)
    enrolled(place)
    file = exported(place)
    other = Place(tmp_path / "second", issuer=ISSUER, secret="Zr4kW8mT1xQ9vB6nJ3pL7sD5gH2yF0cA")
    told = other.told(other.typed("import", "users", str(file), "--json"))
    assert told["second factors"]["added"] == 0
    assert any("another master secret" in remark["text"] for remark in told["adapted"])
    with other.serving() as client:
        assert login(client)


def test_without_hashes_there_are_no_factors_in_the_file(tmp_path: Path) -> None:
    place = Place(tmp_path / "first", issuer=ISSUER)
    enrolled(place)
    file = tmp_path / "plain.jsonl"
    place.typed("export", str(file)).done()
    assert {json.loads(line)["type"] for line in file.read_text().splitlines()} <= {
        "department",
        "menu",
        "role",
        "user",
    }

"""Passkeys: registering, logging in and removing, with an authenticator in software, on every engine."""

from __future__ import annotations

import asyncio
import copy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gatehouse.auth.audit import ClientInfo
from gatehouse.auth.factors.passkey_ceremonies import is_clone
from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.stores.database.users import NewUser
from tests.support.authenticator import Authenticator, b64
from tests.support.factors import App
from tests.support.inprocess import Answer, InProcess
from tests.support.meanwhile import during
from tests.support.running import PASSWORD

pytestmark = pytest.mark.usefixtures("engines")

ISSUER = "https://login.localhost"
OPTIONS, LOGIN = "/api/v1/auth/passkey/options", "/api/v1/auth/passkey"
OWN = "/api/v1/users/me/passkeys"
TOTP = "/api/v1/users/me/totp"
STATUS = "/api/v1/users/me/second-factor"
PASSWORD_LOGIN = "/api/v1/users/me/password-login"


def device(**changes: Any) -> Authenticator:
    return Authenticator(**{"origin": ISSUER, "rp_id": "login.localhost"} | changes)


class Person:
    def __init__(self, gatehouse: InProcess, username: str = "admin") -> None:
        self.gatehouse = gatehouse
        self.token = gatehouse.login(username).data["accessToken"]

    def ask(self, method: str, path: str, body: object = None) -> Answer:
        return self.gatehouse.request(method, path, body=body, token=self.token)

    def options(self, proof: Authenticator | None = None) -> dict[str, Any]:
        """For a new passkey; `proof` is one that the person has."""
        body = self.proof(proof) if proof else {"currentPassword": PASSWORD}
        return dict(self.ask("POST", f"{OWN}/options", body).data["publicKey"])

    def register(self, made: Authenticator, name: str = "", proof: Authenticator | None = None) -> Answer:
        return self.ask("POST", OWN, {"credential": made.create(self.options(proof)), "name": name})

    def enrol_app(self) -> tuple[App, list[str]]:
        enrolment, clock = self.gatehouse.service.factors.enrolment, self.gatehouse.clock
        app = App(self.gatehouse.run(enrolment.begin_for(1, "admin")).secret, clock)
        codes = self.gatehouse.run(enrolment.confirm(1, app.code(), ClientInfo()))
        clock.move(30)  # the code of the enrolment is used up
        return app, codes

    def passkeys(self) -> list[dict[str, Any]]:
        return list(self.ask("GET", STATUS).data["passkeys"])

    def proof(self, made: Authenticator) -> dict[str, Any]:
        return {"credential": made.get(challenge(self.gatehouse))}


def challenge(gatehouse: InProcess) -> dict[str, Any]:
    return dict(gatehouse.request("POST", OPTIONS).data["publicKey"])


def log_in(gatehouse: InProcess, made: Authenticator) -> Answer:
    return gatehouse.request("POST", LOGIN, body={"credential": made.get(challenge(gatehouse))})


@pytest.fixture
def gatehouse(tmp_path: Path) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data", issuer=ISSUER) as running:
        running.run(running.accounts.add_user(NewUser("plain", "Plain", hash_password(PASSWORD), 1, 0)))
        yield running


@pytest.fixture
def person(gatehouse: InProcess) -> Person:
    return Person(gatehouse)


@pytest.mark.parametrize(
    ("issuer", "name", "origin"),
    [
        ("http://127.0.0.1:8000", "localhost", "http://localhost:8000"),
        ("http://[::1]:8000/auth", "localhost", "http://localhost:8000"),
        ("http://localhost:8000", "localhost", "http://localhost:8000"),
    ],
)
def test_on_the_machine_itself_passkeys_belong_to_localhost(
    tmp_path: Path, issuer: str, name: str, origin: str
) -> None:
    """Browsers give none to a number, and a service without settings is known by one."""
    with InProcess(tmp_path / "data", issuer=issuer) as running:
        made = Authenticator(origin=origin, rp_id=name)
        assert Person(running).register(made).status == 200
        assert log_in(running, made).status == 200
        assert challenge(running)["rpId"] == name


def test_register_and_log_in(person: Person) -> None:
    made = device()
    added = person.register(made, " Ann's phone\n").data
    assert (added["name"], added["lastUsed"]) == ("Ann's phone", None)
    person.gatehouse.clock.move(60)
    tokens = log_in(person.gatehouse, made).data
    assert person.gatehouse.me(tokens["accessToken"]).data["username"] == "admin"
    [shown] = person.passkeys()
    assert shown["id"] == added["id"]
    assert shown["created"] < shown["lastUsed"]


def test_what_the_browser_is_asked(person: Person) -> None:
    asked = challenge(person.gatehouse)
    assert (asked["rpId"], asked["userVerification"], asked["allowCredentials"]) == (
        "login.localhost",
        "required",
        [],
    )
    first = device()
    person.register(first)
    options = person.options(first)
    assert options["rp"]["id"] == "login.localhost"
    assert options["authenticatorSelection"]["userVerification"] == "required"
    assert options["user"]["id"] == first.handle, "all passkeys of a user know it by one handle"
    assert len(options["excludeCredentials"]) == 1
    assert PASSWORD not in str(options)


def test_registering_takes_a_fresh_proof(person: Person) -> None:
    assert person.ask("POST", f"{OWN}/options", {"currentPassword": "not it"}).code == "A0210"
    assert person.ask("POST", f"{OWN}/options", {}).code == "A0410"
    first, second = device(), device()
    person.register(first)
    assert person.register(second, proof=first).status == 200
    assert len(person.passkeys()) == 2


@pytest.mark.parametrize(
    "lie",
    [{"origin": "https://phisher.example.com"}, {"rp_id": "phisher.example.com"}, {"verified": False}],
    ids=["wrong origin", "wrong RP id", "user not verified"],
)
def test_what_was_made_for_another_site_or_by_nobody_is_refused(person: Person, lie: dict[str, Any]) -> None:
    assert person.register(device(**lie)).code == "A0210"
    made = device()
    assert person.register(made).status == 200
    for name, value in lie.items():
        setattr(made, name, value)
    assert log_in(person.gatehouse, made).code == "A0210"


def test_a_stranger_a_forger_and_a_removed_passkey_are_refused(person: Person) -> None:
    made = device()
    added = person.register(made).data
    assert log_in(person.gatehouse, device()).code == "A0210"
    forger = copy.copy(made)
    forger.key = device().key
    assert log_in(person.gatehouse, forger).code == "A0210"
    other = copy.copy(made)
    other.handle = "AAAA"
    assert log_in(person.gatehouse, other).code == "A0210"
    path = f"{OWN}/{added['id']}"
    assert person.ask("DELETE", path, {"currentPassword": "not it"}).code == "A0210"
    assert person.ask("DELETE", path).code == "A0410"
    assert person.ask("DELETE", path, person.proof(made)).status == 200
    assert log_in(person.gatehouse, made).code == "A0210"
    assert person.ask("DELETE", path, {"currentPassword": PASSWORD}).code == "C0113"


def test_a_challenge_is_answered_once_and_in_time(person: Person) -> None:
    made = device()
    person.register(made)
    answer = {"credential": made.get(challenge(person.gatehouse))}
    assert person.gatehouse.request("POST", LOGIN, body=answer).status == 200
    assert person.gatehouse.request("POST", LOGIN, body=answer).code == "A0242"
    late = {"credential": made.get(challenge(person.gatehouse))}
    person.gatehouse.clock.move(300)
    assert person.gatehouse.request("POST", LOGIN, body=late).code == "A0242"
    own = made.get({"challenge": "bWFkZSB1cA"})
    assert person.gatehouse.request("POST", LOGIN, body={"credential": own}).code == "A0242"


def test_of_twenty_answers_to_one_challenge_one_logs_in(person: Person) -> None:
    made = device()
    person.register(made)
    answer = {"credential": made.get(challenge(person.gatehouse))}

    async def race() -> list[Answer]:
        return list(await asyncio.gather(*(person.gatehouse.send("POST", LOGIN, body=answer) for _ in range(20))))

    assert sorted(each.code for each in person.gatehouse.run(race())) == ["00000"] + ["A0242"] * 19


def test_a_challenge_for_one_thing_is_none_for_another(person: Person) -> None:
    made = device()
    person.register(made)
    login = made.get(person.options(made))
    assert person.gatehouse.request("POST", LOGIN, body={"credential": login}).code == "A0242"
    asked = challenge(person.gatehouse) | {"user": {"id": "AAAA"}}
    assert person.ask("POST", OWN, {"credential": device().create(asked)}).code == "A0242"
    other = Person(person.gatehouse, "plain")
    options = person.options(made)
    assert other.ask("POST", OWN, {"credential": device().create(options)}).code == "A0210"
    assert other.ask("POST", f"{OWN}/options", person.proof(made)).code == "A0210", "not a passkey of its own"


def test_a_passkey_is_registered_once(person: Person) -> None:
    made = device()
    assert person.register(made).status == 200
    again = person.register(made, proof=made)
    assert (again.status, again.code) == (409, "A0440")


def test_nobody_fills_the_database_with_passkeys(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gatehouse.auth.factors.own_passkeys.MAX_PASSKEYS", 2)
    kept = device()
    assert person.register(kept).status == 200
    assert [person.register(device(), proof=kept).status for _ in range(2)] == [200, 400]
    assert len(person.passkeys()) == 2
    assert log_in(person.gatehouse, kept).status == 200


def test_a_clone_is_refused_and_recorded(person: Person) -> None:
    made = device(counts=True)
    person.register(made)
    clone = copy.copy(made)
    assert log_in(person.gatehouse, made).status == 200
    assert log_in(person.gatehouse, made).status == 200
    assert log_in(person.gatehouse, clone).code == "A0210"
    assert person.gatehouse.service.audit.counts["passkey.cloned", ""] == 1
    assert log_in(person.gatehouse, made).status == 200


def test_the_rule_of_counters() -> None:
    assert not is_clone(0, 0)
    assert not is_clone(0, 1)
    assert not is_clone(5, 6)
    assert is_clone(5, 5)
    assert is_clone(5, 4)
    assert is_clone(5, 0)


Change = tuple[str, str, dict[str, Any]]
FACTOR_CHANGES = [
    pytest.param(("POST", f"{OWN}/options", {}), id="a new passkey"),
    pytest.param(("DELETE", f"{OWN}/1", {}), id="a passkey less"),
    pytest.param(("PUT", PASSWORD_LOGIN, {"enabled": False}), id="no login by password"),
    pytest.param(("PUT", PASSWORD_LOGIN, {"enabled": True}), id="login by password"),
]


@pytest.mark.parametrize("change", FACTOR_CHANGES)
def test_with_an_app_the_password_alone_changes_no_factor(person: Person, change: Change) -> None:
    method, path, body = change
    person.register(device())
    app, codes = person.enrol_app()
    by_password = body | {"currentPassword": PASSWORD}
    before = person.ask("GET", STATUS).data
    refused = person.ask(method, path, by_password)
    assert (refused.status, refused.code) == (400, "A0220")
    assert "(code)" in refused.json["msg"]
    assert person.ask(method, path, by_password | {"code": app.wrong()}).code == "A0220"
    assert person.ask(method, path, body | {"currentPassword": "not it", "code": app.code()}).code == "A0210"
    assert person.ask("GET", STATUS).data == before
    assert person.ask(method, path, by_password | {"code": app.code()}).status == 200
    with_recovery_code = {"currentPassword": PASSWORD, "code": codes[0]}
    assert person.ask("POST", f"{OWN}/options", with_recovery_code).status == 200
    counts = person.gatehouse.service.audit.counts
    assert counts["login.failed", "second_factor_missing"] == 1
    assert counts["login.failed", "second_factor"] == 1


@pytest.mark.parametrize("change", [*FACTOR_CHANGES, pytest.param(("POST", TOTP, {}), id="an app")])
def test_with_passkeys_and_no_app_the_password_alone_changes_no_factor(person: Person, change: Change) -> None:
    method, path, body = change
    made = device()
    person.register(made)
    before = person.ask("GET", STATUS).data
    refused = person.ask(method, path, body | {"currentPassword": PASSWORD, "code": "123456"})
    assert (refused.status, refused.code) == (400, "A0220")
    assert "passkey" in refused.json["msg"]
    assert person.ask("GET", STATUS).data == before
    assert person.ask(method, path, body | person.proof(made)).status == 200


def test_wrong_codes_of_a_proof_lock_the_name(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", issuer=ISSUER, limits="on", limit_login_name="3/minute") as gatehouse:
        person = Person(gatehouse)
        app, _ = person.enrol_app()
        guess = {"currentPassword": PASSWORD, "code": app.wrong()}
        assert [person.ask("POST", f"{OWN}/options", guess).code for _ in range(3)] == ["A0220"] * 3
        assert person.ask("POST", f"{OWN}/options", guess | {"code": app.code()}).code == "A0211"
        assert gatehouse.login().code == "A0211"


def test_an_app_that_is_switched_on_during_a_proof_is_asked_for(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    enrolment = person.gatehouse.service.factors.enrolment

    async def switch_on() -> None:
        app = App((await enrolment.begin_for(1, "admin")).secret, person.gatehouse.clock)
        await enrolment.confirm(1, app.code(), ClientInfo())

    during(monkeypatch, "check", person.gatehouse, switch_on)
    assert person.ask("POST", f"{OWN}/options", {"currentPassword": PASSWORD}).code == "A0220"


def test_a_new_password_takes_the_old_one_and_leaves_the_factors_as_they_are(person: Person) -> None:
    """Consoles have no field for a code there, and a new password gets nobody past the app."""
    person.enrol_app()
    body = {"currentPassword": PASSWORD, "newPassword": "a quite new password"}
    assert person.ask("PUT", "/api/v1/users/me/password", body).status == 200
    assert person.gatehouse.login(password="a quite new password").code == "A0220"


def test_an_enrolment_ticket_is_void_once_there_is_a_passkey(tmp_path: Path) -> None:
    path = "/api/v1/auth/enrolment"
    with InProcess(tmp_path / "data", issuer=ISSUER, second_factor_roles="ADMIN") as gatehouse:
        accounts, new = gatehouse.accounts, NewUser("plain", "Plain", hash_password(PASSWORD), 1, 0)
        gatehouse.run(accounts.add_user(new))
        gatehouse.run(accounts.grant("plain", ["ADMIN"]))
        body = {"ticket": gatehouse.login("plain").headers["enrolment-ticket"]}
        app = App(gatehouse.request("POST", path, body=body).data["secret"], gatehouse.clock)
        gatehouse.run(accounts.revoke("plain", ["ADMIN"]))
        Person(gatehouse, "plain").register(device())
        assert gatehouse.request("POST", path, body=body).code == "A0242"
        assert gatehouse.request("PUT", path, body=body | {"code": app.code()}).code == "A0242"


def test_a_disabled_user_is_refused(person: Person) -> None:
    made = device()
    plain = Person(person.gatehouse, "plain")
    plain.register(made)
    person.gatehouse.run(person.gatehouse.accounts.disable_user("plain"))
    assert log_in(person.gatehouse, made).code == "A0210"


def test_the_password_can_be_switched_off_and_on(person: Person) -> None:
    made = device()
    assert person.ask("PUT", PASSWORD_LOGIN, {"enabled": False, "currentPassword": PASSWORD}).code == "A0440"
    added = person.register(made).data
    assert person.ask("PUT", PASSWORD_LOGIN, {"enabled": False}).code == "A0410"
    assert person.ask("PUT", PASSWORD_LOGIN, {"enabled": False} | person.proof(made)).status == 200
    wrong = person.gatehouse.login(password="not it")
    refused = person.gatehouse.login()
    assert (refused.status, refused.content) == (wrong.status, wrong.content)
    assert log_in(person.gatehouse, made).status == 200
    last = person.ask("DELETE", f"{OWN}/{added['id']}", person.proof(made))
    assert (last.status, last.code) == (409, "A0440")
    assert person.ask("PUT", PASSWORD_LOGIN, {"enabled": True} | person.proof(made)).status == 200
    assert person.gatehouse.login().status == 200


def test_who_must_have_a_factor_and_has_a_passkey_is_sent_to_it(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", issuer=ISSUER) as gatehouse:
        Person(gatehouse).register(device())
        stores: dict[str, Any] = {
            "database_url": gatehouse.settings.database_url,
            "state_url": gatehouse.settings.state_url,
        }
    with InProcess(tmp_path / "data", issuer=ISSUER, second_factor="required", **stores) as gatehouse:
        refused = gatehouse.login()
        assert refused.code == "A0220"
        assert "passkey" in refused.json["msg"]
        assert "enrolment-ticket" not in refused.headers


@pytest.mark.parametrize("part", ["clientDataJSON", "authenticatorData", "signature", "userHandle"])
@pytest.mark.parametrize("garbage", ["", "A", "AAAA", "!!", "é", "a" * 16384])
def test_garbage_is_refused(gatehouse: InProcess, part: str, garbage: str) -> None:
    made = device()
    if part != "clientDataJSON":
        Person(gatehouse).register(made)
    credential = made.get(challenge(gatehouse))
    credential["response"][part] = garbage
    answer = gatehouse.request("POST", LOGIN, body={"credential": credential})
    assert answer.code in {"A0210", "A0421", "A0410", "A0242"} or (part, garbage) == ("userHandle", "")


@pytest.mark.parametrize("nested", ["[" * 5000 + "]" * 5000, '{"a":' * 3000 + "1" + "}" * 3000])
def test_deep_client_data_is_refused(person: Person, nested: str) -> None:
    options = person.options()
    login, new = device().get(challenge(person.gatehouse)), device().create(options)
    for path, credential in ((LOGIN, login), (OWN, new)):
        client_data = f'{{"challenge":"{options["challenge"]}","deep":{nested}}}'
        credential["response"]["clientDataJSON"] = b64(client_data.encode())
        answer = person.ask("POST", path, {"credential": credential})
        # Python 3.13 reads deeper: then the challenge is found not to be one of a login.
        assert (answer.status, answer.code) in {(400, "A0210"), (400, "A0242")}


def test_the_library_is_loaded_for_nobody_who_has_no_passkey() -> None:
    code = (
        "import sys, gatehouse.api.app, gatehouse.composition; sys.exit(bool({'webauthn', 'segno'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

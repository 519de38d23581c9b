"""People of a directory log in through the form that every console has: against OpenLDAP's own server."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gatehouse.auth.audit import Event
from gatehouse.identity_sources.definitions import Mapping
from gatehouse.management.authority import OPERATOR
from gatehouse.management.identity_sources import SourceDraft
from gatehouse.stores.database.users import NewUser, UserChange
from gatehouse.stores.errors import LastAdministrator
from tests.support.factors import enrol
from tests.support.inprocess import Answer, InProcess
from tests.support.running import PASSWORD as OURS
from tests.support.slapd import GROUPS, PASSWORD, PEOPLE, Slapd, dn_of, new_slapd, slapd
from tests.support.sources import add_directory, add_roles
from tests.support.waiting import wait_until

__all__ = ["slapd"]

pytestmark = pytest.mark.usefixtures("engines")

WRONG = (400, "A0210")


@pytest.fixture
def gatehouse(tmp_path: Path, slapd: Slapd) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data") as running:
        add_roles(running, "STAFF", "AUDITOR", "BY_HAND")
        add_directory(running, slapd)
        yield running


def log_in(gatehouse: InProcess, name: str, password: str = PASSWORD, **changes: Any) -> Answer:
    return gatehouse.login(name, password, changes=changes)


def me(gatehouse: InProcess, answer: Answer) -> dict[str, Any]:
    return gatehouse.request("GET", "/api/v1/users/me", token=answer.data["accessToken"]).data


def refresh(gatehouse: InProcess, answer: Answer) -> Answer:
    body = {"refreshToken": answer.data["refreshToken"]}
    return gatehouse.request("POST", "/api/v1/auth/refresh-token", body=body)


def status(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.code


def failures(gatehouse: InProcess, reason: str) -> int:
    """How many logins have failed for it."""
    return gatehouse.service.audit.counts[Event.LOGIN_FAILED.value, reason]


def change_source(gatehouse: InProcess, **config: Any) -> None:
    changes = gatehouse.service.management.source_changes
    [source] = gatehouse.service.identity.sources.directories
    changed = type(source.config)(
        **{name: getattr(source.config, name) for name in source.config.__struct_fields__} | config
    )
    gatehouse.run(changes.edit(OPERATOR, source.name, SourceDraft(config=changed)))


def test_the_first_login_makes_the_user_with_the_roles_of_her_groups(gatehouse: InProcess) -> None:
    user = me(gatehouse, log_in(gatehouse, "carol"))
    assert (user["username"], user["nickname"], sorted(user["roles"])) == ("carol", "Carol", ["AUDITOR", "STAFF"])
    again = me(gatehouse, log_in(gatehouse, "CAROL"))
    assert again["userId"] == user["userId"]


def test_tokens_and_sessions_say_by_which_source(gatehouse: InProcess) -> None:
    token = log_in(gatehouse, "carol").data["accessToken"]
    claims = gatehouse.run(gatehouse.service.tokens.access.verify(token, gatehouse.clock()))
    assert claims is not None
    assert (claims.methods, claims.source) == (("ldap",), "corp")
    [session] = gatehouse.request("GET", "/api/v1/users/me/sessions", token=token).data["sessions"]
    assert session["amr"] == ["ldap"]


@pytest.mark.parametrize("password", ["", "wrong", "Correct horse battery", "correct horse battery\0"])
def test_a_wrong_password_is_refused(gatehouse: InProcess, password: str) -> None:
    assert log_in(gatehouse, "carol", password).status == 400
    assert gatehouse.run(gatehouse.service.stores.users.by_name("carol")) is None


@pytest.mark.parametrize(
    "name", ["nobody", "*", "car*", "carol)(uid=*", "car\u0326ol", "cn=carol", "carol\\2a", "c arol"]
)
def test_only_the_name_itself_finds_somebody(gatehouse: InProcess, name: str) -> None:
    assert status(log_in(gatehouse, name)) == WRONG


def test_names_are_one_in_every_case_and_unicode_form(gatehouse: InProcess) -> None:
    ids = {me(gatehouse, log_in(gatehouse, name))["userId"] for name in ("zhāng", "ZHĀNG", "zhāng", "ｚhāng")}
    assert len(ids) == 1


def test_a_local_user_of_the_same_name_is_another_person(gatehouse: InProcess) -> None:
    gatehouse.run(gatehouse.accounts.add_user(NewUser("dave", "Our Dave", "", 1, 0)))
    assert status(log_in(gatehouse, "dave")) == WRONG
    gatehouse.run(
        gatehouse.service.management.user_changes.edit(
            OPERATOR, me(gatehouse, gatehouse.login())["userId"], UserChange(nickname="Boss")
        )
    )
    assert me(gatehouse, gatehouse.login())["nickname"] == "Boss"  # the first administrator is local, and stays so


def test_a_person_whose_other_name_is_that_of_a_local_user_gets_no_account(gatehouse: InProcess, slapd: Slapd) -> None:
    slapd.add_person("imposter", cn="imposter", employeeType="admin")
    change_source(gatehouse, mapping=Mapping(username="employeeType"))
    assert status(log_in(gatehouse, "imposter")) == WRONG
    assert failures(gatehouse, "name_taken") == 1


def test_two_entries_for_one_name_are_nobody(gatehouse: InProcess, slapd: Slapd) -> None:
    slapd.add_person("twin")
    slapd.add(f"cn=twin,{GROUPS}", objectClass="inetOrgPerson", cn="twin", sn="t", uid="twin", userPassword=PASSWORD)
    assert status(log_in(gatehouse, "twin")) == WRONG
    assert failures(gatehouse, "directory") == 1


def test_without_the_setting_nobody_is_made_and_who_was_linked_before_comes_in(gatehouse: InProcess) -> None:
    change_source(gatehouse, create_users=False)
    assert status(log_in(gatehouse, "carol")) == WRONG
    assert failures(gatehouse, "not_admitted") == 1
    user = gatehouse.run(gatehouse.accounts.add_user(NewUser("boss", "The boss", "", 1, 0)))
    service = gatehouse.service
    [source] = service.identity.sources.directories
    person = gatehouse.run(source.directory.find("carol"))
    assert person is not None
    gatehouse.run(service.management.source_changes.link(OPERATOR, user, source, person))
    assert me(gatehouse, log_in(gatehouse, "carol"))["userId"] == user
    assert me(gatehouse, log_in(gatehouse, "boss"))["userId"] == user


def test_roles_of_the_directory_are_refreshed_and_those_by_hand_stay(gatehouse: InProcess, slapd: Slapd) -> None:
    dn = slapd.add_person("erin")
    group = slapd.settings()["group_base"]
    slapd.add(f"cn=erins,{group}", objectClass="groupOfNames", cn="erins", member=dn)
    change_source(gatehouse, mapping=Mapping(roles={"erins": ("STAFF",), "nobody": ("AUDITOR",)}))
    user = me(gatehouse, log_in(gatehouse, "erin"))
    assert user["roles"] == ["STAFF"]
    gatehouse.run(gatehouse.service.management.user_changes.grant(OPERATOR, user["userId"], ["BY_HAND"]))
    slapd.delete(f"cn=erins,{group}")
    assert me(gatehouse, log_in(gatehouse, "erin"))["roles"] == ["BY_HAND"]


def test_a_role_that_was_given_by_hand_too_stays_when_the_group_is_left(gatehouse: InProcess, slapd: Slapd) -> None:
    dn = slapd.add_person("fred")
    group = slapd.settings()["group_base"]
    user = gatehouse.run(gatehouse.accounts.add_user(NewUser("fred", "Fred", "", 1, 0), ["STAFF"]))
    [source] = gatehouse.service.identity.sources.directories
    person = gatehouse.run(source.directory.find("fred"))
    assert person is not None
    gatehouse.run(gatehouse.service.management.source_changes.link(OPERATOR, user, source, person))
    slapd.add(f"cn=freds,{group}", objectClass="groupOfNames", cn="freds", member=dn)
    change_source(gatehouse, mapping=Mapping(roles={"freds": ("STAFF", "AUDITOR")}))
    assert me(gatehouse, log_in(gatehouse, "fred"))["roles"] == ["AUDITOR", "STAFF"]
    slapd.delete(f"cn=freds,{group}")
    assert me(gatehouse, log_in(gatehouse, "fred"))["roles"] == ["STAFF"]


def test_who_is_renamed_there_is_the_same_user_with_the_new_name(gatehouse: InProcess, slapd: Slapd) -> None:
    dn = f"cn=hana,{PEOPLE}"
    slapd.add(dn, objectClass="inetOrgPerson", cn="hana", sn="hana", uid="hana", userPassword=PASSWORD)
    before = me(gatehouse, log_in(gatehouse, "hana"))
    slapd.change(dn, uid="hana.b", displayName="Hana B.")
    assert status(log_in(gatehouse, "hana")) == WRONG
    after = me(gatehouse, log_in(gatehouse, "hana.b"))
    assert after["userId"] == before["userId"]
    assert (after["username"], after["nickname"]) == ("hana.b", "Hana B.")


def test_another_person_with_the_name_of_one_who_left_is_another_person(gatehouse: InProcess, slapd: Slapd) -> None:
    dn = slapd.add_person("gina", cn="gina")
    assert log_in(gatehouse, "gina").status == 200
    slapd.delete(dn)
    slapd.add_person("gina", cn="another gina")
    assert status(log_in(gatehouse, "gina")) == WRONG
    assert failures(gatehouse, "name_taken") == 1


def test_who_is_disabled_there_is_out_at_the_next_refresh_and_in_again_when_enabled(
    gatehouse: InProcess, slapd: Slapd
) -> None:
    dn = slapd.add_person("ivan", employeeType="active")
    change_source(gatehouse, user_filter="(&(objectClass=person)(employeeType=active))", recheck_seconds=0)
    opened = log_in(gatehouse, "ivan")
    opened = refresh(gatehouse, opened)
    assert opened.status == 200
    slapd.change(dn, employeeType="left")
    assert status(refresh(gatehouse, opened)) == (401, "A0231")
    me_again = gatehouse.request("GET", "/api/v1/users/me", token=opened.data["accessToken"])
    assert status(me_again) == (401, "A0230")
    assert status(log_in(gatehouse, "ivan")) == WRONG
    slapd.change(dn, employeeType="active")
    assert log_in(gatehouse, "ivan").status == 200


def test_who_was_disabled_here_by_hand_stays_out(gatehouse: InProcess) -> None:
    user = me(gatehouse, log_in(gatehouse, "dave"))["userId"]
    gatehouse.run(gatehouse.service.management.user_changes.edit(OPERATOR, user, UserChange(enabled=False)))
    assert status(log_in(gatehouse, "dave")) == WRONG


def test_a_refresh_asks_about_a_person_once_in_a_while(gatehouse: InProcess, slapd: Slapd) -> None:
    dn = slapd.add_person("kate")
    opened = log_in(gatehouse, "kate")
    slapd.delete(dn)
    opened = refresh(gatehouse, opened)
    assert opened.status == 200  # asked within the last minute
    gatehouse.clock.move(61)
    assert status(refresh(gatehouse, opened)) == (401, "A0231")


def test_a_second_factor_of_ours_is_asked_for_as_ever(gatehouse: InProcess) -> None:
    token = log_in(gatehouse, "carol").data["accessToken"]

    def call(method: str, path: str, body: dict[str, Any]) -> dict[str, object]:
        given = {name: PASSWORD if name == "currentPassword" else value for name, value in body.items()}
        return gatehouse.request(method, path, body=given, token=token).data

    app, _ = enrol(call, gatehouse.clock)
    gatehouse.clock.move(30)
    assert status(log_in(gatehouse, "carol")) == (400, "A0220")
    assert log_in(gatehouse, "carol", captchaCode=app.code()).status == 200
    assert status(log_in(gatehouse, "carol", "wrong", captchaCode=app.code())) == WRONG


def test_a_password_of_the_directory_is_changed_there(gatehouse: InProcess) -> None:
    opened = log_in(gatehouse, "carol")
    user = me(gatehouse, opened)["userId"]
    new = {"currentPassword": PASSWORD, "newPassword": "a-new-password-of-hers"}
    token, admin = opened.data["accessToken"], gatehouse.login().data["accessToken"]
    refused = gatehouse.request("PUT", "/api/v1/users/me/password", body=new, token=token)
    assert status(refused) == (403, "A0301")
    assert "directory" in refused.json["msg"]
    reset = gatehouse.request("PUT", f"/api/v1/users/{user}/password", body={"password": "a-new-password"}, token=admin)
    assert status(reset) == (403, "A0301")
    link = gatehouse.request("POST", f"/api/v1/users/{user}/password-link", token=admin)
    assert status(link) == (403, "A0301")


def test_an_expired_password_is_said_to_be_expired(gatehouse: InProcess, slapd: Slapd) -> None:
    dn = slapd.add_person("lena")
    slapd.change(dn, pwdReset="TRUE")
    refused = log_in(gatehouse, "lena")
    assert status(refused) == WRONG
    assert "expired" in refused.json["msg"]
    assert status(log_in(gatehouse, "lena", "wrong")) == WRONG
    assert (failures(gatehouse, "directory_expired"), failures(gatehouse, "password")) == (1, 1)


def test_the_last_administrator_of_our_own_is_not_given_to_a_directory(gatehouse: InProcess) -> None:
    [source] = gatehouse.service.identity.sources.directories
    person = gatehouse.run(source.directory.find("carol"))
    assert person is not None
    admin = me(gatehouse, gatehouse.login())["userId"]
    with pytest.raises(LastAdministrator):
        gatehouse.run(gatehouse.service.management.source_changes.link(OPERATOR, admin, source, person))


def test_guesses_at_a_person_of_a_directory_lock_the_name(tmp_path: Path, slapd: Slapd) -> None:
    with InProcess(tmp_path / "data", limits="on", limit_login_name="3/5min") as gatehouse:
        add_roles(gatehouse, "STAFF", "AUDITOR")
        add_directory(gatehouse, slapd)
        assert [log_in(gatehouse, "carol", "wrong").code for _ in range(4)] == ["A0210"] * 3 + ["A0211"]
        assert log_in(gatehouse, "carol").code == "A0211"


@pytest.fixture
def own_slapd() -> Iterator[Slapd]:
    server = new_slapd()
    server.start()
    yield server
    server.remove()


@pytest.fixture
def with_own(tmp_path: Path, own_slapd: Slapd) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data") as running:
        add_roles(running, "STAFF", "AUDITOR")
        add_directory(running, own_slapd)
        yield running


def test_nobody_is_told_a_wrong_password_and_local_users_log_in(with_own: InProcess, own_slapd: Slapd) -> None:
    opened = log_in(with_own, "carol")
    own_slapd.stop()
    for name in ("carol", "dave", "nobody"):
        answer = log_in(with_own, name)
        assert status(answer) == (503, "C0300")
        assert answer.headers["retry-after"]
    assert with_own.login().status == 200
    assert status(with_own.login(password="wrong")) == WRONG
    with_own.clock.move(61)
    opened = refresh(with_own, opened)
    assert opened.status == 200  # with what is known
    with_own.clock.move(86_401)
    assert status(refresh(with_own, opened)) == (503, "C0300")
    counts = with_own.service.identity.sources.counts
    assert counts["corp", "unavailable"] >= 4
    own_slapd.start()
    # Soon, it is asked again; and the token was not used up.
    wait_until(lambda: refresh(with_own, opened).status == 200)


def test_the_current_password_cannot_be_checked_then(with_own: InProcess, own_slapd: Slapd) -> None:
    token = log_in(with_own, "carol").data["accessToken"]
    own_slapd.stop()
    answer = with_own.request("POST", "/api/v1/users/me/totp", body={"currentPassword": PASSWORD}, token=token)
    assert status(answer) == (503, "C0300")


def test_a_directory_that_hangs_leaves_local_logins_alone(tmp_path: Path, slapd: Slapd) -> None:
    """More logins wait for it than the queue of hashes has places."""
    with (
        socket.create_server(("127.0.0.1", 0), backlog=100) as silent,
        InProcess(tmp_path / "data", hash_queue=20) as gatehouse,
    ):
        add_roles(gatehouse, "STAFF", "AUDITOR")
        url = f"ldaps://127.0.0.1:{silent.getsockname()[1]}"
        add_directory(gatehouse, slapd, urls=(url,), timeout=2.0, connections=4)

        async def storm() -> tuple[list[Answer], Answer, bool]:
            stuck = [asyncio.create_task(gatehouse.attempt(f"person{each}", "a password")) for each in range(40)]
            while len([each for each in stuck if not each.done()]) > 11:  # half of the slots: these wait for it
                await asyncio.sleep(0.01)
            local = await gatehouse.attempt("admin", OURS)
            waiting = any(not each.done() for each in stuck)
            return await asyncio.gather(*stuck), local, waiting

        answers, local, waiting = gatehouse.run(storm())
        assert (local.status, waiting) == (200, True)
        assert {status(each) for each in answers} <= {(503, "C0300"), (503, "B0210")}


def test_a_disabled_directory_lets_nobody_in_by_another_way(gatehouse: InProcess) -> None:
    user = gatehouse.run(gatehouse.accounts.add_user(NewUser("carl", "Carl", "", 1, 0)))
    gatehouse.run(gatehouse.service.management.user_changes.reset_password(OPERATOR, user, OURS))
    [source] = gatehouse.service.identity.sources.directories
    person = gatehouse.run(source.directory.find("carol"))
    assert person is not None
    gatehouse.run(gatehouse.service.management.source_changes.link(OPERATOR, user, source, person))
    assert status(log_in(gatehouse, "carl", OURS)) == WRONG
    gatehouse.run(gatehouse.service.management.source_changes.edit(OPERATOR, "corp", SourceDraft(enabled=False)))
    assert status(log_in(gatehouse, "carl", OURS)) == WRONG
    assert status(log_in(gatehouse, "carol")) == WRONG
    gatehouse.run(gatehouse.service.management.source_changes.remove(OPERATOR, "corp"))
    assert log_in(gatehouse, "carl", OURS).status == 200


def test_a_name_costs_one_hash_whoever_checks_its_password(gatehouse: InProcess) -> None:
    log_in(gatehouse, "carol")
    hashes = gatehouse.service.hash_pool
    counted: list[str] = []
    check = hashes.check

    async def counting(stored: str, password: str) -> Any:
        counted.append(stored)
        return await check(stored, password)

    hashes.check = counting  # type: ignore[method-assign]
    for name in ("carol", "dave", "nobody", "admin"):
        counted.clear()
        log_in(gatehouse, name, "wrong")
        assert len(counted) == 1, name


def test_the_person_is_known_by_the_entry_and_not_by_its_dn(gatehouse: InProcess) -> None:
    user = me(gatehouse, log_in(gatehouse, "carol"))["userId"]
    [identity] = gatehouse.run(gatehouse.service.stores.sources.identities_of(user))
    assert len(identity.subject) == 36
    assert dn_of("carol") not in (identity.subject, identity.name)

"""Sources of identity over HTTP: secrets go in and never come out, and only administrators change or test one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from gatehouse.auth.perms import MANAGEMENT_PERMS, perms_of
from gatehouse.stores.database.users import NewUser
from tests.api.console.conftest import HASH, Console
from tests.support.inprocess import InProcess
from tests.support.running import free_port
from tests.support.slapd import BASE, GROUPS, PASSWORD, SERVICE, Slapd, slapd

__all__ = ["slapd"]

Directory = Callable[..., dict[str, Any]]
SECRET = "the bind password of nobody"
PROVIDER = {"issuer": "https://sso.example.org/realms/main", "clientId": "gatehouse"}
ALL_PERMS = [*MANAGEMENT_PERMS, *perms_of("source")]


def directory(port: int = 1, **config: Any) -> dict[str, Any]:
    address = {"urls": [f"ldap://127.0.0.1:{port}"], "base": BASE, "bindDn": SERVICE, "allowPlain": True, "timeout": 1}
    return {"name": "corp", "kind": "directory", "secret": SECRET, "config": address | config}


def provider(**changes: Any) -> dict[str, Any]:
    return {"name": "sso", "kind": "openid", "title": "Main", "secret": SECRET, "config": PROVIDER} | changes


@pytest.fixture
def corp(console: Console, slapd: Slapd) -> Iterator[Console]:
    """With the directory of the tests, whose operators are administrators here."""
    config = {
        "urls": [slapd.tls_url],
        "base": BASE,
        "bindDn": SERVICE,
        "caFile": slapd.ca_file,
        "groupBase": GROUPS,
        "mapping": {"roles": {"operators": ["ADMIN"]}},
    }
    console.done(
        "POST", "identity-sources", {"name": "corp", "kind": "directory", "secret": PASSWORD, "config": config}
    )
    yield console
    console.gatehouse.run(console.gatehouse.service.identity.sources.close())


def user_id(console: Console, name: str = "ann") -> int:
    return console.gatehouse.run(console.gatehouse.accounts.add_user(NewUser(name, name, HASH, 1, 0)))


def test_a_source_is_added_shown_changed_and_removed(console: Console) -> None:
    data = console.get("identity-sources")
    assert (data["sources"], data["loginUrl"]) == ([], "http://127.0.0.1:8000/login")
    assert data["defaults"]["directory"]["recheckSeconds"] == 60
    console.done("POST", "identity-sources", provider())
    console.done("POST", "identity-sources", directory() | {"sort": 5, "enabled": False})
    [first, second] = console.get("identity-sources")["sources"]
    assert first == console.get("identity-sources/sso")
    assert (first["name"], first["kind"], first["title"], first["origin"]) == ("sso", "openid", "Main", "operator")
    assert (first["enabled"], first["users"], first["hasSecret"], first["problem"]) == (True, 0, True, "")
    assert first["config"]["clientId"] == "gatehouse"
    assert first["config"]["createUsers"] is True, "defaults are shown"
    assert (second["name"], second["title"], second["enabled"], second["sort"]) == ("corp", "corp", False, 5)
    console.done("PUT", "identity-sources/sso", {"title": "New", "sort": 9})
    changed = console.get("identity-sources/sso")
    assert changed == first | {"title": "New", "sort": 9}
    console.done("PUT", "identity-sources/sso", {"config": PROVIDER | {"logout": False}, "secret": "", "sort": ""})
    changed = console.get("identity-sources/sso")
    assert (changed["config"]["logout"], changed["hasSecret"], changed["sort"]) == (False, True, 9)
    assert console.call("DELETE", "identity-sources/sso").data == {"users": 0}
    console.refused("C0113", "GET", "identity-sources/sso")
    console.refused("C0113", "PUT", "identity-sources/sso", {"title": "x"})
    console.refused("C0113", "DELETE", "identity-sources/sso")


def test_fields_are_stored_under_the_names_that_files_and_environment_use(console: Console) -> None:
    console.done("POST", "identity-sources", directory(mapping={"defaultRoles": ["ADMIN"], "roles": {"a_b": []}}))
    [row] = console.gatehouse.run(console.gatehouse.service.stores.sources.all())
    stored = json.loads(row.config)
    assert stored["bind_dn"] == SERVICE
    assert stored["mapping"] == {"default_roles": ["ADMIN"], "roles": {"a_b": []}}
    assert console.get("identity-sources/corp")["config"]["mapping"]["roles"] == {"a_b": []}


def test_a_secret_goes_in_and_never_comes_out(console: Console, capfd: pytest.CaptureFixture[str]) -> None:
    console.done("POST", "identity-sources", directory())
    console.done("PUT", "identity-sources/corp", {"secret": SECRET + " 2", "title": "x"})
    console.refused("A0421", "POST", "identity-sources", directory(bindPassword=SECRET) | {"name": "b"})
    answers = [
        console.call("GET", "identity-sources"),
        console.call("GET", "identity-sources/corp"),
        console.call("POST", "identity-sources/corp/test", {"user": "carol"}),
        console.call("GET", "logs"),
    ]
    service = console.gatehouse.service
    console.gatehouse.run(service.audit.stop())
    events = console.gatehouse.run(service.stores.audit_trail.read(newest=20))
    assert {"source.added", "source.changed"} <= {event.event for event in events}
    [row] = console.gatehouse.run(service.stores.sources.all())
    assert service.identity.secrets.open(row) == SECRET + " 2"
    seen = repr([(answer.content, answer.headers) for answer in answers]) + repr(events) + repr(row)
    assert SECRET not in seen + "".join(capfd.readouterr())


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (directory(urls=[3]), "urls"),
        (directory(urls=["http://x"]), "urls"),
        (directory(base=""), "base"),
        (directory(bind_dn="x"), "bind_dn"),
        (directory(vendor="novell"), "vendor"),
        (directory(timeout=31), "timeout"),
        (directory(connections=0), "connections"),
        (directory(recheckSeconds=-1), "recheckSeconds"),
        (directory(mapping={"roles": {"a": [1]}}), "mapping.roles"),
        (provider(config={"issuer": "https://sso.example.org"}), "clientId"),
        (provider(config={"clientId": "x"}), "issuer"),
        (provider(config=PROVIDER | {"clientAuth": "magic"}), "clientAuth"),
        (provider(name="No spaces"), "name"),
        (provider(title="\u0007"), "title"),
        (provider(kind="saml"), "kind"),
    ],
)
def test_a_wrong_field_is_named_as_in_the_request(console: Console, body: dict[str, Any], field: str) -> None:
    assert field in console.refused("A0421", "POST", "identity-sources", body)
    assert console.get("identity-sources")["sources"] == []


def test_names_are_unique_and_roles_must_be_there(console: Console) -> None:
    console.done("POST", "identity-sources", provider())
    console.refused("A0440", "POST", "identity-sources", provider())
    console.refused("C0113", "POST", "identity-sources", directory(mapping={"defaultRoles": ["NOBODY"]}))


def test_another_address_takes_the_secret_once_more(console: Console) -> None:
    """Or whoever may change a source would have the secret sent to a server of their own."""
    before = directory()
    console.done("POST", "identity-sources", before)
    for change in ({"urls": ["ldap://127.0.0.1:2"]}, {"allowPlain": False}, {"caFile": "/x"}):
        body = {"config": before["config"] | change}
        assert "secret" in console.refused("A0410", "PUT", "identity-sources/corp", body)
    assert console.get("identity-sources/corp")["config"]["urls"] == before["config"]["urls"]
    console.done("PUT", "identity-sources/corp", {"config": before["config"] | {"base": "dc=other"}})
    console.done(
        "PUT", "identity-sources/corp", {"config": before["config"] | {"urls": ["ldap://127.0.0.1:2"]}, "secret": "x"}
    )
    console.done("POST", "identity-sources", provider())
    body = {"config": PROVIDER | {"issuer": "https://elsewhere.example.org"}}
    assert "secret" in console.refused("A0410", "PUT", "identity-sources/sso", body)


def test_only_administrators_change_or_test_a_source(console: Console, user: Callable[..., Console]) -> None:
    console.done("POST", "identity-sources", directory())
    helper, reader = user("helper", *ALL_PERMS), user("reader", "sys:user:list")
    assert [each["name"] for each in helper.get("identity-sources")["sources"]] == ["corp"]
    calls: list[tuple[str, str, Any]] = [
        ("POST", "identity-sources", provider()),
        ("PUT", "identity-sources/corp", {"title": "mine"}),
        ("DELETE", "identity-sources/corp", None),
        ("POST", "identity-sources/corp/test", {}),
        ("POST", "identity-sources/corp/sync", {"preview": True}),
        ("POST", f"users/{user_id(console)}/identities", {"source": "corp", "name": "carol"}),
    ]
    for who in (helper, reader):
        for method, path, body in calls:
            who.refused("A0301", method, path, body)
    reader.refused("A0301", "GET", "identity-sources")
    assert console.get("identity-sources/corp")["title"] == "corp"


def test_what_the_environment_defines_is_read_only(console: Console) -> None:
    console.done("POST", "identity-sources", provider())
    gatehouse = console.gatehouse

    async def define() -> None:
        async with gatehouse.service.stores.database.writing() as db:
            await db.execute(text("UPDATE identity_sources SET origin = 'environment'"))

    gatehouse.run(define())
    assert console.get("identity-sources/sso")["origin"] == "environment"
    console.refused("A0440", "PUT", "identity-sources/sso", {"title": "x"})
    console.refused("A0440", "DELETE", "identity-sources/sso")


def test_a_test_of_a_source_out_of_reach_says_how_far_it_got(console: Console) -> None:
    pytest.importorskip("ldap")
    console.done("POST", "identity-sources", directory(free_port()) | {"enabled": False})
    answer = console.call("POST", "identity-sources/corp/test").data
    assert [(each["step"], each["works"]) for each in answer["steps"]] == [("resolve", True), ("connect", False)]
    assert answer["preview"] is None
    console.refused("C0113", "POST", "identity-sources/none/test")


def test_tests_are_limited(engines: None, tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", limits="on") as running:
        console = Console(running)
        console.done("POST", "identity-sources", provider(config={"clientId": "x", "issuer": "https://127.0.0.1:1"}))
        codes = [console.call("POST", "identity-sources/sso/test").code for _ in range(21)]
        assert codes == ["00000"] * 20 + ["A0502"]


def test_a_directory_is_tested_step_by_step_up_to_what_a_person_becomes(corp: Console) -> None:
    answer = corp.call("POST", "identity-sources/corp/test", {"user": "carol"}).data
    assert [each["step"] for each in answer["steps"]] == [
        "resolve", "connect", "tls", "bind", "search", "groups", "person",
    ]  # fmt: skip
    assert all(each["works"] and each["seen"] for each in answer["steps"])
    preview = answer["preview"]
    assert {"operators", "staff"} <= set(preview["groups"])
    del preview["groups"], preview["subject"]
    assert preview == {
        "arrival": "create",
        "username": "carol",
        "nickname": "Carol",
        "email": "carol@example.org",
        "mobile": "+86 13800138000",
        "department": "Headquarters",
        "roles": ["ADMIN"],
    }
    unknown = corp.call("POST", "identity-sources/corp/test", {"user": "nobody"}).data
    assert (unknown["steps"][-1]["step"], unknown["steps"][-1]["works"]) == ("person", False)
    assert unknown["preview"] is None


def test_the_preview_says_what_a_login_would_do(corp: Console) -> None:
    def arrival() -> str:
        preview = corp.call("POST", "identity-sources/corp/test", {"user": "dave"}).data["preview"]
        return str(preview["arrival"])

    user_id(corp, "Dave")
    assert arrival() == "name_taken"
    config = corp.get("identity-sources/corp")["config"]
    corp.done("PUT", "identity-sources/corp", {"config": config | {"createUsers": False}})
    assert arrival() == "not_admitted"
    corp.done("POST", f"users/{user_id(corp)}/identities", {"source": "corp", "name": "dave"})
    assert arrival() == "update"


def test_a_wrong_bind_password_fails_at_the_bind(corp: Console) -> None:
    corp.done("PUT", "identity-sources/corp", {"secret": "wrong"})
    answer = corp.call("POST", "identity-sources/corp/test").data
    assert (answer["steps"][-1]["step"], answer["steps"][-1]["works"]) == ("bind", False)


def test_a_user_is_linked_beforehand_and_unlinked(corp: Console, gatehouse: InProcess) -> None:
    ann = user_id(corp)
    assert corp.get(f"users/{ann}/identities") == {"identities": [], "decidedRoles": []}
    corp.done("POST", f"users/{ann}/identities", {"source": "corp", "name": "carol"})
    [identity] = corp.get(f"users/{ann}/identities")["identities"]
    assert (identity["source"], identity["name"], identity["gone"]) == ("corp", "carol", False)
    assert gatehouse.login("ann", PASSWORD).status == 200
    data = corp.get(f"users/{ann}/identities")
    assert data["identities"][0]["lastSeen"] is not None
    assert [(each["source"], each["title"]) for each in data["decidedRoles"]] == [("corp", "corp")]
    corp.refused("A0440", "POST", f"users/{ann}/identities", {"source": "corp", "name": "dave"})
    corp.refused("A0440", "POST", f"users/{user_id(corp, 'eve')}/identities", {"source": "corp", "name": "carol"})
    assert corp.get("identity-sources/corp")["users"] == 1
    corp.done("DELETE", f"users/{ann}/identities/{identity['id']}")
    assert corp.get(f"users/{ann}/identities") == {"identities": [], "decidedRoles": []}
    corp.refused("C0113", "DELETE", f"users/{ann}/identities/{identity['id']}")


def test_a_link_names_somebody_whom_the_source_knows(corp: Console) -> None:
    ann = user_id(corp)
    corp.refused("C0113", "POST", f"users/{ann}/identities", {"source": "corp", "name": "nobody"})
    corp.refused("C0113", "POST", f"users/{ann}/identities", {"source": "none", "name": "carol"})
    corp.refused("A0410", "POST", f"users/{ann}/identities", {"source": "corp"})
    corp.refused("C0113", "GET", "users/999/identities")
    corp.done("POST", "identity-sources", provider())
    corp.refused("A0410", "POST", f"users/{ann}/identities", {"source": "sso", "name": "ann"})
    corp.done("POST", f"users/{ann}/identities", {"source": "sso", "subject": "12-34"})
    [row] = corp.gatehouse.run(corp.gatehouse.service.stores.sources.identities_of(ann))
    assert (row.issuer, row.subject, row.name) == (PROVIDER["issuer"], "12-34", "12-34")


def test_nobody_links_or_unlinks_their_own_account_here(corp: Console) -> None:
    """It takes a login there: an unlocked screen must not be enough."""
    corp.refused("A0301", "POST", "users/1/identities", {"source": "corp", "name": "carol"})
    corp.refused("A0301", "DELETE", "users/1/identities/1")


def test_a_link_gives_no_role_that_its_maker_could_not_grant(corp: Console, gatehouse: InProcess) -> None:
    """Or an administrator would become ROOT by linking a user of their own to the person who gets that role."""
    gatehouse.run(gatehouse.accounts.add_role("ROOT", "Root"))
    [row] = gatehouse.run(gatehouse.service.stores.sources.all())

    async def give_root() -> None:
        async with gatehouse.service.stores.database.writing() as db:
            values = {"config": row.config.replace('"ADMIN"', '"ROOT"')}
            await db.execute(text("UPDATE identity_sources SET config = :config"), values)
        await gatehouse.service.identity.sources.load()

    gatehouse.run(give_root())
    ann = user_id(corp)
    corp.refused("A0301", "POST", f"users/{ann}/identities", {"source": "corp", "name": "carol"})
    assert corp.get(f"users/{ann}/identities")["identities"] == []


def test_users_are_compared_with_their_directory_and_brought_up_to_date(corp: Console, slapd: Slapd) -> None:
    dn = slapd.add_person("erin", displayName="Erin")
    ann = user_id(corp)
    corp.done("POST", f"users/{ann}/identities", {"source": "corp", "name": "erin"})
    plan = corp.call("POST", "identity-sources/corp/sync", {"preview": True}).data
    [step] = plan["steps"]
    assert (plan["applied"], plan["refusal"], step["action"], step["username"]) == (False, "", "change", "ann")
    assert "nickname" in step["changed"]
    assert corp.get(f"users/{ann}/form")["nickname"] == "ann"
    assert corp.call("POST", "identity-sources/corp/sync", {"preview": False}).data["applied"] is True
    assert corp.get(f"users/{ann}/form")["nickname"] == "Erin"
    assert corp.call("POST", "identity-sources/corp/sync", {"preview": True}).data["steps"] == []
    slapd.delete(dn)
    refused = corp.call("POST", "identity-sources/corp/sync", {"preview": False}).data
    assert refused["applied"] is False
    assert refused["refusal"], "all of those whom we know are gone"
    assert corp.get(f"users/{ann}/form")["status"] == 1
    corp.done("POST", "identity-sources", provider())
    corp.refused("A0421", "POST", "identity-sources/sso/sync", {"preview": False})
    corp.refused("A0410", "POST", "identity-sources/corp/sync")


def test_a_directory_out_of_reach_cannot_be_compared(console: Console) -> None:
    pytest.importorskip("ldap")
    console.done("POST", "identity-sources", directory(free_port()))
    console.refused("C0300", "POST", "identity-sources/corp/sync", {"preview": True})

"""Passwords that OpenLDAP checks, and the names that lead to an entry."""

from __future__ import annotations

import asyncio
from typing import Any

import ldap
import pytest

from gatehouse.common import logs
from gatehouse.identity_sources.clients import PasswordResult
from gatehouse.identity_sources.directory.ldap_directory import LdapDirectory
from gatehouse.identity_sources.errors import SourceUnavailable
from tests.identity_sources.directory.conftest import Open
from tests.identity_sources.directory.servers import Relay, listener
from tests.support.slapd import ADMIN, BASE, PASSWORD, PEOPLE, Slapd, dn_of


@pytest.mark.parametrize("way", ["ldaps", "StartTLS", "plain"])
async def test_a_right_password_is_told_from_a_wrong_one(slapd: Slapd, open_directory: Open, way: str) -> None:
    url = slapd.tls_url if way == "ldaps" else slapd.url
    directory = open_directory(urls=(url,), allow_plain=way == "plain")
    right = await directory.check_password("carol", PASSWORD)
    wrong = await directory.check_password("carol", f"{PASSWORD}!")
    unknown = await directory.check_password("nobody", PASSWORD)
    assert right.person is not None
    assert (right.correct, right.refused, right.person.name) == (True, "", "carol")
    assert wrong == PasswordResult(right.person._replace(groups=()), correct=False)
    assert unknown == PasswordResult(None, correct=False)


async def test_attributes_are_text_as_the_directory_has_it(slapd: Slapd, directory: LdapDirectory) -> None:
    slapd.add_person("pia", mobile="+8613800138000", employeeNumber="007", jpegPhoto=b"\xff\xd8\xff\0", cn=["Pia", "P"])
    person = await directory.find("pia")
    assert person is not None
    assert person.attributes["mobile"] == ("+8613800138000",)
    assert person.attributes["employeenumber"] == ("007",)
    assert person.attributes["cn"] == ("Pia", "P")
    assert "jpegphoto" not in person.attributes
    assert person.attributes["entryuuid"] == (person.subject,)


async def test_a_password_hash_is_never_among_the_attributes(open_directory: Open) -> None:
    """Even if the service account may read everything."""
    person = await open_directory(bind_dn=ADMIN).find("carol")
    assert person is not None
    assert "sn" in person.attributes
    assert not [name for name in person.attributes if "password" in name]


async def test_an_empty_password_reaches_no_server(slapd: Slapd, open_directory: Open) -> None:
    connection = ldap.initialize(slapd.url)
    connection.simple_bind_s(dn_of("carol"), "")  # the trap: it succeeds
    assert connection.whoami_s() == ""
    connection.unbind_s()
    nowhere = open_directory(urls=("ldaps://127.0.0.1:1",))
    for password in ("", "\0", f"{PASSWORD}\0", "\ud800"):
        assert await nowhere.check_password("carol", password) == PasswordResult(None, correct=False)
    with pytest.raises(SourceUnavailable):
        await nowhere.check_password("carol", PASSWORD)


@pytest.mark.parametrize(
    "name", ["o(b)*", 'quo"te', "back\\slash", "com,ma", "a+b=c", "#hash", "1_0", "semi;colon", "<angle>", "名字"]
)
async def test_names_with_special_characters_log_in(slapd: Slapd, directory: LdapDirectory, name: str) -> None:
    slapd.add_person(name)
    result = await directory.check_password(name, PASSWORD)
    assert result.person is not None
    assert (result.correct, result.person.name) == (True, name)


@pytest.mark.parametrize(
    "name",
    [
        "*",
        "car*",
        "carol)(uid=*",
        "*)(|(uid=*",
        "\\63arol",
        "carol\0",
        "\0",
        "",
        " ",
        "10",
        "x" * 10_000,
        "\ud800",
        ")",
    ],
)
async def test_no_name_is_part_of_a_filter(slapd: Slapd, directory: LdapDirectory, name: str) -> None:
    assert await directory.check_password(name, PASSWORD) == PasswordResult(None, correct=False)
    assert await directory.find(name) is None


@pytest.mark.parametrize("name", ["CAROL", "Carol", "ｃａｒｏｌ", "ZHĀNG", "zha\u0304ng"])
async def test_case_and_unicode_form_do_not_matter(directory: LdapDirectory, name: str) -> None:
    assert (await directory.check_password(name, PASSWORD)).correct


@pytest.mark.parametrize("name", ["ca\u00adrol", " carol", "carol ", "  carol  ", "ca\u200drol"])
async def test_a_spelling_that_only_the_directory_ignores_is_another_name(
    slapd: Slapd, directory: LdapDirectory, name: str
) -> None:
    """Failed logins are counted by name: each spelling that leads to one entry would have a count of its own."""
    assert await directory.check_password(name, PASSWORD) == PasswordResult(None, correct=False)


async def test_the_directory_does_ignore_such_spellings(slapd: Slapd) -> None:
    connection = ldap.initialize(slapd.url)
    connection.simple_bind_s(ADMIN, PASSWORD)
    for name in ("  carol", "carol  "):
        assert len(connection.search_s(BASE, ldap.SCOPE_SUBTREE, f"(uid={name})", ["1.1"])) == 1
    connection.unbind_s()


async def test_two_entries_for_one_name_are_refused(
    slapd: Slapd, directory: LdapDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[dict[str, Any]] = []
    monkeypatch.setattr(logs.log, "render", lambda line: str(warnings.append(line)))  # type: ignore[func-returns-value]
    dns = [slapd.add_person("twin"), f"uid=other,{PEOPLE}"]
    slapd.add(dns[1], objectClass="inetOrgPerson", cn="x", sn="x", uid=["other", "TWIN"], userPassword=PASSWORD)
    assert await directory.check_password("twin", PASSWORD) == PasswordResult(None, correct=False, refused="ambiguous")
    assert await directory.find("twin") is None
    assert {tuple(sorted(line["dns"])) for line in warnings} == {tuple(sorted(dns))}
    assert (await directory.check_password("other", PASSWORD)).correct


async def test_an_unknown_name_costs_what_a_wrong_password_costs(slapd: Slapd, open_directory: Open) -> None:
    """A search on the pooled connection, and a connection for a bind."""
    async with Relay(slapd.tls_port) as relay:
        directory = open_directory(urls=(f"ldaps://127.0.0.1:{relay.port}",))
        await directory.check_password("carol", PASSWORD)
        cost = {}
        for name in ("carol", "nobody", "x" * 10_000):
            before = relay.connections, relay.upward
            await directory.check_password(name, "wrong")
            cost[name] = relay.connections - before[0], (relay.upward - before[1]) // 200
        assert len(set(cost.values())) == 1, cost
        assert cost["nobody"][0] == 1


async def test_referrals_are_neither_followed_nor_fatal(slapd: Slapd, directory: LdapDirectory) -> None:
    async with listener() as elsewhere:
        ref = f"ldap://127.0.0.1:{elsewhere.port}/ou=away,{BASE}"
        slapd.add(f"ou=away,{PEOPLE}", objectClass=["referral", "extensibleObject"], ou="away", ref=ref)
        assert (await directory.check_password("carol", PASSWORD)).correct
        assert {person.name async for person in directory.people()} >= {"carol", "dave"}
        assert elsewhere.connections == 0


async def test_the_password_policy_refuses_a_right_password(directory: LdapDirectory) -> None:
    for name, tag in (("olga", "expired"), ("mona", "must_change")):
        right = await directory.check_password(name, PASSWORD)
        wrong = await directory.check_password(name, "wrong")
        assert (right.correct, right.refused, wrong.correct, wrong.refused) == (True, tag, False, "")


async def test_a_locked_account_is_locked_whatever_the_password(directory: LdapDirectory) -> None:
    assert (await directory.check_password("lars", "wrong")).refused == ""
    assert (await directory.check_password("lars", "wrong")).refused == ""
    for password in ("wrong", PASSWORD):
        result = await directory.check_password("lars", password)
        assert (result.correct, result.refused) == (False, "locked")


async def test_a_users_bind_never_uses_a_pooled_connection(directory: LdapDirectory) -> None:
    """A user may not read anything here, so a search as one would find nobody."""
    for _ in range(3):
        assert (await directory.check_password("carol", PASSWORD)).correct
        assert not (await directory.check_password("carol", "wrong")).correct
        assert await directory.find("dave") is not None


async def test_many_log_in_at_once(directory: LdapDirectory) -> None:
    results = await asyncio.gather(
        *(directory.check_password(name, PASSWORD) for name in ["carol", "dave", "nobody"] * 10)
    )
    assert [result.correct for result in results] == [True, True, False] * 10
    assert [result.person and result.person.name for result in results] == ["carol", "dave", None] * 10


async def test_a_user_filter_decides_who_may_log_in(slapd: Slapd, open_directory: Open) -> None:
    directory = open_directory(user_filter="mail=carol@*")
    assert (await directory.check_password("carol", PASSWORD)).correct
    assert await directory.check_password("dave", PASSWORD) == PasswordResult(None, correct=False)


async def test_other_attributes_can_be_names(open_directory: Open) -> None:
    directory = open_directory(name_attributes=("uid", "mail"))
    for name in ("dave", "Dave@Example.org"):
        result = await directory.check_password(name, PASSWORD)
        assert result.person is not None
        assert (result.correct, result.person.name) == (True, "dave")


async def test_an_entry_without_a_stable_id_is_a_fault_of_the_source(open_directory: Open) -> None:
    with pytest.raises(SourceUnavailable, match="employeeNumber"):
        await open_directory(subject_attribute="employeeNumber").check_password("carol", PASSWORD)

"""People by name, by stable id, and all of them; and their groups."""

from __future__ import annotations

import ldap.dn
import pytest

from gatehouse.identity_sources.directory import ldap_directory
from gatehouse.identity_sources.directory.entries import escaped, subject_filter
from gatehouse.identity_sources.directory.groups import DEEPEST
from gatehouse.identity_sources.directory.ldap_directory import LdapDirectory
from gatehouse.identity_sources.errors import SourceUnavailable
from tests.identity_sources.directory.conftest import Open
from tests.support.slapd import GROUPS, LIMITED, PEOPLE, Slapd, dn_of


def names(*groups: str) -> set[str]:
    """Each group by DN and by name."""
    return {name for group in groups for name in (group, f"cn={group},{GROUPS}")}


async def groups_of(directory: LdapDirectory, name: str) -> set[str]:
    person = await directory.find(name)
    assert person is not None
    assert len(person.groups) == len(set(person.groups))
    return set(person.groups)


async def test_groups_that_contain_groups_count_even_in_a_circle(directory: LdapDirectory) -> None:
    assert await groups_of(directory, "carol") == names("staff", "operators", "admins")


async def test_groups_of_names_and_of_posix_count(directory: LdapDirectory) -> None:
    assert await groups_of(directory, "dave") == names("staff", "posix")
    assert await groups_of(directory, "zhāng") == set()


async def test_nested_groups_can_be_left_out(open_directory: Open) -> None:
    assert await groups_of(open_directory(nested_groups=False), "carol") == names("staff", "operators")


async def test_a_group_filter_of_ones_own(open_directory: Open) -> None:
    directory = open_directory(group_filter="(&(cn=s*)(member={dn}))")
    assert await groups_of(directory, "carol") == names("staff")


async def test_a_dn_is_escaped_in_the_filter(slapd: Slapd, directory: LdapDirectory) -> None:
    """As is a name that looks like a placeholder, or like part of a filter."""
    for number, uid in enumerate(("par(en)*", "{name}{dn}", "slash\\ed", "*")):
        dn = slapd.add_person(uid)
        slapd.add(f"cn=own{number},{GROUPS}", objectClass="groupOfNames", cn=f"own{number}", member=dn)
        assert await groups_of(directory, uid) == names(f"own{number}")


async def test_groups_are_followed_so_deep_and_no_deeper(slapd: Slapd, directory: LdapDirectory) -> None:
    inner = slapd.add_person("deep")
    for number in range(DEEPEST + 5):
        group = f"cn=level{number},{GROUPS}"
        slapd.add(group, objectClass="groupOfNames", cn=f"level{number}", member=inner)
        inner = group
    assert await groups_of(directory, "deep") == names(*(f"level{number}" for number in range(DEEPEST + 1)))


async def test_a_person_is_found_by_stable_id_under_a_new_name(slapd: Slapd, directory: LdapDirectory) -> None:
    dn = slapd.add_person("maiden", mail="m@example.org")
    before = await directory.find("maiden")
    assert before is not None
    slapd.change(dn, uid=["maiden", "married"], mail="other@example.org")
    after = await directory.by_subject(before.subject)
    assert after is not None
    assert (after.subject, after.attributes["mail"]) == (before.subject, ("other@example.org",))
    slapd.delete(dn)
    assert await directory.by_subject(before.subject) is None
    slapd.add_person("maiden")
    assert await directory.by_subject(before.subject) is None  # the same name, another person


async def test_whoever_no_longer_matches_the_filter_is_gone(slapd: Slapd, open_directory: Open) -> None:
    directory = open_directory(user_filter="(!(employeeType=left))")
    dn = slapd.add_person("leaver")
    person = await directory.find("leaver")
    assert person is not None
    assert await directory.by_subject(person.subject) == person
    slapd.change(dn, employeeType="left")
    assert await directory.by_subject(person.subject) is None
    assert "leaver" not in {each.name async for each in directory.people()}


@pytest.mark.parametrize("subject", ["", "*", "not-a-uuid", ")(uid=*", "\0", "x" * 5000, "\ud800"])
async def test_no_subject_is_part_of_a_filter(directory: LdapDirectory, subject: str) -> None:
    assert await directory.by_subject(subject) is None


async def test_everybody_comes_page_by_page_with_groups(
    directory: LdapDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ldap_directory, "PAGE", 2)
    people = [person async for person in directory.people()]
    assert len({person.subject for person in people}) == len(people) >= 6
    for person in people:
        assert person == await directory.find(person.name)


async def test_a_list_that_the_server_cuts_short_is_a_failure(
    open_directory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is not on a short list would be taken for gone."""
    monkeypatch.setattr(ldap_directory, "PAGE", 2)
    with pytest.raises(SourceUnavailable, match="size limit"):
        [person async for person in open_directory(bind_dn=LIMITED).people()]


async def test_a_list_may_be_left_before_its_end(directory: LdapDirectory) -> None:
    people = directory.people()
    await anext(people)
    await people.aclose()  # type: ignore[attr-defined]


def test_dns_in_the_tests_are_those_of_the_directory() -> None:
    assert ldap.dn.str2dn(dn_of("carol"))[0] == [("cn", "carol of sales, Ltd", 1)]
    assert dn_of("carol").endswith(PEOPLE)


def test_filters_are_escaped_as_rfc_4515_says() -> None:
    assert escaped("a*(b)\\\0é") == "a\\2a\\28b\\29\\5c\\00é"
    assert escaped(b"\0\xff*") == "\\00\\ff\\2a"
    # The first three parts of an objectGUID are in the other byte order.
    assert subject_filter("d2c60525-58ca-4210-8bc6-3af27e69acb8", "objectGUID") == (
        "(objectGUID=\\25\\05\\c6\\d2\\ca\\58\\10\\42\\8b\\c6\\3a\\f2\\7e\\69\\ac\\b8)"
    )
    assert subject_filter("nonsense", "objectGUID") is None

"""Active Directory, as samba's domain controller is one: accounts that may not log in, nested groups, objectGUID."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from gatehouse.identity_sources.clients import PasswordResult
from gatehouse.identity_sources.definitions import DirectoryConfig
from gatehouse.identity_sources.directory.ldap_directory import LdapDirectory
from gatehouse.identity_sources.errors import SourceUnavailable
from tests.support.samba_dc import BASE, PASSWORD, USERS, SambaDC

pytestmark = pytest.mark.full

NORMAL, DISABLED = 0x200, 0x202
TICK = 10_000_000  # AD counts time in steps of 100 ns, and durations are negative


@pytest_asyncio.fixture
async def directory(samba_dc: SambaDC) -> AsyncIterator[LdapDirectory]:
    opened = LdapDirectory(DirectoryConfig(**samba_dc.settings()), PASSWORD)
    yield opened
    await opened.close()


def names(*groups: str) -> set[str]:
    return {name for group in groups for name in (group, f"CN={group},{USERS}")}


@pytest.mark.parametrize("url", ["ldaps://{}", "ldap://{}"])
async def test_a_domain_account_logs_in_by_both_of_its_names(samba_dc: SambaDC, url: str) -> None:
    name = "carol" if url.startswith("ldaps") else "carola"
    samba_dc.add_person(name, mail="carol@example.org", displayName="Carol")
    settings = samba_dc.settings(urls=(url.format(samba_dc.address),))
    directory = LdapDirectory(DirectoryConfig(**settings), PASSWORD)
    for typed in (name, name.upper(), f"{name}@ad.example.org"):
        result = await directory.check_password(typed, PASSWORD)
        assert result.person is not None
        assert (result.correct, result.refused, result.person.name) == (True, "", name)
        assert result.person.attributes["displayname"] == ("Carol",)
        assert "objectguid" not in result.person.attributes
        again = await directory.by_subject(result.person.subject)
        assert again is not None
        assert (again.subject, again.groups) == (result.person.subject, result.person.groups)
    assert not (await directory.check_password(name, "wrong")).correct
    assert await directory.check_password("nobody", PASSWORD) == PasswordResult(None, correct=False)
    await directory.close()


async def test_nested_groups_and_the_primary_group_count(samba_dc: SambaDC, directory: LdapDirectory) -> None:
    dn = samba_dc.add_person("nested")
    inner = samba_dc.add_group("inner", dn)
    middle = samba_dc.add_group("middle (x)", inner)
    samba_dc.add_group("outer", middle)
    person = await directory.find("nested")
    assert person is not None
    assert set(person.groups) == names("inner", "middle (x)", "outer", "Domain Users")
    assert person in [each async for each in directory.people()]
    direct = LdapDirectory(DirectoryConfig(**samba_dc.settings(nested_groups=False)), PASSWORD)
    person = await direct.find("nested")
    assert person is not None
    assert set(person.groups) == names("inner", "Domain Users")
    await direct.close()


async def test_a_disabled_account_is_nobody(samba_dc: SambaDC, directory: LdapDirectory) -> None:
    dn = samba_dc.add_person("leaver")
    person = await directory.find("leaver")
    assert person is not None
    samba_dc.change(dn, userAccountControl=str(DISABLED))
    assert await directory.check_password("leaver", PASSWORD) == PasswordResult(None, correct=False)
    assert await directory.by_subject(person.subject) is None
    assert "leaver" not in {each.name async for each in directory.people()}
    # With a filter that lets disabled ones through, the domain itself refuses.
    all_of_them = DirectoryConfig(**samba_dc.settings(user_filter="(objectClass=user)"))
    lenient = LdapDirectory(all_of_them, PASSWORD)
    result = await lenient.check_password("leaver", PASSWORD)
    assert (result.correct, result.refused) == (True, "disabled")
    assert (await lenient.check_password("leaver", "wrong")).refused == ""
    await lenient.close()


@pytest.mark.parametrize(
    ("name", "attributes", "tag"),
    [
        ("gone", {"accountExpires": "1"}, "expired"),
        ("fresh", {"pwdLastSet": "0"}, "must_change"),
    ],
)
async def test_accounts_that_may_not_log_in_now(
    samba_dc: SambaDC, directory: LdapDirectory, name: str, attributes: dict[str, Any], tag: str
) -> None:
    """Only a right password is told so."""
    samba_dc.change(samba_dc.add_person(name, NORMAL), **attributes)
    right, wrong = [await directory.check_password(name, password) for password in (PASSWORD, "wrong")]
    assert (right.correct, right.refused) == (True, tag)
    assert (wrong.correct, wrong.refused) == (False, "")


async def test_an_expired_password(samba_dc: SambaDC, directory: LdapDirectory) -> None:
    dn = samba_dc.add_person("old", NORMAL)
    assert (await directory.check_password("old", PASSWORD)).refused == ""
    samba_dc.age_password(dn)
    right, wrong = [await directory.check_password("old", password) for password in (PASSWORD, "wrong")]
    assert (right.correct, right.refused) == (True, "expired")
    assert (wrong.correct, wrong.refused) == (False, "")


async def test_a_locked_account(samba_dc: SambaDC, directory: LdapDirectory) -> None:
    samba_dc.add_person("locked")
    minutes = str(-30 * 60 * TICK)
    samba_dc.change(BASE, lockoutThreshold="3", lockOutObservationWindow=minutes, lockoutDuration=minutes)
    try:
        for _ in range(3):
            assert (await directory.check_password("locked", "wrong")).refused == ""
        for password in ("wrong", PASSWORD):
            result = await directory.check_password("locked", password)
            assert (result.correct, result.refused) == (False, "locked")
    finally:
        samba_dc.change(BASE, lockoutThreshold="0")


async def test_a_name_that_only_the_domain_thinks_equal_is_another(samba_dc: SambaDC, directory: LdapDirectory) -> None:
    samba_dc.add_person("andre")
    for name in ("andré", "an\u00addre", "andre ", " andre"):
        assert await directory.check_password(name, PASSWORD) == PasswordResult(None, correct=False)


async def test_the_self_test_reports_every_step(samba_dc: SambaDC, directory: LdapDirectory) -> None:
    samba_dc.add_person("tested")
    steps = [step async for step in directory.test("tested")]
    assert [step.step for step in steps] == ["resolve", "connect", "tls", "bind", "search", "groups", "person"]
    assert all(step.works for step in steps)
    assert "objectGUID" in steps[-1].seen


async def test_a_domain_that_wants_tls_gets_no_password_in_plain_text(samba_dc: SambaDC) -> None:
    settings = samba_dc.settings(urls=(f"ldap://{samba_dc.address}",), allow_plain=True)
    directory = LdapDirectory(DirectoryConfig(**settings), PASSWORD)
    with pytest.raises(SourceUnavailable, match="result code 8") as caught:
        await directory.check_password("carol", PASSWORD)
    assert caught.value.step == "bind"
    await directory.close()

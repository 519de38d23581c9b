"""`test`: every step that works is reported, and the first that does not ends it with words to act on."""

from __future__ import annotations

from typing import Any

import pytest

from gatehouse.identity_sources import clients
from gatehouse.identity_sources.directory.ldap_directory import LdapDirectory
from tests.identity_sources.directory.conftest import Open
from tests.identity_sources.directory.servers import listener
from tests.support.slapd import PASSWORD, SERVICE, Slapd

ALL = ["resolve", "connect", "tls", "bind", "search", "groups"]


async def steps_of(directory: LdapDirectory, name: str = "") -> list[clients.TestStep]:
    return [step async for step in directory.test(name)]


async def test_every_step_is_reported(slapd: Slapd, directory: LdapDirectory) -> None:
    steps = await steps_of(directory, "carol")
    assert [step.step for step in steps] == [*ALL, "person"]
    assert all(step.works for step in steps)
    seen = {step.step: step.seen for step in steps}
    assert "TLSv1.3" in seen["tls"]
    assert slapd.ca_file in seen["tls"]
    assert SERVICE in seen["bind"]
    assert "entryUUID" in seen["person"]
    assert "admins" in seen["person"]


async def test_each_server_is_tried(slapd: Slapd, open_directory: Open) -> None:
    steps = await steps_of(open_directory(urls=(slapd.tls_url, slapd.url)))
    assert [step.step for step in steps] == [*ALL[:4], *ALL]
    steps = await steps_of(open_directory(urls=(slapd.tls_url, "ldaps://127.0.0.1:1")))
    assert [(step.step, step.works) for step in steps[4:]] == [("resolve", True), ("connect", False)]


async def test_plain_text_is_pointed_out(slapd: Slapd, open_directory: Open) -> None:
    steps = await steps_of(open_directory(urls=(slapd.url,), allow_plain=True))
    assert [step.step for step in steps] == ALL
    assert "can be read on the way" in steps[2].seen


@pytest.mark.parametrize(
    ("settings", "step", "words"),
    [
        ({"urls": ("http://127.0.0.1",)}, "resolve", "'http://127.0.0.1' is not like ldaps://"),
        ({"urls": ("ldaps://",)}, "resolve", "is not like ldaps://"),
        ({"urls": ("ldaps://127.0.0.1:port",)}, "resolve", "is not like ldaps://"),
        ({"urls": ()}, "resolve", "no server is configured"),
        ({"urls": ("ldaps://no-such-host.invalid",)}, "resolve", "no-such-host.invalid"),
        ({"urls": ("ldaps://127.0.0.1:1",)}, "connect", "127.0.0.1:1 does not take connections"),
        ({"ca_file": ""}, "tls", "certificate"),
        ({"ca_file": "/nowhere.pem"}, "tls", "/nowhere.pem"),
        ({"bind_dn": f"{SERVICE},dc=x"}, "bind", "the bind DN"),
        ({"base": "dc=nowhere"}, "search", "base 'dc=nowhere' cannot be searched"),
        ({"user_filter": "(uid=nobody)"}, "search", "nobody below"),
        ({"user_filter": "(uid=nobody"}, "search", "Bad search filter"),
        ({"group_base": "ou=nowhere"}, "groups", "group_base 'ou=nowhere' cannot be searched"),
        ({"subject_attribute": "employeeNumber"}, "person", "employeeNumber"),
    ],
)
async def test_the_first_step_that_fails_is_the_last(
    open_directory: Open, settings: dict[str, Any], step: str, words: str
) -> None:
    steps = await steps_of(open_directory(**settings), "carol")
    assert [each.works for each in steps] == [True] * (len(steps) - 1) + [False]
    assert steps[-1].step == step
    assert words in steps[-1].seen
    assert PASSWORD not in "".join(each.seen for each in steps)


@pytest.mark.parametrize(("name", "words"), [("nobody", "'nobody' as uid"), ("*", "'*' as uid")])
async def test_a_person_who_is_not_there(directory: LdapDirectory, name: str, words: str) -> None:
    last = (await steps_of(directory, name))[-1]
    assert (last.step, last.works) == ("person", False)
    assert words in last.seen


async def test_a_server_that_hangs_is_an_answer_too(open_directory: Open) -> None:
    async with listener() as server:
        steps = await steps_of(open_directory(urls=(f"ldaps://127.0.0.1:{server.port}",), timeout=0.3))
    assert [(step.step, step.works) for step in steps] == [("resolve", True), ("connect", True), ("tls", False)]
    assert "0.3 s" in steps[-1].seen

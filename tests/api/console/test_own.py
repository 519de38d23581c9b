"""Getting in, and one's own things: profile, password, and what the consoles ask for on every page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.api.console.conftest import Console
from tests.support.inprocess import InProcess
from tests.support.running import PASSWORD

NEW = "Another-12345"


def test_the_own_profile(console: Console) -> None:
    profile = console.get("users/profile")
    assert (profile["id"], profile["username"], profile["roleNames"]) == ("1", "admin", "Administrator")
    assert (profile["deptName"], profile["gender"], profile["mobile"]) == ("Headquarters", 0, "")
    assert profile["createTime"]


def test_the_own_profile_is_changed_field_by_field(console: Console) -> None:
    console.done("PUT", "users/profile", {"id": 99, "nickname": "Boss", "gender": "2"})
    console.done("PUT", "users/profile", {"avatar": "https://example.com/a.png"})
    console.done("PUT", "users/profile", {"mobile": "+49 170 1234567", "email": "boss@example.com"})
    profile = console.get("users/profile")
    assert (profile["nickname"], profile["gender"]) == ("Boss", 2)
    assert profile["avatar"] == console.get("users/me")["avatar"] == "https://example.com/a.png"
    assert (profile["mobile"], profile["email"]) == ("+49 170 1234567", "boss@example.com")
    assert profile["username"] == "admin"


def test_the_picture_of_those_without_one_is_not_stored_when_it_comes_back(console: Console) -> None:
    before = console.get("users/profile")
    console.done("PUT", "users/profile", {"nickname": "Boss", "avatar": before["avatar"], "gender": 1})
    user = console.gatehouse.run(console.gatehouse.accounts.user("admin")).user
    assert user.avatar == ""


@pytest.mark.parametrize(
    "changes", [{"gender": "x"}, {"gender": 7}, {"nickname": "x" * 65}, {"avatar": "javascript:x"}]
)
def test_profiles_that_are_refused(console: Console, changes: dict[str, Any]) -> None:
    console.refused("A0421", "PUT", "users/profile", changes)


def test_the_own_password(gatehouse: InProcess, console: Console) -> None:
    other = Console(gatehouse)
    body = {"oldPassword": PASSWORD, "newPassword": NEW, "confirmPassword": NEW}
    assert "old password" in console.refused("A0210", "PUT", "users/password", body | {"oldPassword": "wrong"})
    assert "differ" in console.refused("A0421", "PUT", "users/password", body | {"confirmPassword": "x"})
    console.refused("A0421", "PUT", "users/password", body | {"newPassword": "short", "confirmPassword": "short"})
    console.refused("A0410", "PUT", "users/password", body | {"confirmPassword": ""})
    console.done("PUT", "users/password", body)
    assert console.get("users/me"), "the session that changed it goes on"
    other.refused("A0230", "GET", "users/me")
    assert Console(gatehouse, password=NEW).get("users/me")


def test_what_every_page_asks_for(user: Callable[..., Console]) -> None:
    nobody = user("nobody")
    assert nobody.get("notices/my", pageNum=1, pageSize=5, isRead=0) == {"list": [], "total": 0}
    assert nobody.get("notices/my-page", pageNum=1, pageSize=10) == {"list": [], "total": 0}
    genders = nobody.get("dicts/gender/items/options")
    assert [item["value"] for item in genders] == ["1", "2", "0"]
    assert nobody.get("dicts/gender/items") == nobody.get("dict/gender/options") == genders
    assert nobody.get("dicts/notice_type/items/options") == []
    [gender] = nobody.get("dict/list")
    assert (gender["dictCode"], gender["dictDataList"]) == ("gender", genders)

"""Everybody's live sessions and the perms of roles, as the administration page reads and changes them."""

from __future__ import annotations

from collections.abc import Callable

from tests.api.console.conftest import Console
from tests.support.inprocess import InProcess

User = Callable[..., Console]


def names(console: Console, **query: object) -> list[str]:
    return sorted(one["username"] for one in console.get("sessions", **query)["sessions"])


def login_is_known(gatehouse: InProcess) -> None:
    """Logins are counted with their audit events, which are written a moment later."""
    gatehouse.run(gatehouse.service.audit.stop())


def test_who_is_logged_in_and_where(gatehouse: InProcess, console: Console, user: User) -> None:
    user("ann")
    Console(gatehouse, "ann")
    user("bob")
    login_is_known(gatehouse)
    assert names(console) == ["admin", "ann", "ann", "bob"]
    assert names(console, keywords="an") == ["ann", "ann"]
    bob = next(one for one in console.get("sessions")["sessions"] if one["username"] == "bob")
    assert names(console, userId=bob["userId"]) == ["bob"]
    assert bob["openedAt"].startswith("2030-")
    assert [one["current"] for one in console.get("sessions", keywords="admin")["sessions"]] == [True]


def test_end_one_session_and_all_of_a_user(gatehouse: InProcess, console: Console, user: User) -> None:
    ann, bob = user("ann"), user("bob")
    other = Console(gatehouse, "ann")
    login_is_known(gatehouse)
    found = {one["username"]: one for one in console.get("sessions")["sessions"]}
    console.done("DELETE", f"sessions/{found['bob']['id']}")
    bob.refused("A0230", "GET", "users/me")
    console.refused("C0113", "DELETE", f"sessions/{found['bob']['id']}")
    for made_up in ("nonsense", "9" * 20 + "-x", "9" * 500):
        console.refused("C0113", "DELETE", f"sessions/{made_up}")
    ended = console.call("DELETE", f"users/{found['ann']['userId']}/sessions")
    assert ended.data == {"ended": 2}
    for gone in (ann, other):
        gone.refused("A0230", "GET", "users/me")


def test_nobody_ends_the_sessions_of_who_holds_more(gatehouse: InProcess, console: Console, user: User) -> None:
    helper = user("helper", "sys:session:list", "sys:session:delete")
    login_is_known(gatehouse)
    admin = next(one for one in helper.get("sessions")["sessions"] if one["username"] == "admin")
    helper.refused("A0301", "DELETE", f"sessions/{admin['id']}")
    helper.refused("A0301", "DELETE", f"users/{admin['userId']}/sessions")
    console.get("users/me")


def test_without_the_perms_there_is_nothing_to_see(user: User) -> None:
    nobody = user("nobody")
    nobody.refused("A0301", "GET", "sessions")
    nobody.refused("A0301", "DELETE", "sessions/1-x")
    nobody.refused("A0301", "DELETE", "users/1/sessions")
    nobody.refused("A0301", "GET", "roles/1/perms")
    nobody.refused("A0301", "PUT", "roles/1/perms", {"perms": []})


def test_the_perms_of_a_role_are_replaced(gatehouse: InProcess, console: Console, user: User) -> None:
    ann = user("ann", "sys:user:query", "sys:log:delete")
    role = gatehouse.run(gatehouse.accounts.role("ANN")).id
    shown = console.get(f"roles/{role}/perms")
    assert shown["perms"] == ["sys:log:delete", "sys:user:list"]
    assert {"sys:role:assign", "sys:log:delete"} <= set(shown["known"])
    console.refused("A0301", "PUT", f"roles/{role}/perms", {"perms": []})  # nobody takes what they do not hold
    owner = gatehouse.run(gatehouse.accounts.role("ADMIN")).id
    gatehouse.run(gatehouse.accounts.allow("ADMIN", ["sys:log:delete"]))
    console.done("PUT", f"roles/{role}/perms", {"perms": ["sys:dept:list", "biz:order:edit"]})
    assert console.get(f"roles/{role}/perms")["perms"] == ["biz:order:edit", "sys:dept:list"]
    assert "sys:user:query" not in ann.get("users/me")["perms"]
    assert "perms" in console.refused("A0421", "PUT", f"roles/{role}/perms", {"perms": ["no perm"]})
    # The last administrator stays one.
    assert console.call("PUT", f"roles/{owner}/perms", {"perms": ["sys:user:list"]}).status >= 400

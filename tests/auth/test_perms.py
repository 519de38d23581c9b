"""Two generations of names for one perm, and ROOT, which stands for all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.auth.perms import (
    ADMIN_PERMS,
    MANAGEMENT_PERMS,
    allows,
    expand,
    is_administrator_role,
    lacking_perms,
    names_of,
)
from gatehouse.management.account_upgrade import add_current_perm_names
from gatehouse.stores.database.account_transactions import AccountTransactions
from gatehouse.stores.database.roles import DataScope
from gatehouse.stores.database.users import NewUser
from tests.support.inprocess import InProcess
from tests.support.running import PASSWORD

OLDER = ("sys:user:query", "sys:user:add", "sys:user:edit", "sys:user:delete")


@pytest.fixture
def gatehouse(tmp_path: Path, engines: None) -> Iterator[InProcess]:
    with InProcess(tmp_path / "data") as running:
        yield running


async def take(gatehouse: InProcess, role: int, perms: list[str]) -> None:
    """Exactly these names, and not the others of the same perms."""
    async with AccountTransactions(gatehouse.service.stores.database, is_administrator_role).begin() as transaction:
        await transaction.deny(role, perms)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("list", "query"),
        ("create", "add"),
        ("update", "edit"),
        ("reset-password", "reset"),
        ("reset-password", "reset_pwd"),
    ],
)
def test_either_name_opens_what_needs_the_other(one: str, other: str) -> None:
    for held, needed in ((one, other), (other, one), (one, one)):
        assert allows({f"sys:user:{held}"}, f"sys:user:{needed}")
        assert not allows({f"sys:user:{held}"}, f"sys:role:{needed}")
    assert expand([f"sys:user:{one}"]) == expand([f"sys:user:{other}"])
    assert {f"sys:user:{one}", f"sys:user:{other}"} <= set(expand([f"sys:user:{one}"]))


def test_names_of_business_perms_are_left_alone() -> None:
    assert names_of("cms:page:edit") == ("cms:page:edit",)
    assert not allows({"cms:page:edit"}, "cms:page:update")
    assert expand(["cms:page:add", "sys:user:delete"]) == ("cms:page:add", "sys:user:delete")


def test_missing_names_what_is_lacking() -> None:
    assert lacking_perms(OLDER, ["sys:user:create", "sys:user:import", "sys:dept:list"]) == [
        "sys:dept:list",
        "sys:user:import",
    ]


def test_who_counts_as_an_administrator() -> None:
    assert is_administrator_role("ROOT", ())
    assert is_administrator_role("ADMIN", ADMIN_PERMS)
    assert is_administrator_role("ADMIN", MANAGEMENT_PERMS)
    assert not is_administrator_role("ADMIN", set(MANAGEMENT_PERMS) - {"sys:role:assign"})
    assert not is_administrator_role("BOSS", ADMIN_PERMS)


def test_users_me_shows_both_names_of_whatever_is_granted(gatehouse: InProcess) -> None:
    accounts = gatehouse.accounts
    gatehouse.run(accounts.add_role("CLERK", "Clerk", ["sys:user:add", "cms:page:edit"]))
    gatehouse.run(accounts.add_user(NewUser("ann", "Ann", hash_password(PASSWORD), 1, 0), ["CLERK"]))
    perms = gatehouse.me(gatehouse.login("ann").data["accessToken"]).data["perms"]
    assert perms == ["cms:page:edit", "sys:user:add", "sys:user:create"]


def test_root_is_shown_every_perm_that_exists(gatehouse: InProcess) -> None:
    accounts = gatehouse.accounts
    gatehouse.run(accounts.add_role("ROOT", "Root"))
    gatehouse.run(accounts.add_role("CLERK", "Clerk", ["cms:page:edit"]))
    gatehouse.run(accounts.grant("admin", ["ROOT"]))
    gatehouse.run(accounts.revoke("admin", ["ADMIN"]))
    user = gatehouse.me(gatehouse.login().data["accessToken"]).data
    assert user["roles"] == ["ROOT"]
    assert {"cms:page:edit", *MANAGEMENT_PERMS, *expand(MANAGEMENT_PERMS)} <= set(user["perms"])


def test_to_deny_a_perm_takes_all_of_its_names(gatehouse: InProcess) -> None:
    accounts = gatehouse.accounts
    token = gatehouse.login().data["accessToken"]
    gatehouse.run(accounts.deny("ADMIN", ["sys:config:query"]))
    perms = gatehouse.me(token).data["perms"]
    assert not {"sys:config:list", "sys:config:query"} & set(perms)
    assert {"sys:session:list", "sys:session:query"} <= set(perms)


def test_an_admin_role_of_the_first_release_gains_the_current_names_once(gatehouse: InProcess) -> None:
    """As 0.1.0 left it, less one perm that the operator had taken away."""
    roles, trail = gatehouse.service.stores.roles, gatehouse.service.stores.audit_trail
    gatehouse.run(gatehouse.accounts.add_role("ROOT", "Root"))
    gatehouse.run(gatehouse.accounts.grant("admin", ["ROOT"]))
    admin = gatehouse.run(roles.by_code("ADMIN"))
    assert admin is not None
    older = {perm for perm in ADMIN_PERMS if perm.rpartition(":")[2] not in {"list", "create", "update", "reset"}}
    gatehouse.run(take(gatehouse, admin.id, [*(set(ADMIN_PERMS) - older), "sys:user:add"]))
    for _ in range(2):
        gatehouse.run(add_current_perm_names(roles, trail, gatehouse.clock()))
    upgraded = gatehouse.run(roles.by_code("ADMIN"))
    assert upgraded is not None
    assert set(upgraded.perms) == set(ADMIN_PERMS) - {"sys:user:add", "sys:user:create"}
    events = gatehouse.run(trail.read(events=["role.changed"]))
    assert [(event.address, "sys:user:update" in (event.detail or "")) for event in events] == [("upgrade", True)]


def test_the_first_administrators_role_sees_all_data(gatehouse: InProcess) -> None:
    admin = gatehouse.run(gatehouse.service.stores.roles.by_code("ADMIN"))
    assert admin is not None
    assert admin.data_scope == DataScope.ALL
    assert set(admin.perms) == set(ADMIN_PERMS)

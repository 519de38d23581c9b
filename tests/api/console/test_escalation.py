"""Nobody gets more than they hold, whatever they try through the console."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from gatehouse.auth.perms import MANAGEMENT_PERMS, expand
from gatehouse.stores.database.departments import DepartmentChange
from gatehouse.stores.database.users import NewUser
from tests.api.console.conftest import HASH, Console
from tests.api.console.test_users import NEW_PASSWORD, id_of, role_id
from tests.support.inprocess import InProcess
from tests.support.selection import cases

MANAGES = ("sys:user:list", "sys:user:create", "sys:user:update", "sys:user:delete", "sys:user:reset-password")
ROLES = ("sys:role:list", "sys:role:create", "sys:role:update", "sys:role:delete", "sys:role:assign")


def test_a_manager_cannot_hand_out_what_the_manager_lacks(console: Console, user: Callable[..., Console]) -> None:
    manager = user("manager", *MANAGES, *ROLES)
    admin, own = role_id(console, "ADMIN"), role_id(console, "MANAGER")
    new: dict[str, Any] = {"username": "x", "nickname": "x", "deptId": 1}
    manager.refused("A0301", "POST", "users", new | {"roleIds": [admin]})
    manager.refused("A0301", "PUT", f"users/{id_of(console, 'manager')}", new | {"roleIds": [own, admin]})
    assert manager.get("roles/options") == [{"value": own, "label": "manager"}]
    manager.done("POST", "users", new | {"roleIds": [own]})
    for code in ("ROOT", "ADMIN2", "FINANCE"):
        console.gatehouse.run(console.gatehouse.accounts.add_role(code, code))
        manager.refused("A0301", "POST", "users", new | {"username": code, "roleIds": [role_id(console, code)]})
    manager.refused("A0301", "PUT", f"roles/{own}", {"name": "m", "code": "ADMIN3"})
    manager.refused("A0301", "PUT", f"roles/{own}", {"name": "m", "code": "MANAGER", "dataScope": 1})
    manager.refused("A0301", "PUT", f"roles/{admin}", {"name": "weak", "code": "ADMIN", "status": 0})
    manager.refused("A0301", "DELETE", f"roles/{admin}")
    manager.done("PUT", f"roles/{own}", {"name": "Managers", "code": "MANAGER", "dataScope": 4})


@pytest.mark.parametrize("role", ["ADMIN", "ROOT"])
def test_nobody_touches_somebody_who_holds_more(console: Console, user: Callable[..., Console], role: str) -> None:
    gatehouse = console.gatehouse
    manager = user("manager", *MANAGES)
    if role == "ROOT":
        gatehouse.run(gatehouse.accounts.add_role("ROOT", "Root"))
    chief = gatehouse.run(gatehouse.accounts.add_user(NewUser("chief", "Chief", HASH, 1, 0), [role]))
    form = {"username": "chief", "nickname": "mine"}
    for caller in (manager, console) if role == "ROOT" else (manager,):
        caller.refused("A0301", "PUT", f"users/{chief}", form)
        caller.refused("A0301", "PUT", f"users/{chief}", form | {"status": 0})
        caller.refused("A0301", "PUT", f"users/{chief}", form | {"roleIds": []})
        caller.refused("A0301", "DELETE", f"users/{chief}")
        caller.refused("A0301", "PUT", f"users/{chief}/password/reset", password=NEW_PASSWORD)
    assert gatehouse.login("chief").status == 200


def test_a_disabled_role_protects_its_holders_all_the_same(console: Console, user: Callable[..., Console]) -> None:
    """Whoever took over such an account would have what it gives as soon as the role is enabled again."""
    manager, auditor = user("manager", *MANAGES), user("auditor", "sys:log:list")
    role = console.get(f"roles/{role_id(console, 'AUDITOR')}/form")
    console.done("PUT", f"roles/{role['id']}", role | {"status": 0})
    assert auditor.get("users/me")["perms"] == []
    manager.refused("A0301", "PUT", f"users/{id_of(console, 'auditor')}/password/reset", password=NEW_PASSWORD)


def test_nobody_but_an_administrator_gives_a_disabled_role_back(console: Console, user: Callable[..., Console]) -> None:
    """Other services go by its code and data scope, so its perms alone do not say what it gives."""
    accounts = console.gatehouse.accounts
    manager = user("manager", *MANAGES, *ROLES)
    console.gatehouse.run(accounts.add_role("FINANCE", "Finance", data_scope=1, enabled=False))
    console.gatehouse.run(accounts.grant("manager", ["FINANCE"]))
    finance = manager.get(f"roles/{role_id(console, 'FINANCE')}/form")
    manager.refused("A0301", "PUT", f"roles/{finance['id']}", finance | {"status": 1})
    assert manager.get("users/me")["roles"] == ["MANAGER"]
    manager.done("PUT", f"roles/{finance['id']}", finance | {"name": "Money"})
    console.done("PUT", f"roles/{finance['id']}", finance | {"status": 1})
    assert manager.get("users/me")["roles"] == ["FINANCE", "MANAGER"]


def test_chosen_departments_are_no_way_to_see_more(console: Console, user: Callable[..., Console]) -> None:
    manager = user("manager", *MANAGES, *ROLES)
    console.gatehouse.run(console.gatehouse.accounts.add_role("NARROW", "Narrow", data_scope=5))
    form = console.get(f"roles/{role_id(console, 'NARROW')}/form")
    for more in ({"deptIds": [1]}, {"dataScope": 2}, {"dataScope": 3}):
        manager.refused("A0301", "PUT", f"roles/{form['id']}", form | more)
    manager.done("PUT", f"roles/{form['id']}", form | {"dataScope": 4})


def test_a_department_is_no_way_around_those_who_hold_more(console: Console, gatehouse: InProcess) -> None:
    """To disable it takes everything from everybody in it, and to enable it gives everything back."""
    accounts = gatehouse.accounts
    north, off = (gatehouse.run(accounts.add_department(name, 1)) for name in ("North", "Off"))
    gatehouse.run(accounts.edit_department(off, DepartmentChange(enabled=False)))
    gatehouse.run(accounts.add_role("ROOT", "Root"))
    gatehouse.run(accounts.add_role("CLEANER", "Cleaner", ["sys:log:delete"]))
    form: dict[str, Any] = {"name": "North", "parentId": 1, "status": 1}
    for code in ("ROOT", "CLEANER"):
        gatehouse.run(accounts.add_user(NewUser(code, code, HASH, north, 0), [code]))
        other = Console(gatehouse, code)
        console.refused("A0301", "PUT", f"depts/{north}", form | {"status": 0})
        console.refused("A0301", "PUT", f"depts/{north}", form | {"parentId": off})
        console.done("PUT", f"depts/{north}", form | {"name": "N", "parentId": 0})
        assert other.get("users/me")["roles"] == [code]
        gatehouse.run(accounts.edit_department(north, DepartmentChange(parent=off)))
        console.refused("A0301", "PUT", f"depts/{north}", form)
        console.refused("A0301", "PUT", f"depts/{off}", {"name": "Off", "parentId": 1, "status": 1})
        assert other.get("users/me")["roles"] == []
        gatehouse.run(accounts.edit_department(north, DepartmentChange(parent=1)))
        gatehouse.run(accounts.delete_user(code))
    console.done("PUT", f"depts/{north}", form | {"status": 0})


def test_the_last_administrator_stays(console: Console, gatehouse: InProcess) -> None:
    own = console.get("users/1/form")
    admin = console.get(f"roles/{role_id(console, 'ADMIN')}/form")
    assert "administrator" in console.refused("A0301", "PUT", "users/1", own | {"status": 0})
    console.refused("A0301", "PUT", "users/1", own | {"roleIds": []})
    console.refused("A0301", "PUT", f"roles/{admin['id']}", admin | {"status": 0})
    console.refused("A0301", "PUT", f"roles/{admin['id']}", admin | {"code": "BOSS"})
    console.refused("A0301", "DELETE", f"roles/{admin['id']}")
    console.refused("A0301", "PUT", f"roles/{admin['id']}/menus", [])
    console.refused("A0301", "PUT", "depts/1", {"name": "Headquarters", "parentId": 0, "status": 0})
    console.refused("A0301", "DELETE", "users/1")
    gatehouse.run(gatehouse.accounts.add_user(NewUser("heir", "Heir", "", 1, 0), ["ADMIN"]))
    console.refused("A0301", "PUT", "users/1", own | {"status": 0})  # the heir cannot log in yet
    console.done("PUT", f"users/{id_of(console, 'heir')}/password/reset", password=NEW_PASSWORD)
    console.refused("A0301", "DELETE", "users/1")  # one's own account
    heir = Console(gatehouse, "heir", NEW_PASSWORD)
    heir.done("DELETE", "users/1")
    heir.refused("A0301", "DELETE", f"users/{id_of(heir, 'heir')}")


def test_root_may_do_everything(console: Console, gatehouse: InProcess) -> None:
    accounts = gatehouse.accounts
    gatehouse.run(accounts.add_role("ROOT", "Root"))
    gatehouse.run(accounts.add_role("CLEANER", "Cleaner", ["sys:log:delete"]))
    gatehouse.run(accounts.add_user(NewUser("root", "Root", HASH, 1, 0), ["ROOT"]))
    root = Console(gatehouse, "root")
    ids = [role_id(root, code) for code in ("ROOT", "ADMIN", "CLEANER")]
    root.done("POST", "users", {"username": "x", "nickname": "x", "roleIds": ids})
    console.refused("A0301", "POST", "users", {"username": "y", "nickname": "y", "roleIds": ids[2:]})
    gatehouse.run(accounts.allow("CLEANER", ["cms:page:print"]))
    assert "cms:page:print" in root.get("users/me")["perms"], "shown on the next request"
    root.done("DELETE", "users/1")
    root.refused("A0301", "DELETE", f"users/{id_of(root, 'root')}")


PEOPLE = ("ann", "bob", "cyd")
CODES = ("ONE", "TWO", "THREE")
# What one of the people starts with; nobody ever gets anything beyond what one of them has.
STARTS = {"ONE": MANAGES, "TWO": (*MANAGES, *ROLES), "THREE": ("sys:log:list", "sys:user:list")}


class Escalation(RuleBasedStateMachine):
    """Three people with roles try things on each other. Nobody's perms grow beyond those of who changed them."""

    folder: Path

    @initialize(held=st.lists(st.sampled_from(CODES), min_size=3, max_size=3))
    def begin(self, held: list[str]) -> None:
        self.gatehouse = InProcess(self.folder / "data")
        accounts = self.gatehouse.accounts
        for code, perms in STARTS.items():
            self.gatehouse.run(accounts.add_role(code, code, perms))
        self.numbers = {
            name: self.gatehouse.run(accounts.add_user(NewUser(name, name, HASH, 1, 0), [code]))
            for name, code in zip(PEOPLE, held, strict=True)
        }
        self.consoles = {name: Console(self.gatehouse, name) for name in PEOPLE}
        self.admin = Console(self.gatehouse)
        self.roles = {row["code"]: row["id"] for row in self.admin.get("roles", pageSize=100)["list"]}
        self.before = self.powers()

    def powers(self) -> dict[str, set[str]]:
        """What each user would have if all of its roles were enabled."""
        perms = {
            role.id: set(expand(role.perms)) for role in self.gatehouse.run(self.gatehouse.service.stores.roles.all())
        }
        return {
            name: set().union(
                *(
                    perms[role]
                    for role in self.gatehouse.run(self.gatehouse.service.stores.user_search.role_ids(number))
                )
            )
            for name, number in self.numbers.items()
        }

    def call(self, who: str, method: str, path: str, body: object = None, **query: str) -> bool:
        console = self.consoles[who]
        answer = console.call(method, path, body, **query)
        if answer.code == "A0230":  # somebody has ended its sessions
            return False
        assert answer.code in {"00000", "A0301", "A0440", "C0113"}, answer.content
        held, self.before = self.before, self.powers()
        allowed = answer.code == "00000"
        for name, now in self.before.items():
            grown = now - held[name]
            assert not grown or (allowed and grown <= held[who]), (who, method, path, name, grown)
        return allowed

    @rule(who=st.sampled_from(PEOPLE), whom=st.sampled_from(PEOPLE), codes=st.sets(st.sampled_from([*CODES, "ADMIN"])))
    def edit(self, who: str, whom: str, codes: set[str]) -> None:
        body = {"username": whom, "nickname": whom, "roleIds": [self.roles[code] for code in sorted(codes)]}
        held, own = self.before[whom], self.before[who]
        if self.call(who, "PUT", f"users/{self.numbers[whom]}", body):
            assert held <= own, "nobody edits somebody who holds more"

    @rule(who=st.sampled_from(PEOPLE), whom=st.sampled_from(PEOPLE))
    def reset(self, who: str, whom: str) -> None:
        held, own = self.before[whom], self.before[who]
        if self.call(who, "PUT", f"users/{self.numbers[whom]}/password/reset", password=NEW_PASSWORD):
            assert held <= own, "nobody resets somebody who holds more"
            self.consoles[whom] = Console(self.gatehouse, whom, NEW_PASSWORD)

    @rule(
        who=st.sampled_from(PEOPLE), code=st.sampled_from([*CODES, "ADMIN"]), new=st.sampled_from([*CODES, "X", "ROOT"])
    )
    def rename(self, who: str, code: str, new: str) -> None:
        if self.call(who, "PUT", f"roles/{self.roles[code]}", {"name": new, "code": new}):
            assert code == new, "only administrators change a code"

    @rule(who=st.sampled_from(PEOPLE), code=st.sampled_from([*CODES, "ADMIN"]), buttons=st.sets(st.integers(1, 40)))
    def assign(self, who: str, code: str, buttons: set[int]) -> None:
        self.call(who, "PUT", f"roles/{self.roles[code]}/menus", sorted(buttons))

    @precondition(lambda self: hasattr(self, "admin"))
    @invariant()
    def the_administrator_is_untouched(self) -> None:
        assert set(MANAGEMENT_PERMS) <= set(self.admin.get("users/me")["perms"])

    def teardown(self) -> None:
        if hasattr(self, "gatehouse"):
            self.gatehouse.close()


def test_nobody_escalates_in_any_order_of_attempts(tmp_path: Path) -> None:
    folders: Iterator[Path] = (tmp_path / str(number) for number in range(10_000))

    class Here(Escalation):
        @property
        def folder(self) -> Path:  # type: ignore[override]
            if not hasattr(self, "_folder"):
                self._folder = next(folders)
                self._folder.mkdir()
            return self._folder

    checks = settings(
        phases=[Phase.reuse, Phase.generate],  # to shrink a failure would take many minutes
        max_examples=cases(12),
        stateful_step_count=12,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    run_state_machine_as_test(Here, settings=checks)

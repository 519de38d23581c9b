"""What access tokens say about their user, by the settings; and what is left out when it is too much."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gatehouse.auth.keys.algorithms import ALGORITHMS
from gatehouse.auth.keys.jws import MAX_TOKEN_LENGTH
from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.auth.sessions.claims import data_scope_claims, reductions
from gatehouse.stores.database.roles import NewRole
from gatehouse.stores.database.schema import role_departments, roles
from gatehouse.stores.database.users import NewUser, RoleDataScope
from tests.auth.sessions.test_tokens import parts
from tests.support.inprocess import InProcess
from tests.support.running import PASSWORD

OWN = {"roleCode": "", "dataScope": 4, "customDeptIds": []}


@contextmanager
def admin_token(data: Path, **settings: Any) -> Iterator[tuple[InProcess, str]]:
    with InProcess(data, **settings) as gatehouse:
        yield gatehouse, gatehouse.login().data["accessToken"]


def claims_of(data: Path, **settings: object) -> dict[str, Any]:
    with admin_token(data, **settings) as (_, token):
        return parts(token)[1]


def test_the_claims_that_every_token_has(tmp_path: Path) -> None:
    claims = claims_of(tmp_path / "data")
    assert set(claims) == {
        "iss", "aud", "sub", "sid", "jti", "iat", "exp", "auth_time", "amr", "preferred_username", "dept", "roles",
    }  # fmt: skip
    assert (claims["sub"], claims["preferred_username"], claims["dept"], claims["roles"]) == (
        "1", "admin", 1, ["ADMIN"],
    )  # fmt: skip


def test_perms_by_a_setting_are_those_of_the_current_user(tmp_path: Path) -> None:
    with admin_token(tmp_path / "data", token_perms="on") as (gatehouse, token):
        assert parts(token)[1]["perms"] == gatehouse.me(token).data["perms"]


@pytest.mark.parametrize("token_type", ["at+jwt", "JWT"])
def test_the_type_by_a_setting_and_both_are_read_whatever_it_is(tmp_path: Path, token_type: str) -> None:
    with admin_token(tmp_path / "data", token_type=token_type, issuer="http://gatehouse.localhost") as (_, token):
        assert parts(token)[0]["typ"] == token_type
    for setting in ("at+jwt", "JWT"):
        with InProcess(tmp_path / "data", token_type=setting, issuer="http://gatehouse.localhost") as gatehouse:
            assert gatehouse.me(token).status == 200, "a change of the setting logs nobody out"


def test_the_names_of_youlai_by_a_setting(tmp_path: Path) -> None:
    claims = claims_of(tmp_path / "data", token_claims="youlai")
    assert (claims["userId"], claims["deptId"], claims["username"]) == (1, 1, "admin")
    assert claims["authorities"] == ["ROLE_ADMIN"]
    assert [scope["roleCode"] for scope in claims["dataScopes"]] == ["ADMIN"]
    assert claims["sub"] == "1", "the subject stays the id"


@pytest.mark.usefixtures("engines")
def test_data_scopes_come_from_the_enabled_roles_and_their_chosen_departments(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", token_claims="youlai") as gatehouse:

        async def arrange() -> None:
            accounts = gatehouse.accounts
            for code in ("ALL", "CHOSEN", "OFF"):
                await gatehouse.service.stores.roles.add(NewRole(code, code))
            async with gatehouse.service.stores.database.writing() as db:
                for code, scope in (("ALL", 1), ("CHOSEN", 5), ("OFF", 1)):
                    await db.execute(roles.update().where(roles.c.code == code).values(data_scope=scope))
                await db.execute(roles.update().where(roles.c.code == "OFF").values(enabled=False))
                chosen = (await db.scalar(roles.select().where(roles.c.code == "CHOSEN"))) or 0
                await db.execute(role_departments.insert().values(role=chosen, department=1))
            await accounts.grant("admin", ["ALL", "CHOSEN", "OFF"])

        gatehouse.run(arrange())
        scopes = parts(gatehouse.login().data["accessToken"])[1]["dataScopes"]
        assert [(scope["roleCode"], scope["dataScope"], scope["customDeptIds"]) for scope in scopes] == [
            ("ADMIN", scopes[0]["dataScope"], []), ("ALL", 1, []), ("CHOSEN", 5, [1]),
        ]  # fmt: skip


def test_a_user_without_any_role_gets_the_narrowest_data_scope(tmp_path: Path) -> None:
    with InProcess(tmp_path / "data", token_claims="youlai") as gatehouse:
        accounts = gatehouse.accounts
        gatehouse.run(accounts.add_user(NewUser("other", "Other", hash_password(PASSWORD), 1, 0), ["ADMIN"]))
        gatehouse.run(accounts.revoke("admin", ["ADMIN"]))
        claims = parts(gatehouse.login().data["accessToken"])[1]
        assert (claims["roles"], claims["authorities"], claims["dataScopes"]) == ([], [], [OWN])


@pytest.mark.parametrize("scope", [0, 4, 5, 6, -1, 99])
def test_a_scope_that_is_unknown_or_chooses_nothing_is_the_narrowest(scope: int) -> None:
    assert data_scope_claims((RoleDataScope("R", scope),)) == [{"roleCode": "R", "dataScope": 4, "customDeptIds": ()}]


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_a_token_never_outgrows_a_header_line_and_works_whatever_is_left_out(tmp_path: Path, algorithm: str) -> None:
    settings: dict[str, Any] = {"token_perms": "on", "token_claims": "youlai", "signing_algorithm": algorithm}
    with InProcess(tmp_path / "data", **settings) as gatehouse:
        accounts = gatehouse.accounts

        def grow(number: int, perms: int) -> dict[str, Any]:
            code = f"ROLE-{number:02d}-" + "x" * 40
            new = [f"shop:{code}:{perm}" for perm in range(perms)]
            gatehouse.run(gatehouse.service.stores.roles.add(NewRole(code, code), new))
            gatehouse.run(accounts.grant("admin", [code]))
            gatehouse.run(gatehouse.service.stores.state.raise_epochs([1], gatehouse.clock()))
            token = gatehouse.login().data["accessToken"]
            assert len(token) <= MAX_TOKEN_LENGTH
            assert gatehouse.me(token).status == 200
            assert len(gatehouse.me(token).data["roles"]) == number + 1, "Gatehouse itself knows all of them"
            return parts(token)[1]

        shown = [grow(number, perms=3) for number in range(1, 40)]
    # All perms or none: half a list would be taken for the whole.
    with_perms = [len(claims["perms"]) for claims in shown if "perms" in claims]
    assert with_perms == sorted(with_perms)
    assert with_perms[-1] - with_perms[0] == 3 * (len(with_perms) - 1)
    assert "perms" not in shown[-1]
    # Then data scopes shrink to the narrowest, and at last the roles go: each step allows less.
    kept = [claims for claims in shown if claims["roles"]]
    assert [len(claims["roles"]) for claims in kept] == list(range(2, len(kept) + 2))
    assert kept[-1]["dataScopes"] == [OWN]
    assert (shown[-1]["roles"], shown[-1]["authorities"], shown[-1]["dataScopes"]) == ([], [], [OWN])


def test_what_is_left_out_only_ever_narrows() -> None:
    claims = {"sub": "1", "roles": ["A"], "perms": ["a:b:c"]}
    assert list(reductions(claims)) == [
        claims, {"sub": "1", "roles": ["A"]}, {"sub": "1", "roles": []},
    ]  # fmt: skip

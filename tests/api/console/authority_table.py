"""Who may do what to whom, as a table: what the rules of `authority.py` say, and the calls that try it.

`python -m tests.api.console.authority_table` writes docs/authority.md anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from gatehouse.auth.perms import MANAGEMENT_PERMS, expand, perms_of
from gatehouse.auth.refusals import BeyondAuthority, Need
from gatehouse.management import authority
from gatehouse.management.authority import Actor, Holder, RoleGrant
from gatehouse.management.data_scopes import Scope
from gatehouse.stores.database.roles import DataScope

PAGE = Path(__file__).parents[3] / "docs" / "authority.md"

# Departments: two below Headquarters, one of them with a team.
HEADQUARTERS, BRANCH, TEAM, OTHER = 1, 2, 3, 4
PARENTS = {HEADQUARTERS: None, BRANCH: HEADQUARTERS, TEAM: BRANCH, OTHER: HEADQUARTERS}
PLACES = {HEADQUARTERS: "Headquarters", BRANCH: "Branch", TEAM: "Team", OTHER: "Other"}

HAS, LACKS, ROOT_ONLY, SHOP_PERM = "sys:user:list", "sys:log:list", "sys:config:list", "shop:order:refund"


def role(code: str, *perms: str, scope: DataScope = DataScope.OWN, enabled: bool = True) -> RoleGrant:
    return RoleGrant(code, frozenset(perms), Scope(scope), enabled)


PERMS = (*MANAGEMENT_PERMS, *perms_of("source", "app"))
MANAGER = role("MANAGER", *(perm for perm in PERMS if perm != LACKS), scope=DataScope.DEPARTMENT_AND_BELOW)
ADMIN = role("ADMIN", *PERMS, scope=DataScope.ALL)
ROOT = role("ROOT")
FINANCE, SHOP = role("FINANCE"), role("SHOP", SHOP_PERM)
AUDITOR, OPERATIONS = role("AUDITOR", LACKS), role("OPERATIONS", ROOT_ONLY)
ROLES = (MANAGER, ADMIN, ROOT, FINANCE, SHOP, AUDITOR, OPERATIONS)


class Kind(NamedTuple):
    """Somebody who tries things."""

    role: RoleGrant
    department: int

    def actor(self, *more: RoleGrant) -> Actor:
        held = (self.role, *more)
        perms = expand(perm for each in held for perm in each.perms)
        codes, scopes = frozenset(each.code for each in held), tuple(each.scope for each in held)
        return Actor(SELF, codes, frozenset(perms), department=self.department, scopes=scopes)


SELF, SOMEBODY = 7, 8
KINDS = (Kind(MANAGER, BRANCH), Kind(ADMIN, HEADQUARTERS), Kind(ROOT, HEADQUARTERS))


class World(Protocol):
    """What the calls are tried in: everything it makes is new, so that no call disturbs another."""

    def user(self, department: int, *codes: str) -> int: ...
    def name(self, user: int) -> str: ...
    def session(self, user: int) -> str: ...
    def role(self, like: RoleGrant, *, held: bool, where: int = BRANCH) -> int: ...
    def role_id(self, code: str) -> int: ...
    def department(self, parent: int, *, people: bool = False, enabled: bool = True) -> int: ...
    def button(self, perm: str) -> int: ...
    def page(self) -> int: ...
    def source(self) -> str: ...
    def identity(self, user: int) -> int: ...
    def application(self) -> str: ...
    def unused(self) -> str: ...
    def me(self, *more: str) -> int: ...


class Call(NamedTuple):
    """One request by the name of its operation; `number` is in the path."""

    operation: str
    number: object = ""
    body: object = None
    password: str = ""  # in the query
    sheet: list[str] | None = None  # a row to import, in place of a body
    identity: int = 0  # in the path as well


Try = Callable[[World], Call]


class Row(NamedTuple):
    what: str
    whom: str
    rule: Callable[[Kind], None]  # raises what `authority.py` raises
    tries: Sequence[Try]

    def lack(self, kind: Kind) -> Need | None:
        try:
            self.rule(kind)
        except BeyondAuthority as refusal:
            return refusal.need
        return None


# Changes to users

Target = Callable[[World], int]


def edited(world: World, user: int, **changes: Any) -> Call:
    return Call("edit_user", user, {"username": world.name(user), "nickname": "Edited", **changes})


def edits(target: Target) -> list[Try]:
    return [
        lambda world: edited(world, target(world)),
        lambda world: edited(world, target(world), status=0),
        lambda world: Call("end_user_sessions", target(world)),
        lambda world: Call("end_live_session", world.session(target(world))),
        lambda world: Call("lift_lockout", body={"name": world.name(target(world))}),
    ]


def takeovers(target: Target) -> list[Try]:
    password = "tulip rain lamp 42"
    return [
        lambda world: Call("reset_password", target(world), password=password),
        lambda world: Call("set_user_password", target(world), {"password": password}),
        lambda world: Call("make_password_link", target(world)),
        lambda world: Call("reset_second_factor", target(world)),
        lambda world: unlinked(world, target(world)),
        lambda world: Call("delete_users", target(world)),
    ]


def unlinked(world: World, user: int) -> Call:
    return Call("unlink_user", user, identity=world.identity(user))


def user_rows() -> list[Row]:
    rows = []
    people = [
        ("without roles", ()),
        ("with your role MANAGER", (MANAGER,)),
        *((f"with {each.code}", (each,)) for each in (FINANCE, SHOP, AUDITOR, OPERATIONS, ADMIN, ROOT)),
    ]
    for what, tries, own in (
        ("edit", edits, True),
        ("take over", takeovers, False),
    ):

        def of_oneself(kind: Kind, own: bool = own) -> None:
            if not own:
                authority.forbid_own_account(kind.actor(), [SELF])
            authority.require_manage(kind.actor(), Holder(SELF, kind.department, (kind.role,)), PARENTS)

        rows.append(Row(what, "yourself", of_oneself, tries(lambda world: world.me())))
        for who, roles in people:
            for department in (BRANCH, HEADQUARTERS) if roles in {(), (MANAGER,)} else (BRANCH,):
                holder = Holder(SOMEBODY, department, roles)

                def of_another(kind: Kind, holder: Holder = holder) -> None:
                    authority.require_manage(kind.actor(), holder, PARENTS)

                def target(world: World, holder: Holder = holder) -> int:
                    return world.user(holder.department, *(each.code for each in holder.roles))

                rows.append(Row(what, f"a user {who}, in {PLACES[department]}", of_another, tries(target)))
    return rows


def grant_rows() -> list[Row]:
    rows = []
    for each in ROLES:
        plain, with_role = Holder(SOMEBODY, BRANCH), Holder(SOMEBODY, BRANCH, (each,))

        def grant(kind: Kind, plain: Holder = plain, with_role: Holder = with_role) -> None:
            authority.require_user_change(kind.actor(), plain, with_role, PARENTS)

        def take(kind: Kind, plain: Holder = plain, with_role: Holder = with_role) -> None:
            authority.require_user_change(kind.actor(), with_role, plain, PARENTS)

        tries: list[Try] = [
            lambda world, each=each: edited(world, world.user(BRANCH), roleIds=[world.role_id(each.code)]),  # type: ignore[misc]
            lambda world, each=each: added(world, BRANCH, each),  # type: ignore[misc]
            lambda world, each=each: imported(world, "Branch", each.code),  # type: ignore[misc]
        ]
        rows += [
            Row("grant", each.code, grant, tries),
            Row("take", each.code, take, [
                lambda world, each=each: edited(world, world.user(BRANCH, each.code), roleIds=[])  # type: ignore[misc]
            ]),
        ]  # fmt: skip

    def own(kind: Kind, *, department: int = 0, roles: tuple[RoleGrant, ...] = ()) -> None:
        before = Holder(SELF, kind.department, (kind.role,))
        after = Holder(SELF, department or kind.department, roles or before.roles)
        authority.require_user_change(kind.actor(), before, after, PARENTS)

    rows += [
        Row("change the roles", "yourself", lambda kind: own(kind, roles=(kind.role, FINANCE)), [
            lambda world: edited(world, world.me(), roleIds=[world.role_id("FINANCE")]),
            lambda world: edited(world, world.me(), roleIds=[]),
        ]),
        Row("change the department", "yourself", lambda kind: own(kind, department=TEAM), [
            lambda world: edited(world, world.me(), deptId=TEAM),
            lambda world: edited(world, world.me(), deptId=OTHER),
        ]),
        Row(
            "grant", "MANAGER, to a user in Headquarters",
            lambda kind: authority.require_user_change(
                kind.actor(), Holder(SOMEBODY, HEADQUARTERS), Holder(SOMEBODY, HEADQUARTERS, (MANAGER,)), PARENTS
            ),
            [lambda world: edited(world, world.user(HEADQUARTERS), roleIds=[world.role_id("MANAGER")])],
        ),
    ]  # fmt: skip
    return rows


def added(world: World, department: int, *roles: RoleGrant) -> Call:
    ids = [world.role_id(each.code) for each in roles]
    body = {"username": world.unused(), "nickname": "New", "deptId": department, "roleIds": ids}
    return Call("add_user", body=body)


def imported(world: World, department: str, roles: str = "") -> Call:
    return Call("import_users", sheet=[world.unused(), "", "", "", "", department, roles])


def place_rows() -> list[Row]:
    rows = []
    for department, name in PLACES.items():

        def add(kind: Kind, department: int = department) -> None:
            authority.require_user_change(kind.actor(), None, Holder(None, department), PARENTS)

        tries: list[Try] = [
            lambda world, department=department: added(world, department),  # type: ignore[misc]
            lambda world, name=name: imported(world, name),  # type: ignore[misc]
        ]
        rows.append(Row("add a user", f"in {name}", add, tries))
    for here, there in ((BRANCH, TEAM), (TEAM, HEADQUARTERS), (OTHER, BRANCH), (BRANCH, OTHER)):

        def move(kind: Kind, here: int = here, there: int = there) -> None:
            authority.require_user_change(kind.actor(), Holder(SOMEBODY, here), Holder(SOMEBODY, there), PARENTS)

        rows.append(
            Row("move a user without roles", f"from {PLACES[here]} to {PLACES[there]}", move, [
                lambda world, here=here, there=there: edited(world, world.user(here), deptId=there)  # type: ignore[misc]
            ])
        )  # fmt: skip
    return rows


# Changes to roles


def role_change(before: RoleGrant | None, after: RoleGrant | None, *, held: bool = False) -> Callable[[Kind], None]:
    holders = {SOMEBODY: BRANCH} if held else {}
    return lambda kind: authority.require_role_change(kind.actor(), before, after, holders, PARENTS)


def form(world: World, number: int, like: RoleGrant, **changes: Any) -> Call:
    """A change of the role with this number; its code stays unless it is given."""
    body = {"name": "Edited", "code": world.name(-number), "status": int(like.enabled), "dataScope": like.scope.kind}
    return Call("edit_role", number, body | changes)


def unticked(world: World, number: int, *perms: str) -> Call:
    """No menu, where there is a button for each of the role's perms."""
    for perm in perms:
        world.button(perm)
    return Call("assign_menus", number, [])


def role_rows() -> list[Row]:
    rows = []
    for scope, label in (
        (DataScope.OWN, "own data"),
        (DataScope.DEPARTMENT_AND_BELOW, "its holders' department and below"),
        (DataScope.ALL, "all data"),
        (DataScope.CHOSEN, "chosen departments"),
    ):
        chosen = frozenset({HEADQUARTERS}) if scope is DataScope.CHOSEN else frozenset[int]()
        new = RoleGrant("NEW", frozenset(), Scope(scope, chosen))
        rows.append(
            Row("add a role", f"that shows {label}", role_change(None, new), [
                lambda world, scope=scope, chosen=chosen: Call(  # type: ignore[misc]
                    "add_role",
                    body={"name": "New", "code": world.unused(), "dataScope": scope, "deptIds": sorted(chosen)},
                )
            ])
        )  # fmt: skip
    for like in (role("NEW"), role("NEW", HAS), role("NEW", SHOP_PERM), role("NEW", LACKS), role("NEW", ROOT_ONLY)):
        perms = f"a role with {', '.join(sorted(like.perms))}" if like.perms else "a role without perms"
        for held in (False, True):
            whom = f"{perms}, held by others" if held else perms
            make = _maker(like, held=held)
            disabled = like._replace(enabled=False)
            rows += [
                Row("rename", whom, role_change(like, like, held=held), [
                    lambda world, make=make, like=like: form(world, make(world), like)  # type: ignore[misc]
                ]),
                Row("disable", whom, role_change(like, disabled, held=held), [
                    lambda world, make=make, like=like: form(world, make(world), like, status=0)  # type: ignore[misc]
                ]),
                Row("delete", whom, role_change(like, None, held=held), [
                    lambda world, make=make: Call("delete_roles", make(world))  # type: ignore[misc]
                ]),
            ]  # fmt: skip
            if like.perms:
                rows.append(
                    Row("empty", whom, role_change(like, role("NEW"), held=held), [
                        lambda world, make=make: Call("set_role_perms", make(world), {"perms": []}),  # type: ignore[misc]
                        lambda world, make=make, like=like: unticked(world, make(world), *like.perms),  # type: ignore[misc]
                    ])
                )  # fmt: skip
    plain, held_plain = role("NEW"), _maker(role("NEW"), held=True)
    for perm in (HAS, SHOP_PERM, LACKS, ROOT_ONLY):
        rows.append(
            Row("give a perm", perm, role_change(plain, role("NEW", perm), held=True), [
                lambda world, perm=perm: Call("set_role_perms", held_plain(world), {"perms": [perm]}),  # type: ignore[misc]
                lambda world, perm=perm: Call("assign_menus", held_plain(world), [world.button(perm)]),  # type: ignore[misc]
            ])
        )  # fmt: skip
    narrow, wide = role("NEW", scope=DataScope.OWN), role("NEW", scope=DataScope.DEPARTMENT)
    off = role("NEW", enabled=False)
    rows += [
        Row("change the code", "a role without perms", role_change(plain, role("OTHER")), [
            lambda world: form(world, world.role(plain, held=False), plain, code=world.unused())
        ]),
        Row("enable", "a role without perms", role_change(off, plain), [
            lambda world: form(world, world.role(off, held=False), off, status=1)
        ]),
        Row("extend the data scope", "a role that you do not hold", role_change(narrow, wide, held=True), [
            lambda world: form(world, world.role(narrow, held=True), wide)
        ]),
        Row("narrow the data scope", "a role that others hold", role_change(wide, narrow, held=True), [
            lambda world: form(world, world.role(wide, held=True), narrow)
        ]),
        Row("extend the data scope", "a role that you hold", _of_own_role(narrow, wide, BRANCH), [
            lambda world: form(world, _own_role(world, narrow, BRANCH), wide)
        ]),
        *(
            Row("narrow the data scope, disable, delete", whom, _of_own_role(wide, narrow, where), [
                lambda world, where=where: form(world, _own_role(world, wide, where), narrow),  # type: ignore[misc]
                lambda world, where=where: form(world, _own_role(world, wide, where), wide, status=0),  # type: ignore[misc]
                lambda world, where=where: Call("delete_roles", _own_role(world, wide, where)),  # type: ignore[misc]
            ])
            for where, whom in (
                (BRANCH, "a role for the department, which you hold and others in Branch"),
                (HEADQUARTERS, "a role for the department, which you hold and others in Headquarters"),
            )
        ),
        Row("rename", "the role ADMIN", role_change(ADMIN, ADMIN, held=True), [
            lambda world: form(world, world.role_id("ADMIN"), ADMIN)
        ]),
        Row("rename", "the role ROOT", role_change(ROOT, ROOT, held=True), [
            lambda world: form(world, world.role_id("ROOT"), ROOT)
        ]),
    ]  # fmt: skip
    return rows


def _maker(like: RoleGrant, *, held: bool) -> Target:
    return lambda world: world.role(like, held=held)


def _own_role(world: World, like: RoleGrant, where: int) -> int:
    number = world.role(like, held=True, where=where)
    world.me(world.name(-number))
    return number


def _of_own_role(before: RoleGrant, after: RoleGrant, where: int) -> Callable[[Kind], None]:
    def rule(kind: Kind) -> None:
        holders = {SELF: kind.department, SOMEBODY: where}
        authority.require_role_change(kind.actor(before), before, after, holders, PARENTS)

    return rule


# Changes to menus and departments


def menu_rows() -> list[Row]:
    rows = []
    for perm in (HAS, SHOP_PERM, LACKS, ROOT_ONLY):
        body = {"type": "B", "name": "Button", "perm": perm}

        def allowed(kind: Kind, perm: str = perm) -> None:
            authority.require_perms(kind.actor(), [perm])

        rows += [
            Row("add", f"a button with {perm}", allowed, [
                lambda world, body=body: Call("add_menu", body=body | {"parentId": world.page()}),  # type: ignore[misc]
                lambda world, body=body: Call("edit_menu", world.page(), body | {"parentId": world.page()}),  # type: ignore[misc]
            ]),
            Row("change, delete", f"a button with {perm}", allowed, [
                lambda world, body=body, perm=perm: Call(  # type: ignore[misc]
                    "edit_menu", world.button(perm), body | {"parentId": world.page(), "name": "Harmless"}
                ),
                lambda world, body=body, perm=perm: Call(  # type: ignore[misc]
                    "edit_menu", world.button(perm), body | {"parentId": world.page(), "perm": HAS}
                ),
                lambda world, perm=perm: Call("delete_menu", world.button(perm)),  # type: ignore[misc]
            ]),
        ]  # fmt: skip
    page = {"type": "M", "name": "Page", "routePath": "page", "component": "page"}
    rows.append(
        Row("add, change, delete", "a page without buttons", lambda kind: authority.require_perms(kind.actor(), []), [
            lambda world: Call("add_menu", body=page),
            lambda world: Call("edit_menu", world.page(), page),
            lambda world: Call("delete_menu", world.page()),
        ])
    )  # fmt: skip
    return rows


def department_rows() -> list[Row]:
    def change(*places: int | None, people: bool = False) -> Callable[[Kind], None]:
        some = [SOMEBODY] if people else []
        return lambda kind: authority.require_department_change(kind.actor(), places, PARENTS, people=some)

    def body(world: World, parent: int | None, status: int = 1) -> dict[str, Any]:
        return {"name": world.unused(), "parentId": parent or 0, "status": status}

    rows = [
        Row("add a department", f"below {PLACES[parent]}" if parent else "at the top", change(parent), [
            lambda world, parent=parent: Call("add_department", body=body(world, parent))  # type: ignore[misc]
        ])
        for parent in (BRANCH, TEAM, HEADQUARTERS, OTHER, None)
    ]  # fmt: skip
    for here, there in ((BRANCH, TEAM), (BRANCH, HEADQUARTERS), (OTHER, BRANCH), (BRANCH, None)):
        whom = f"an empty one, from below {PLACES[here]} to {f'below {PLACES[there]}' if there else 'the top'}"
        rows.append(
            Row("move a department", whom, change(here, there), [
                lambda world, here=here, there=there: Call(  # type: ignore[misc]
                    "edit_department", world.department(here), body(world, there)
                )
            ])
        )  # fmt: skip
    rows += [
        Row("disable, enable, delete", f"an empty one below {PLACES[here]}", change(here), [
            lambda world, here=here: Call("edit_department", world.department(here), body(world, here, 0)),  # type: ignore[misc]
            lambda world, here=here: Call(  # type: ignore[misc]
                "edit_department", world.department(here, enabled=False), body(world, here)
            ),
            lambda world, here=here: Call("delete_departments", world.department(here)),  # type: ignore[misc]
        ])
        for here in (BRANCH, OTHER)
    ]  # fmt: skip
    rows.append(
        Row("move a department", "one with users, from below Branch to below Team", change(TEAM, people=True), [
            lambda world: Call("edit_department", world.department(BRANCH, people=True), body(world, TEAM))
        ])
    )  # fmt: skip
    for each in (FINANCE, SHOP, AUDITOR, OPERATIONS, ROOT):

        def disable(kind: Kind, each: RoleGrant = each) -> None:
            change(TEAM, people=True)(kind)
            authority.require_switch(kind.actor(), [each])

        def disabled(world: World, each: RoleGrant = each) -> Call:
            department = world.department(BRANCH)
            world.user(department, each.code)
            return Call("edit_department", department, body(world, BRANCH, 0))

        rows.append(Row("disable", f"one with users who hold {each.code}", disable, [disabled]))
    return rows


# Sources of identity


def new_source(world: World, *codes: str) -> dict[str, Any]:
    config = {"issuer": "https://127.0.0.1:1", "clientId": "x", "mapping": {"defaultRoles": codes}}
    return {"name": world.unused(), "kind": "openid", "config": config}


def source_rows() -> list[Row]:
    rows = [
        Row("add, change, test, remove", "a source", lambda kind: authority.require_administrator(kind.actor()), [
            lambda world: Call("add_identity_source", body=new_source(world)),
            lambda world: Call("edit_identity_source", world.source(), {"title": "Edited"}),
            lambda world: Call("test_identity_source", world.source()),
            lambda world: Call("remove_identity_source", world.source()),
        ])
    ]  # fmt: skip
    for each in (FINANCE, SHOP, AUDITOR, OPERATIONS, ADMIN, ROOT):

        def give(kind: Kind, each: RoleGrant = each) -> None:
            authority.require_administrator(kind.actor())
            authority.require_grant(kind.actor(), [each])

        rows.append(
            Row("add", f"a source that gives {each.code}", give, [
                lambda world, each=each: Call("add_identity_source", body=new_source(world, each.code))  # type: ignore[misc]
            ])
        )  # fmt: skip
    for who, roles in (("without roles", ()), ("with AUDITOR", (AUDITOR,)), ("with ROOT", (ROOT,))):

        def link(kind: Kind, roles: tuple[RoleGrant, ...] = roles) -> None:
            authority.require_administrator(kind.actor())
            authority.require_manage(kind.actor(), Holder(SOMEBODY, BRANCH, roles), PARENTS)

        rows.append(
            Row("link", f"a user {who}, in Branch", link, [
                lambda world, roles=roles: linked(world, world.user(BRANCH, *(each.code for each in roles)))  # type: ignore[misc]
            ])
        )  # fmt: skip
    rows.append(
        Row("link", "yourself", lambda kind: authority.forbid_own_account(kind.actor(), [SELF]), [
            lambda world: linked(world, world.me())
        ])
    )  # fmt: skip
    return rows


def linked(world: World, user: int) -> Call:
    return Call("link_user", user, {"source": world.source(), "subject": world.unused()})


# Applications


def new_application(world: World) -> dict[str, Any]:
    return {"clientId": f"app{world.unused()}", "redirectUris": ["https://127.0.0.1:1/callback"]}


def application_rows() -> list[Row]:
    def require(kind: Kind) -> None:
        authority.require_administrator(kind.actor(), "applications")

    return [
        Row("add, change, remove", "an application", require, [
            lambda world: Call("add_application", body=new_application(world)),
            lambda world: Call("edit_application", world.application(), {"name": "Edited"}),
            lambda world: Call("remove_application", world.application()),
        ]),
        Row("give a new secret", "to an application", require, [
            lambda world: Call("new_application_secret", world.application())
        ]),
    ]  # fmt: skip


SECTIONS: dict[str, list[Row]] = {
    "Users": user_rows(),
    "Roles of users": grant_rows(),
    "Departments of users": place_rows(),
    "Roles": role_rows(),
    "Menus": menu_rows(),
    "Departments": department_rows(),
    "Sources of identity": source_rows(),
    "Applications": application_rows(),
}

WORDS = {
    None: "yes",
    Need.PERMS: "no: perms",
    Need.ROLE: "no: role",
    Need.ROOT: "no: ROOT",
    Need.ADMINISTRATOR: "no: administrator",
    Need.DEPARTMENT: "no: department",
    Need.SOMEBODY_ELSE: "no: own",
}

HEAD = f"""# Who may do what

Every case that the rules of `gatehouse/management/authority.py` tell apart. This page is generated from them
(`python -m tests.api.console.authority_table`), and a test makes every call of every row to a running service.
The rules in words are in [the console's calls](console.md#who-may-do-what-to-whom).

Three users try everything. Each of them has the perm of the call:

- **manager** has the role MANAGER, with `sys:source:*`, `sys:app:*` and all perms of the console's pages but `{LACKS}`,
  and the data scope "department and below". The department is Branch, which is below Headquarters and above Team.
- **ADMIN** is an administrator, in Headquarters, without `{ROOT_ONLY}`, which is a perm of Gatehouse's own, and without
  `{SHOP_PERM}`, which belongs to another service.
- **ROOT** has the role ROOT.

None of them holds the roles FINANCE (no perm), SHOP (`{SHOP_PERM}`), AUDITOR (`{LACKS}`) and OPERATIONS
(`{ROOT_ONLY}`). The department Other is below Headquarters, beside Branch. Without the perm of a call everything is
refused, and the command line may do everything. The last administrator always stays one.

Some words stand for several calls, which all have the same answer. To **edit** a user is also to disable it, end its
sessions and unlock its name. To **take over** a user is to set its password, make a link for that, remove its second
factors, unlink it from a source of identity or delete it. A role is **granted** to a user by a change, with a new user
and in a sheet, where users are **added** as well; it is **emptied** by its perms or by its menus, and **given a perm**
by its name or by a button. A button is **added** as a new menu or in place of a page, and **changed** in its name or
its perm.

A refusal is 403 `A0301`, and its message says what is missing: **perms** that you may not grant, a **role** that you
do not hold, the role **ROOT**, to be an **administrator**, a **department** within your reach, or another account than
your **own**.
"""


def page() -> str:
    """docs/authority.md as the rules have it."""
    lines = [HEAD]
    for title, rows in SECTIONS.items():
        lines += [f"## {title}", "", "| what | whom | manager | ADMIN | ROOT |", "|---|---|---|---|---|"]
        same: dict[str, list[str]] = {}
        for row in rows:
            cells = " | ".join([row.whom, *(WORDS[row.lack(kind)] for kind in KINDS)])
            same.setdefault(cells, []).append(row.what)
        lines += [f"| {', '.join(dict.fromkeys(what))} | {cells} |" for cells, what in same.items()]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

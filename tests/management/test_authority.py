"""Who may do what to whom: the rules as properties over random roles and actors."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatehouse.api.operation_table import OPERATIONS
from gatehouse.auth.perms import ADMIN_PERMS, MANAGEMENT_PERMS, expand, is_own
from gatehouse.auth.refusals import CannotGrant, CannotManage, Need, OwnAccount
from gatehouse.management import authority
from gatehouse.management.authority import OPERATOR, Actor, Holder, RoleGrant
from gatehouse.management.data_scopes import Scope, departments_seen, widens

PERMS = ["sys:user:create", "sys:user:add", "sys:role:update", "sys:role:edit", "cms:page:edit", "cms:page:update"]
# The department above each: 1 has 2 and 3 below it, 2 has 4.
PARENTS = {1: None, 2: 1, 3: 1, 4: 2}
many = settings(max_examples=200)  # always: they are cheap, and the rules are not
CODES = ["ROOT", "ADMIN", "CLERK", "EDITOR", "AUDITOR"]

perm_sets = st.frozensets(st.sampled_from(PERMS)) | st.just(frozenset(MANAGEMENT_PERMS))
scopes = st.builds(Scope, st.sampled_from([1, 2, 3, 4])) | st.builds(
    Scope, st.just(5), st.frozensets(st.sampled_from(sorted(PARENTS)))
)
departments = st.sampled_from(sorted(PARENTS))
grants = st.builds(RoleGrant, st.sampled_from(CODES), perm_sets, scopes)


@st.composite
def actors(draw: st.DrawFn) -> tuple[Actor, list[RoleGrant]]:
    """Somebody with roles, and those roles: what is in force follows from them, as in a profile."""
    held = draw(st.lists(grants, max_size=3, unique_by=lambda role: role.code))
    perms = expand(perm for role in held for perm in role.perms)
    codes = frozenset(role.code for role in held)
    who = Actor(7, codes, frozenset(perms), department=draw(departments), scopes=tuple(role.scope for role in held))
    return who, held


def power(roles: list[RoleGrant]) -> set[str]:
    return set(expand(perm for role in roles for perm in role.perms))


def within(who: Actor, held: list[RoleGrant], perms: set[str]) -> bool:
    """Whether nothing of this is more than the actor has; the perms of other services are an administrator's."""
    beyond = perms - power(held)
    return not (any(is_own(perm) for perm in beyond) if who.is_administrator else beyond)


@many
@given(actors(), grants)
def test_what_is_granted_gives_nothing_that_the_actor_lacks(
    actor: tuple[Actor, list[RoleGrant]], role: RoleGrant
) -> None:
    who, held = actor
    if authority.lack_to_grant(who, role) is None and not who.holds_everything:
        assert within(who, held, power([role]))
        assert role.code != "ROOT"
        assert role.code in who.roles or who.is_administrator


@many
@given(actors())
def test_everybody_may_grant_what_they_hold(actor: tuple[Actor, list[RoleGrant]]) -> None:
    who, held = actor
    assert all(authority.lack_to_grant(who, role) is None for role in held)


@many
@given(actors(), st.lists(grants, max_size=3), departments)
def test_nobody_manages_somebody_who_holds_or_sees_more(
    actor: tuple[Actor, list[RoleGrant]], others: list[RoleGrant], department: int
) -> None:
    who, held = actor
    roles = tuple(others)
    assert authority.lack_to_manage(who, Holder(7, department, roles), PARENTS) is None, "one's own account"
    if authority.lack_to_manage(who, Holder(8, department, roles), PARENTS) is None and not who.holds_everything:
        assert within(who, held, power(others))
        assert "ROOT" not in {role.code for role in others}
        if not who.is_administrator:
            seen = departments_seen(department, [role.scope for role in others], PARENTS)
            assert seen <= authority.reach(who, PARENTS)
    same = Holder(8, who.department, tuple(held))
    assert authority.lack_to_manage(who, same, PARENTS) is None, "somebody with the same roles"


@many
@given(
    actors(),
    st.lists(grants, max_size=4, unique_by=lambda role: role.code),
    st.integers(0, 4),
    st.integers(0, 4),
    departments,
    departments,
)
def test_who_was_changed_can_be_managed_before_and_after(
    actor: tuple[Actor, list[RoleGrant]], roles: list[RoleGrant], kept: int, first: int, here: int, there: int
) -> None:
    who, _ = actor
    before, after = Holder(8, here, tuple(roles[:kept])), Holder(8, there, tuple(roles[first:]))
    try:
        authority.require_user_change(who, before, after, PARENTS)
    except (CannotGrant, CannotManage):
        return
    assert authority.lack_to_manage(who, before, PARENTS) is None
    assert authority.lack_to_manage(who, after, PARENTS) is None
    if here != there and not who.is_administrator:
        assert {here, there} <= authority.reach(who, PARENTS)


@many
@given(actors(), st.none() | grants, st.none() | grants, st.frozensets(departments))
def test_nobody_shapes_a_role_beyond_themselves(
    actor: tuple[Actor, list[RoleGrant]], before: RoleGrant | None, after: RoleGrant | None, places: frozenset[int]
) -> None:
    who, held = actor
    if authority.lack_to_change_role(who, before, after, places, PARENTS) or who.holds_everything:
        return
    states = [state for state in (before, after) if state]
    assert within(who, held, power(states))
    assert "ROOT" not in {state.code for state in states}
    if who.is_administrator:
        return
    assert "ADMIN" not in {state.code for state in states}
    if before and after:
        assert before.code == after.code
        assert not widens(before.scope, after.scope)
    if before and places and (after is None or power([before]) - power([after])):
        assert before.code in who.roles, "who cannot grant it takes nothing from its holders"
        seen = set().union(*(departments_seen(place, [before.scope], PARENTS) for place in places))
        assert seen <= authority.reach(who, PARENTS), "nor from those who see more by it"


@many
@given(st.lists(grants, max_size=4), st.sampled_from(CODES), departments)
def test_the_operator_and_root_may_do_everything(roles: list[RoleGrant], code: str, department: int) -> None:
    for who in (OPERATOR, Actor(7, frozenset({"ROOT"}))):
        authority.require_grant(who, roles)
        authority.require_manage(who, Holder(8, department, tuple(roles)), PARENTS)
        authority.require_perms(who, PERMS)
        authority.require_role_change(who, None, RoleGrant(code, frozenset(PERMS)))
        authority.require_department_change(who, [department, None], PARENTS, people=[8])


def test_only_administrators_widen_a_data_scope() -> None:
    clerk = Actor(7, frozenset({"CLERK"}), frozenset(MANAGEMENT_PERMS))
    admin = Actor(7, frozenset({"ADMIN"}), frozenset(MANAGEMENT_PERMS))

    def may(who: Actor, before: int, after: int) -> bool:
        role = RoleGrant("TEAM", frozenset(), Scope(before))
        return authority.lack_to_change_role(who, role, role._replace(scope=Scope(after))) is None

    for before, after in ((4, 1), (4, 3), (3, 2), (2, 1), (4, 5), (5, 1)):
        assert not may(clerk, before, after)
        assert may(clerk, after, before)
        assert may(admin, before, after)
    for other in (2, 3):  # chosen departments and the own one: neither contains the other
        assert not may(clerk, 5, other)
        assert not may(clerk, other, 5)
        assert may(admin, 5, other)
    assert all(may(clerk, scope, scope) for scope in (1, 2, 3, 4, 5))


def test_every_perm_that_an_operation_asks_for_is_gatehouses_own() -> None:
    """Or an administrator without it could grant it. The first ADMIN holds them all, and no perm without a call."""
    asked = {perm for operation in OPERATIONS for perm in (operation.perm, *operation.or_perms) if perm}
    assert len(asked) > 20
    assert [perm for perm in expand(asked) if not is_own(perm)] == []
    assert set(expand(asked)) == set(ADMIN_PERMS) > set(MANAGEMENT_PERMS)
    assert [
        perm for perm in ("shop:order:refund", "sys:tenant:list", "system:user:list", "sys:users:x") if is_own(perm)
    ] == []


def test_refusals_say_which_rule_was_broken() -> None:
    clerk = Actor(7, frozenset({"CLERK"}), frozenset({"sys:user:create"}), department=2)
    admin = RoleGrant("ADMIN", frozenset(MANAGEMENT_PERMS))
    with pytest.raises(CannotGrant):
        authority.require_grant(clerk, [admin])
    with pytest.raises(CannotManage):
        authority.require_manage(clerk, Holder(1, 1, (admin,)), PARENTS)
    with pytest.raises(CannotGrant) as refused:
        authority.require_perms(clerk, ["sys:user:delete"])
    assert (refused.value.need, refused.value.missing, refused.value.role) == (
        Need.PERMS, ("sys:user:delete",), "CLERK",
    )  # fmt: skip
    with pytest.raises(CannotGrant):
        authority.require_role_change(clerk, None, RoleGrant("X", frozenset({"sys:user:delete"})))
    with pytest.raises(OwnAccount):
        authority.forbid_own_account(clerk, [1, 7])
    authority.forbid_own_account(clerk, [1, 8])
    authority.require_perms(clerk, ["sys:user:add"])

"""Who may do what to whom: the rules as properties over random roles and actors."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatehouse.auth.accounts import authority
from gatehouse.auth.accounts.authority import OPERATOR, Actor, RoleGrant
from gatehouse.auth.perms import MANAGEMENT_PERMS, expand
from gatehouse.auth.refusals import CannotGrant, CannotManage, OwnAccount

PERMS = ["sys:user:create", "sys:user:add", "sys:role:update", "sys:role:edit", "cms:page:edit", "cms:page:update"]
many = settings(max_examples=200)  # always: they are cheap, and the rules are not
CODES = ["ROOT", "ADMIN", "CLERK", "EDITOR", "AUDITOR"]

perm_sets = st.frozensets(st.sampled_from(PERMS)) | st.just(frozenset(MANAGEMENT_PERMS))
grants = st.builds(RoleGrant, st.sampled_from(CODES), perm_sets)


@st.composite
def actors(draw: st.DrawFn) -> tuple[Actor, list[RoleGrant]]:
    """Somebody with roles, and those roles: what is in force follows from them, as in a profile."""
    held = draw(st.lists(grants, max_size=3, unique_by=lambda role: role.code))
    perms = expand(perm for role in held for perm in role.perms)
    return Actor(7, frozenset(role.code for role in held), frozenset(perms)), held


def power(roles: list[RoleGrant]) -> set[str]:
    return set(expand(perm for role in roles for perm in role.perms))


@many
@given(actors(), grants)
def test_what_is_granted_gives_nothing_that_the_actor_lacks(
    actor: tuple[Actor, list[RoleGrant]], role: RoleGrant
) -> None:
    who, held = actor
    if authority.may_grant(who, role) and not who.holds_everything:
        assert set(expand(role.perms)) <= power(held)
        assert role.code != "ROOT"
        assert role.code in who.roles or who.is_administrator


@many
@given(actors())
def test_everybody_may_grant_what_they_hold(actor: tuple[Actor, list[RoleGrant]]) -> None:
    who, held = actor
    assert all(authority.may_grant(who, role) for role in held)


@many
@given(actors(), st.lists(grants, max_size=3))
def test_nobody_manages_somebody_who_holds_more(actor: tuple[Actor, list[RoleGrant]], others: list[RoleGrant]) -> None:
    who, held = actor
    assert authority.may_manage(who, 7, others), "one's own account"
    if authority.may_manage(who, 8, others) and not who.holds_everything:
        assert power(others) <= power(held)
        assert "ROOT" not in {role.code for role in others}
    assert authority.may_manage(who, 8, held), "somebody with the same roles"


@many
@given(actors(), st.none() | grants, grants)
def test_nobody_shapes_a_role_beyond_themselves(
    actor: tuple[Actor, list[RoleGrant]], before: RoleGrant | None, after: RoleGrant
) -> None:
    who, held = actor
    if not authority.may_define_role(who, before, after) or who.holds_everything:
        return
    assert power([after]) <= power(held)
    assert before is None or power([before]) <= power(held)
    assert after.code != "ROOT"
    if not who.is_administrator:
        assert after.code != "ADMIN"
        assert before is None or before.code == after.code


@many
@given(st.lists(grants, max_size=4), st.sampled_from(CODES))
def test_the_operator_and_root_may_do_everything(roles: list[RoleGrant], code: str) -> None:
    for who in (OPERATOR, Actor(7, frozenset({"ROOT"}))):
        authority.require_grant(who, roles)
        authority.require_manage(who, 8, roles)
        authority.require_perms(who, PERMS)
        authority.require_define_role(who, None, RoleGrant(code, frozenset(PERMS)))


def test_only_administrators_widen_a_data_scope() -> None:
    clerk = Actor(7, frozenset({"CLERK"}), frozenset(MANAGEMENT_PERMS))
    admin = Actor(7, frozenset({"ADMIN"}), frozenset(MANAGEMENT_PERMS))
    for before, after in ((4, 1), (4, 3), (3, 2), (2, 1), (4, 5), (5, 1)):
        assert not authority.may_change_scope(clerk, before, after)
        assert authority.may_change_scope(clerk, after, before)
        assert authority.may_change_scope(admin, before, after)
    for other in (2, 3):  # chosen departments and the own one: neither contains the other
        assert not authority.may_change_scope(clerk, 5, other)
        assert not authority.may_change_scope(clerk, other, 5)
        assert authority.may_change_scope(admin, 5, other)
    assert all(authority.may_change_scope(clerk, scope, scope) for scope in (1, 2, 3, 4, 5))


def test_refusals_say_which_rule_was_broken() -> None:
    clerk = Actor(7, frozenset({"CLERK"}), frozenset({"sys:user:create"}))
    admin = RoleGrant("ADMIN", frozenset(MANAGEMENT_PERMS))
    with pytest.raises(CannotGrant):
        authority.require_grant(clerk, [admin])
    with pytest.raises(CannotManage):
        authority.require_manage(clerk, 1, [admin])
    with pytest.raises(CannotGrant):
        authority.require_perms(clerk, ["sys:user:delete"])
    with pytest.raises(CannotGrant):
        authority.require_define_role(clerk, None, RoleGrant("X", frozenset({"sys:user:delete"})))
    with pytest.raises(OwnAccount):
        authority.forbid_own_account(clerk, [1, 7])
    authority.forbid_own_account(clerk, [1, 8])
    authority.require_perms(clerk, ["sys:user:add"])

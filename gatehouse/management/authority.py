"""Authorization of changes to accounts: pure functions of the actor, and of what is changed before and after.

Nobody gives, takes or takes over more than they have:

- a perm can be granted by those who have it; administrators grant every perm that is not Gatehouse's own;
- a role can be granted by those who hold it, and by administrators, as long as they may grant every perm that it gives;
- a user can be edited, disabled, deleted or given a password by those who could grant every role that it holds,
  disabled roles included, and whose reach has every department that the user sees; and by itself;
- nobody changes their own department or roles, nor widens the data scope of a role that they hold;
- a user is put into a department, and a department moved, switched or deleted, within the reach of who does it;
- a role can be changed by those who may grant every perm that it gives before and after. What takes something from its
  holders needs what granting it to them needs. Only administrators change its code, enable it, make one that is called
  ADMIN, or let it see more data than before, because other services go by the code and the data scope alone;
- a source of identity is added, changed, tested, synced and removed by administrators who may grant every role that it
  gives and that its users hold; users are linked to it by administrators who may manage them;
- a menu's button is added, changed and deleted by those who may grant its perm;
- sources of identity are changed and tested, and others linked to them, by administrators who could grant the roles
  that the source gives;
- applications are added, changed, removed and given secrets by administrators;
- only holders of ROOT grant ROOT, or change those who hold it.

The reach of somebody is their own department, those below it, and those that their data scopes show. An administrator
has the role ROOT, or ADMIN with all of `MANAGEMENT_PERMS`, and reaches everything. The operator on the command line may
do everything. That one administrator remains is checked in the transaction of each change, see
`stores/database/account_transactions.py`. docs/authority.md is the table of these rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from gatehouse.auth.audit import ClientInfo
from gatehouse.auth.perms import ADMIN, MANAGEMENT_PERMS, ROOT, is_own, lacking_perms
from gatehouse.auth.refusals import BeyondAuthority, CannotGrant, CannotManage, Need, OwnAccount
from gatehouse.management.data_scopes import Scope, departments_below, departments_seen, widens
from gatehouse.stores.database.roles import DataScope

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from gatehouse.management.data_scopes import Parents
    from gatehouse.stores.database.account_transactions import StoredRole
    from gatehouse.stores.database.roles import Role
    from gatehouse.stores.database.users import Profile


@dataclass(frozen=True, slots=True)
class Actor:
    """Who makes a change. Roles, perms and scopes are those in force: of enabled roles, perms by all their names."""

    user: int | None  # None: the operator on the command line
    roles: frozenset[str] = frozenset()
    perms: frozenset[str] = frozenset()
    client: ClientInfo = field(default_factory=ClientInfo)
    department: int = 0
    scopes: tuple[Scope, ...] = ()

    @property
    def holds_everything(self) -> bool:
        return self.user is None or ROOT in self.roles

    @property
    def is_administrator(self) -> bool:
        return self.holds_everything or (ADMIN in self.roles and not lacking_perms(self.perms, MANAGEMENT_PERMS))


# For a role that is new, and so held by nobody.
NOBODY: Mapping[int, int] = MappingProxyType({})
NOWHERE: Parents = MappingProxyType({})

# What the trail has in place of an address for an operator, who has neither an address nor a request.
CLI_ADDRESS, IMPORT_ADDRESS = "cli", "import"
OPERATOR = Actor(None, client=ClientInfo(address=CLI_ADDRESS))


def actor_of(profile: Profile, client: ClientInfo) -> Actor:
    return Actor(
        profile.user.id,
        frozenset(profile.roles),
        frozenset(profile.perms),
        client,
        profile.user.department,
        tuple(Scope(each.scope, frozenset(each.departments)) for each in profile.data_scopes),
    )


class RoleGrant(NamedTuple):
    """A role, as far as it matters for handing it out."""

    code: str
    perms: frozenset[str]
    scope: Scope = Scope()
    enabled: bool = True


def grant_of(role: Role | StoredRole) -> RoleGrant:
    chosen = role.departments if role.data_scope == DataScope.CHOSEN else ()
    scope = Scope(role.data_scope, frozenset(chosen))
    return RoleGrant(role.code, frozenset(role.perms), scope, role.enabled)


class Holder(NamedTuple):
    """A user, as far as it matters for managing it."""

    user: int | None  # None: not added yet
    department: int
    roles: tuple[RoleGrant, ...] = ()

    @property
    def codes(self) -> set[str]:
        return {role.code for role in self.roles}


class Lack(NamedTuple):
    """What somebody lacks for a change: names of perms or of a role, where those would help."""

    need: Need
    names: Sequence[str] = ()


def reach(actor: Actor, parents: Parents) -> set[int]:
    """The departments that are no more than the actor's own."""
    return departments_below(parents, actor.department) | departments_seen(actor.department, actor.scopes, parents)


# What is lacking for a change, or None if it is allowed


def missing_perms(actor: Actor, perms: Iterable[str]) -> list[str]:
    """Those of the perms that the actor cannot hand out."""
    if actor.holds_everything:
        return []
    lacking = lacking_perms(actor.perms, perms)
    return [perm for perm in lacking if is_own(perm)] if actor.is_administrator else lacking


def lack_to_grant(actor: Actor, role: RoleGrant) -> Lack | None:
    if actor.holds_everything:
        return None
    if role.code == ROOT:
        return Lack(Need.ROOT)
    if missing := missing_perms(actor, role.perms):
        return Lack(Need.PERMS, missing)
    if role.code in actor.roles or actor.is_administrator:
        return None
    return Lack(Need.ROLE, [role.code])


def lack_to_manage(actor: Actor, holder: Holder, parents: Parents) -> Lack | None:
    """For every change to a user; of a new one, as it would be."""
    if actor.user is not None and actor.user == holder.user:
        return None
    for role in holder.roles:
        if lack := lack_to_grant(actor, role):
            return lack
    if actor.is_administrator:
        return None
    seen = departments_seen(holder.department, [role.scope for role in holder.roles], parents)
    return None if seen <= reach(actor, parents) else Lack(Need.DEPARTMENT)


def lack_to_place(actor: Actor, departments: Iterable[int | None], parents: Parents) -> Lack | None:
    """To put somebody or something into these departments, or take it from there; None is the top of the tree."""
    if actor.is_administrator or set(departments) <= reach(actor, parents):
        return None
    return Lack(Need.DEPARTMENT)


def lack_to_add_user(actor: Actor, holder: Holder, parents: Parents) -> Lack | None:
    return lack_to_place(actor, [holder.department], parents) or lack_to_manage(actor, holder, parents)


def lack_to_change_role(
    actor: Actor,
    before: RoleGrant | None,
    after: RoleGrant | None,
    places: Collection[int] = (),
    parents: Parents = NOWHERE,
) -> Lack | None:
    """`before` is None for a new role, `after` for one that is deleted; others in these places hold it."""
    states = [state for state in (before, after) if state]
    if not actor.holds_everything and any(state.code == ROOT for state in states):
        return Lack(Need.ROOT)
    if missing := missing_perms(actor, frozenset().union(*(state.perms for state in states))):
        return Lack(Need.PERMS, missing)
    if actor.is_administrator:
        return None
    if any(state.code == ADMIN for state in states) or _is_for_administrators(actor, before, after):
        return Lack(Need.ADMINISTRATOR)
    losers = [Holder(None, place, (before,)) for place in places] if before and _takes(before, after) else []
    return next(filter(None, (lack_to_manage(actor, loser, parents) for loser in losers)), None)


def _is_for_administrators(actor: Actor, before: RoleGrant | None, after: RoleGrant | None) -> bool:
    if after is None:
        return False
    if before is None:
        return all(widens(scope, after.scope) for scope in (*actor.scopes, Scope()))
    is_enabled = after.enabled and not before.enabled
    return is_enabled or before.code != after.code or widens(before.scope, after.scope)


def _takes(before: RoleGrant, after: RoleGrant | None) -> bool:
    """Whether the holders of a role lose something by the change."""
    return (
        after is None
        or (before.enabled and not after.enabled)
        or not before.perms <= after.perms
        or before.scope != after.scope
    )


# The same, refused with the reason


def refuse(kind: type[BeyondAuthority], actor: Actor, lack: Lack, why: str) -> NoReturn:
    """Every refusal of these rules is raised here."""
    own_role = ADMIN if ADMIN in actor.roles else min(actor.roles, default="ROLE")
    raise kind(f"user {actor.user}: {why}", lack.need, lack.names, own_role)


def require_grant(actor: Actor, roles: Iterable[RoleGrant]) -> None:
    for role in roles:
        if lack := lack_to_grant(actor, role):
            refuse(CannotGrant, actor, lack, f"may not grant role {role.code}")


def require_perms(actor: Actor, perms: Iterable[str]) -> None:
    """For the perms of buttons that are added, changed or deleted."""
    if missing := missing_perms(actor, perms):
        refuse(CannotGrant, actor, Lack(Need.PERMS, missing), f"does not hold {', '.join(missing)}")


def require_manage(actor: Actor, holder: Holder, parents: Parents) -> None:
    if lack := lack_to_manage(actor, holder, parents):
        refuse(CannotManage, actor, lack, f"may not change user {holder.user}")


def require_user_change(actor: Actor, before: Holder | None, after: Holder, parents: Parents) -> None:
    """For a new user (`before` is None), and for a change of one's department or roles."""
    moved = before is None or before.department != after.department
    if before:
        require_manage(actor, before, parents)
        if before.codes == after.codes and not moved:
            return
        forbid_own_account(actor, [before.user])
    require_grant(actor, [role for role in after.roles if before is None or role.code not in before.codes])
    places = {after.department} | ({before.department} if before else set()) if moved else set()
    if lack := lack_to_place(actor, places, parents) or lack_to_manage(actor, after, parents):
        refuse(CannotGrant, actor, lack, f"may not put user {after.user} into department {after.department}")


def require_role_change(
    actor: Actor,
    before: RoleGrant | None,
    after: RoleGrant | None,
    holders: Mapping[int, int] = NOBODY,
    parents: Parents = NOWHERE,
) -> None:
    """See `lack_to_change_role`; `holders` are the departments of the users who hold it."""
    if before and after and widens(before.scope, after.scope):
        forbid_own_account(actor, holders)
    places = {department for user, department in holders.items() if user != actor.user}
    if lack := lack_to_change_role(actor, before, after, places, parents):
        code = before.code if before else after.code if after else ""
        refuse(CannotGrant, actor, lack, f"may not change role {code}")


def require_department_change(
    actor: Actor, departments: Iterable[int | None], parents: Parents, *, people: Collection[int] = ()
) -> None:
    """For departments that are added, moved, switched or deleted, with the one above; `people` are in them."""
    if people and not actor.is_administrator:
        refuse(CannotGrant, actor, Lack(Need.ADMINISTRATOR), "may not move or switch a department with users")
    if lack := lack_to_place(actor, departments, parents):
        refuse(CannotGrant, actor, lack, "may not change a department outside its reach")


def require_administrator(actor: Actor, what: str = "sources of identity") -> None:
    """For sources of identity and applications: who decides about one decides who comes in, and with which roles."""
    if not actor.is_administrator:
        refuse(CannotGrant, actor, Lack(Need.ADMINISTRATOR), f"may not change or ask {what}")


def require_switch(actor: Actor, roles: Iterable[RoleGrant]) -> None:
    """For a change of a department by which others lose these roles, or get them back."""
    for role in roles:
        if lack := lack_to_grant(actor, role):
            refuse(CannotGrant, actor, lack, f"may not switch off or on who holds {role.code}")


def forbid_own_account(actor: Actor, users: Iterable[int | None]) -> None:
    """Refuses what nobody may do to their own account."""
    if actor.user is not None and actor.user in users:
        refuse(OwnAccount, actor, Lack(Need.SOMEBODY_ELSE), "is the caller's own")

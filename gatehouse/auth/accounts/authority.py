"""Authorization of changes to accounts: pure functions of the actor, and of the roles and perms of the account.

Nobody can grant more than they have:

- a role can be granted by those who hold it, and by administrators, as long as they hold every perm that it gives;
- a user can be edited, disabled, deleted or given a password by those who could grant every role that it holds,
  disabled roles included, and by itself;
- a role can be changed by those who hold every perm that it gives before and after; only administrators change its
  code, enable it, make one that is called ADMIN, or let it see more data than before, because other services go by the
  code and the data scope alone;
- only holders of ROOT grant ROOT, or change those who hold it.

An administrator has the role ROOT, or ADMIN with all of `MANAGEMENT_PERMS`. The operator on the command
line may do everything. That one administrator remains is checked in the transaction of each change, see
`stores/accounts/transactions.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.audit import ClientInfo
from gatehouse.auth.perms import ADMIN, MANAGEMENT_PERMS, ROOT, lacking_perms
from gatehouse.auth.refusals import CannotGrant, CannotManage, OwnAccount
from gatehouse.stores.accounts.roles import DataScope

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Actor:
    """Who makes a change. Roles and perms are those in force: of enabled roles, by all their names."""

    user: int | None  # None: the operator on the command line
    roles: frozenset[str] = frozenset()
    perms: frozenset[str] = frozenset()
    client: ClientInfo = field(default_factory=ClientInfo)

    @property
    def holds_everything(self) -> bool:
        return self.user is None or ROOT in self.roles

    @property
    def is_administrator(self) -> bool:
        return self.holds_everything or (ADMIN in self.roles and not lacking_perms(self.perms, MANAGEMENT_PERMS))


# What the trail has in place of an address for an operator, who has neither an address nor a request.
CLI_ADDRESS, IMPORT_ADDRESS = "cli", "import"
OPERATOR = Actor(None, client=ClientInfo(address=CLI_ADDRESS))


class RoleGrant(NamedTuple):
    """A role, as far as it matters for handing it out."""

    code: str
    perms: frozenset[str]


# What a role's data scope may become without showing more. Chosen departments need not be near one's own.
_SCOPES_WITHIN: dict[int, set[DataScope]] = {
    DataScope.ALL: set(DataScope),
    DataScope.DEPARTMENT_AND_BELOW: {DataScope.DEPARTMENT_AND_BELOW, DataScope.DEPARTMENT, DataScope.OWN},
    DataScope.DEPARTMENT: {DataScope.DEPARTMENT, DataScope.OWN},
    DataScope.OWN: {DataScope.OWN},
    DataScope.CHOSEN: {DataScope.CHOSEN, DataScope.OWN},
}


def missing_perms(actor: Actor, perms: Iterable[str]) -> list[str]:
    """Those of the perms that the actor cannot hand out."""
    return [] if actor.holds_everything else lacking_perms(actor.perms, perms)


def may_grant(actor: Actor, role: RoleGrant) -> bool:
    if actor.holds_everything:
        return True
    if role.code == ROOT or missing_perms(actor, role.perms):
        return False
    return role.code in actor.roles or actor.is_administrator


def may_manage(actor: Actor, user: int, holds: Iterable[RoleGrant]) -> bool:
    """Whether the actor may change a user who holds these roles."""
    return actor.user == user or all(may_grant(actor, role) for role in holds)


def may_define_role(actor: Actor, before: RoleGrant | None, after: RoleGrant) -> bool:
    """Whether the actor may make this role (`before` is None), or change `before` into `after`."""
    if actor.holds_everything:
        return True
    role_perms = (before.perms if before else frozenset()) | after.perms
    if missing_perms(actor, role_perms) or ROOT in {after.code, before.code if before else ""}:
        return False
    renamed = before is not None and before.code != after.code
    return actor.is_administrator or not (renamed or after.code == ADMIN)


def may_change_scope(actor: Actor, before: int, after: int) -> bool:
    """Whether the actor may change a role's data scope like this."""
    return actor.is_administrator or after in _SCOPES_WITHIN.get(before, set())


def require_grant(actor: Actor, roles: Iterable[RoleGrant]) -> None:
    for role in roles:
        if not may_grant(actor, role):
            raise CannotGrant(f"role {role.code} gives more than user {actor.user} holds")


def require_perms(actor: Actor, perms: Iterable[str]) -> None:
    """Needed to add perms or menus to a role."""
    if lacking := missing_perms(actor, perms):
        raise CannotGrant(f"user {actor.user} does not hold {', '.join(lacking)}")


def require_manage(actor: Actor, user: int, holds: Iterable[RoleGrant]) -> None:
    if not may_manage(actor, user, holds):
        raise CannotManage(f"user {user} holds more than user {actor.user}")


def require_define_role(actor: Actor, before: RoleGrant | None, after: RoleGrant) -> None:
    if not may_define_role(actor, before, after):
        raise CannotGrant(f"user {actor.user} may not change role {after.code}")


def forbid_own_account(actor: Actor, users: Iterable[int]) -> None:
    """Refuses what nobody may do to their own account."""
    if actor.user is not None and actor.user in users:
        raise OwnAccount(f"user {actor.user} is the caller's own")

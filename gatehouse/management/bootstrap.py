"""Bootstrap at the first start: a signing key, the first administrator, its role and department. Safe to repeat."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from gatehouse.auth.keys.key_ring import new_key
from gatehouse.auth.passwords.hashing import hash_password
from gatehouse.auth.perms import ADMIN as ADMIN_ROLE
from gatehouse.auth.perms import ADMIN_PERMS
from gatehouse.stores.database.roles import DataScope, NewRole
from gatehouse.stores.database.users import NewUser

if TYPE_CHECKING:
    from gatehouse.stores.database.departments import Departments
    from gatehouse.stores.database.roles import Roles
    from gatehouse.stores.database.signing_keys import Keys
    from gatehouse.stores.database.users import Profile, Users

ADMIN_USERNAME = "admin"
ADMIN_NICKNAME = "Administrator"
ROOT_DEPARTMENT = "Headquarters"


def random_password() -> str:
    """About 95 bits, in groups that can be read out loud."""
    alphabet = "abcdefghjkmnpqrstuvwxyz23456789"
    return "-".join("".join(secrets.choice(alphabet) for _ in range(5)) for _ in range(4))


async def bootstrap(
    *,
    users: Users,
    roles: Roles,
    departments: Departments,
    keys: Keys,
    secret: bytes,
    algorithm: str,
    password: str,
    now: float,
) -> str | None:
    """Create what is missing. Returns the administrator's password if it was generated, to be shown once.

    Called under the lock of `migrate.exclusive`, so of several first starts one does the work.
    """
    if not await keys.all():
        await keys.add(new_key(secret, algorithm, now))
    known = await departments.all()
    root_department = known[0].id if known else await departments.add(ROOT_DEPARTMENT, None)
    if await roles.by_code(ADMIN_ROLE) is None and await users.count() == 0:
        await roles.add(NewRole(ADMIN_ROLE, "Administrator", data_scope=DataScope.ALL, created=now), ADMIN_PERMS)
    if await users.count() > 0:
        return None
    given = password or random_password()
    new = NewUser(ADMIN_USERNAME, ADMIN_NICKNAME, hash_password(given), root_department, now)
    await users.add(new, [ADMIN_ROLE])
    return None if password else given


def is_replaceable_admin(profile: Profile) -> bool:
    """Whether this is the administrator as created above, unchanged, so that an import may replace it."""
    user = profile.user
    made = (ADMIN_USERNAME, ADMIN_NICKNAME, "", True, False)
    return profile.roles == (ADMIN_ROLE,) and made == (
        user.username, user.nickname, user.avatar, user.enabled, user.captcha_exempt,
    )  # fmt: skip

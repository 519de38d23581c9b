"""Perms: their names, and which of them allows an operation. Pure functions.

The consoles use two generations of names: the older ones ask for `sys:user:add`, the current ones for
`sys:user:create`. Either name allows an operation, and a user who has one is shown both. This holds below `sys:`
only: elsewhere names belong to a business backend, where `edit` and `update` may be two things.

The role ROOT has every perm that exists, without rows of its own.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

ROOT = "ROOT"
ADMIN = "ADMIN"

RESET_PASSWORD = "sys:user:reset-password"

_SYSTEM = "sys:"
# The current name of an action comes first. Consoles up to 2.9 say `reset_pwd`.
_ACTION_NAMES = (("list", "query"), ("create", "add"), ("update", "edit"), ("reset-password", "reset", "reset_pwd"))
_NAMES_OF_ACTION = {name: names for names in _ACTION_NAMES for name in names}

# Every perm that some operation of Gatehouse asks for, by its current name. All other perms belong to other services,
# below `sys:` too.
_ACTIONS = {
    "user": ("list", "create", "update", "delete", "reset-password", "import", "export"),
    "role": ("list", "create", "update", "delete", "assign"),
    "menu": ("list", "create", "update", "delete"),
    "dept": ("list", "create", "update", "delete"),
    "log": ("list",),
    "session": ("list", "delete"),
    "config": ("list",),
    "source": ("list", "create", "update", "delete"),
    "app": ("list", "create", "update", "delete"),
}
OWN_SUBJECTS = tuple(_ACTIONS)
# Consoles have no page for these, and ADMIN may lack them.
_WITHOUT_PAGE = ("session", "config", "source", "app")


def perms_of(*subjects: str) -> tuple[str, ...]:
    """The perms of Gatehouse's own operations on these subjects."""
    return tuple(f"{_SYSTEM}{subject}:{action}" for subject in subjects for action in _ACTIONS[subject])


# What the pages of the console that Gatehouse answers need.
MANAGEMENT_PERMS = perms_of(*(subject for subject in OWN_SUBJECTS if subject not in _WITHOUT_PAGE))


def is_own(perm: str) -> bool:
    """Whether Gatehouse itself may go by this perm, or another service may read it as one that includes such a perm."""
    subject = ":".join(perm.casefold().split(":")[:2])
    return any(fnmatchcase(f"{_SYSTEM}{own}", subject) for own in OWN_SUBJECTS)


# Consoles from 2.10.1 to 2.26 call it by four segments, which users/me cannot show.
_CANONICAL = {"sys:user:password:reset": RESET_PASSWORD}


def canonical(perm: str) -> str:
    """The name of a perm that was read from elsewhere, in the form that is stored."""
    return _CANONICAL.get(perm, perm)


def names_of(perm: str) -> tuple[str, ...]:
    """Every name of one perm, the current one first."""
    head, _, action = perm.rpartition(":")
    if not perm.startswith(_SYSTEM) or action not in _NAMES_OF_ACTION:
        return (perm,)
    return tuple(f"{head}:{name}" for name in _NAMES_OF_ACTION[action])


def expand(perms: Iterable[str]) -> tuple[str, ...]:
    """The perms under all their names, sorted."""
    return tuple(sorted({name for perm in perms for name in names_of(perm)}))


# What the first start gives to the role ADMIN: all of Gatehouse's own, under both names.
ADMIN_PERMS = expand(perms_of(*OWN_SUBJECTS))


def allows(perms: Collection[str], needed: str) -> bool:
    """Whether these perms include the needed one, by any of its names."""
    return any(name in perms for name in names_of(needed))


def lacking_perms(held: Collection[str], needed: Iterable[str]) -> list[str]:
    """Those of the needed perms that are not held under any of their names, sorted."""
    return sorted(perm for perm in needed if not allows(held, perm))


def is_administrator_role(code: str, perms: Collection[str]) -> bool:
    """Whether this role alone makes an administrator: ROOT, or ADMIN with all that the console manages with."""
    return code == ROOT or (code == ADMIN and not lacking_perms(perms, MANAGEMENT_PERMS))

"""Which passwords are accepted: at least 8 characters, not one of the commonest, without the username.

There are no rules of composition. The common ones are those of 8 characters and more among the 30,000 of the zxcvbn
project (MIT licence).
"""

from __future__ import annotations

import lzma
from functools import cache
from importlib import resources

from gatehouse.auth.refusals import PASSWORD_MAX, PASSWORD_MIN, PasswordProblem
from gatehouse.common.name_key import name_key


def password_problem(password: str, username: str) -> PasswordProblem | None:
    if len(password) < PASSWORD_MIN:
        return PasswordProblem.SHORT
    if len(password) > PASSWORD_MAX:
        return PasswordProblem.LONG
    folded, name = password.casefold(), name_key(username)
    if folded in common_passwords():
        return PasswordProblem.COMMON
    if len(name) >= 3 and name in folded:
        return PasswordProblem.NAME
    return None


def validate_new_password(password: str, username: str) -> None:
    problem = password_problem(password, username)
    if problem:
        raise ValueError(problem.value)


@cache
def common_passwords() -> frozenset[str]:
    packed = resources.files("gatehouse.auth.passwords").joinpath("common_passwords.txt.xz").read_bytes()
    return frozenset(lzma.decompress(packed).decode().split("\n"))

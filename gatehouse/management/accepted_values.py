"""Which values are accepted: names, contact fields, perms, role codes. Checks raise `ValueError` with the reason."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from msgspec import UNSET, UnsetType

from gatehouse.auth.oauth.standard_claims import CLAIM_NAMES, stored_claims
from gatehouse.auth.refusals import AccountFieldInvalid
from gatehouse.stores.database.roles import DataScope

if TYPE_CHECKING:
    from collections.abc import Callable

Value = TypeVar("Value")

NAME_MAX = 64
AVATAR_MAX = 1024
EMAIL_MAX = 254
CLAIM_MAX = 256

_MOBILE = re.compile(r"[0-9+() -]{1,32}")
_EMAIL = re.compile(r"[^\s@\x00-\x1f]{1,64}@[^\s@\x00-\x1f]{1,253}")
_BIRTHDATE = re.compile(r"[0-9]{4}(-[0-9]{2}-[0-9]{2})?")
_PERM = re.compile(r"[a-z0-9_*-]+(:[a-z0-9_*-]+){2}", re.IGNORECASE)
_ROLE = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def check_field(field: str, value: Value | UnsetType, check: Callable[[Value], None]) -> None:
    """A wrong one is named `field`, as in the bodies of requests. What a change leaves alone is not checked."""
    try:
        if value is not UNSET:
            check(value)
    except ValueError as problem:
        raise AccountFieldInvalid(field, str(problem)) from None


def is_username(username: str) -> bool:
    return 0 < len(username) <= NAME_MAX and username == username.strip() and username.isprintable()


def check_username(username: str) -> None:
    if not is_username(username):
        raise ValueError(f"a username has 1 to {NAME_MAX} printable characters and no space around it")


def check_text(what: str, text: str, max_length: int = NAME_MAX) -> None:
    """Names that people see: nickname, role name, department."""
    if not text.strip() or len(text) > max_length or not text.isprintable():
        raise ValueError(f"a {what} has 1 to {max_length} printable characters")


check_nickname = partial(check_text, "nickname")
check_role_name = partial(check_text, "role name")
check_department_name = partial(check_text, "department name")


def check_department_code(code: str) -> None:
    if code:
        check_text("department code", code)


def check_gender(gender: int) -> None:
    if gender not in {0, 1, 2}:
        raise ValueError("a gender is 1 (male), 2 (female) or 0 (unknown)")


def check_mobile(mobile: str) -> None:
    if mobile and not _MOBILE.fullmatch(mobile):
        raise ValueError("a mobile number has up to 32 digits, spaces and + - ( )")


def check_email(email: str) -> None:
    if email and (len(email) > EMAIL_MAX or not _EMAIL.fullmatch(email)):
        raise ValueError(f"an email address reads name@domain and has at most {EMAIL_MAX} characters")


def check_claims(text: str | None) -> None:
    for name, value in stored_claims(text).items():
        if name not in CLAIM_NAMES:
            raise ValueError(f"a claim is one of {', '.join(CLAIM_NAMES)}, got {name!r}")
        check_text(name, value, CLAIM_MAX)
        if name == "birthdate" and not _BIRTHDATE.fullmatch(value):
            raise ValueError("a birthdate reads 1990-01-02, 0000-01-02 or 1990")


def check_sort(sort: int) -> None:
    if not 0 <= sort < 2**31:
        raise ValueError("a sort number is 0 or more")


def check_data_scope(scope: int) -> None:
    if scope not in list(DataScope):
        raise ValueError("a data scope is 1 (all), 2 (department and below), 3 (department), 4 (own) or 5 (chosen)")


def check_avatar(url: str) -> None:
    if url and (len(url) > AVATAR_MAX or not re.match(r"https?://\S+\Z|/\S*\Z|data:image/\S+\Z", url)):
        raise ValueError(f"an avatar is a URL of at most {AVATAR_MAX} characters")


def check_perm(perm: str) -> None:
    if len(perm) > 128 or not _PERM.fullmatch(perm):
        raise ValueError(f"a perm reads segment:segment:segment, got {perm!r}")


def check_role_code(code: str) -> None:
    if not _ROLE.fullmatch(code):
        raise ValueError(f"a role code has letters, digits, _ . -, got {code!r}")

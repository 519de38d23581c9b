"""Password hashes: Argon2id for every new one; bcrypt is verified for imported users. `hash_pool.py` runs them."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import NamedTuple

import argon2
import bcrypt

MEMORY_KIB = 19 * 1024
PASSES = 2
LANES = 1

# Upper bounds for imported hashes: about a second of one core each, and what a worker can spare of memory.
BCRYPT_COST_MAX = 14
ARGON2_KIB_MAX = 128 * 1024
ARGON2_KIB_PASSES_MAX = 512 * 1024

_BCRYPT_FORM = re.compile(r"\$2[abxy]\$(0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}")
_BCRYPT = ("$2a$", "$2b$", "$2x$", "$2y$")
_hasher = argon2.PasswordHasher(time_cost=PASSES, memory_cost=MEMORY_KIB, parallelism=LANES)


class PasswordCheck(NamedTuple):
    correct: bool
    needs_rehash: bool  # the hash should be replaced by one of today's scheme


def hash_password(password: str) -> str:
    return _hasher.hash(_encode(password))


def verify_password(stored: str, password: str) -> PasswordCheck:
    if stored.startswith(_BCRYPT):
        return PasswordCheck(_check_bcrypt(stored, password), needs_rehash=True)
    try:
        _hasher.verify(stored, _encode(password))
    except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
        return PasswordCheck(correct=False, needs_rehash=False)
    return PasswordCheck(correct=True, needs_rehash=_hasher.check_needs_rehash(stored))


def is_supported_hash(stored: str) -> bool:
    """Whether `verify_password` can parse an imported hash."""
    if stored.startswith(_BCRYPT):
        return _BCRYPT_FORM.fullmatch(stored) is not None
    with suppress(argon2.exceptions.InvalidHashError):
        return stored.startswith("$argon2id$") and bool(argon2.extract_parameters(stored))
    return False


def is_within_cost_limit(stored: str) -> bool:
    """Whether checking this hash costs no more than a login may: an imported hash carries its own cost."""
    if stored.startswith(_BCRYPT):
        return int(stored[4:6]) <= BCRYPT_COST_MAX
    cost = argon2.extract_parameters(stored)
    return cost.memory_cost <= ARGON2_KIB_MAX and cost.memory_cost * cost.time_cost <= ARGON2_KIB_PASSES_MAX


def _check_bcrypt(stored: str, password: str) -> bool:
    # bcrypt itself reads 72 bytes and stops at a NUL. Those who made these hashes cut there; to verify what
    # they stored we must do the same, once: the first login replaces the hash by one of the whole password.
    try:
        return bcrypt.checkpw(_encode(password)[:72], stored.encode())
    except ValueError:
        return False


def _encode(password: str) -> bytes:
    return password.encode("utf-8", "surrogatepass")

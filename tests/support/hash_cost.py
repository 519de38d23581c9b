"""Passwords hashed cheaply inside a test process; services in processes of their own hash at full cost.

Argon2id as everywhere, with the least memory that it takes: the real cost is half of what a test with one login takes,
and only tests of the cost itself need it. Those ask for the fixture `real_hash_cost`.
"""

from __future__ import annotations

from collections.abc import Iterator

import argon2
import pytest

from gatehouse.auth.passwords import decoy_hashes, hashing

_REAL = (hashing._hasher, decoy_hashes.OUR_SCHEME_AND_COST)
_CHEAP = (
    argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1),
    "$argon2id$v=19$m=8,t=1,p=1$",
)


def _use(hasher: argon2.PasswordHasher, scheme: str) -> None:
    hashing._hasher = hasher
    decoy_hashes.OUR_SCHEME_AND_COST = scheme
    decoy_hashes.decoy_argon2.__defaults__ = (scheme,)


def lower() -> None:
    _use(*_CHEAP)


@pytest.fixture
def real_hash_cost() -> Iterator[None]:
    _use(*_REAL)
    yield
    lower()

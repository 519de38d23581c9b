"""Lets something happen while a password is being hashed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from gatehouse.auth.passwords.hash_pool import HashPool
from gatehouse.auth.passwords.hashing import PasswordCheck
from tests.support.inprocess import InProcess


def during(
    monkeypatch: pytest.MonkeyPatch, step: str, gatehouse: InProcess, work: Callable[[], Awaitable[object]]
) -> None:
    """Let `work` happen while the next hash of this kind is being made."""
    hashes, plain = gatehouse.service.hash_pool, getattr(HashPool, step)

    async def meanwhile(*values: str) -> PasswordCheck | str:
        made: PasswordCheck | str = await plain(hashes, *values)
        monkeypatch.setattr(hashes, step, plain.__get__(hashes))
        await work()
        return made

    monkeypatch.setattr(hashes, step, meanwhile)

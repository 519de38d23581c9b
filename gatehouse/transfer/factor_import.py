"""Imports second factors. They stay sealed, so only the master secret that sealed them can decrypt them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gatehouse.auth.audit import Event
from gatehouse.auth.factors.totp_secrets import open_totp, seal_totp
from gatehouse.auth.keys.sealing import WrongSecret
from gatehouse.stores.database.audit_trail import AuditTrail
from gatehouse.stores.database.factor_export import has_factor, store_copy
from gatehouse.stores.database.users import Users
from gatehouse.stores.errors import Duplicate
from gatehouse.transfer.import_rows import ImportCount, Remark

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from gatehouse.stores.database.audit_trail import AuditEntry
    from gatehouse.stores.database.factor_export import FactorCopy
    from gatehouse.stores.database.sql_engine import Database
    from gatehouse.transfer.import_rows import SourceFactors


class FactorImport:
    def __init__(
        self,
        database: Database,
        secrets: Sequence[bytes],
        entry: Callable[..., AuditEntry],
        clock: Callable[[], float],
        *,
        dry_run: bool,
    ) -> None:
        self._database = database
        self._users = Users(database)
        self._secrets = secrets
        self._entry = entry
        self._clock = clock
        self._dry_run = dry_run

    async def run(self, rows: AsyncIterator[SourceFactors]) -> tuple[ImportCount, list[Remark]]:
        """How many users got their factors, and why others did not. Users who have a factor keep it."""
        count, remarks = ImportCount(), []
        async for origin, copy in rows:
            try:
                count.added += await self._import(copy)
            except (ValueError, Duplicate) as problem:
                remarks.append(Remark(origin, str(problem)))
        return count, remarks

    async def _import(self, copy: FactorCopy) -> bool:
        user = await self._users.by_name(copy.username)
        if user is None and self._dry_run:
            return True  # it would have been added by now
        if user is None:
            raise ValueError(f"there is no user {copy.username!r}: its second factors are left out")
        if await has_factor(self._database, user.id):
            return False
        resealed = msgspec.structs.replace(copy, totp=self._reseal(copy, user.id))
        if not self._dry_run:
            await store_copy(self._database, user.id, resealed, self._clock())
            await AuditTrail(self._database).append([self._entry(Event.FACTOR_ADDED, user.id, factor="imported")])
        return True

    def _reseal(self, copy: FactorCopy, user: int) -> bytes | None:
        if copy.totp is None:
            return None
        try:
            return seal_totp(self._secrets[0], user, open_totp(self._secrets, copy.user, copy.totp))
        except WrongSecret:
            raise ValueError(
                "the second factors were sealed under another master secret: left out; this user logs in without"
            ) from None

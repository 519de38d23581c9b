"""Writes the sources that the environment defines into accounts, at the start, so that everything else knows them.

Added, changed, and disabled when their variables are gone. Nobody else changes them: what is set in two places differs
sooner or later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from gatehouse.auth.audit import Event
from gatehouse.auth.keys.sealing import WrongSecret
from gatehouse.auth.refusals import AccountFieldInvalid
from gatehouse.management.identity_sources import ENVIRONMENT, check_config, check_name
from gatehouse.stores.database.audit_trail import AuditEntry
from gatehouse.stores.database.identity_sources import NewSource, SourceChange
from gatehouse.stores.database.row_changes import set_columns, without_same

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.auth.identity.sources import SourceSecrets
    from gatehouse.identity_sources.environment import DefinedSource
    from gatehouse.stores.database.account_transactions import AccountTransaction, AccountTransactions
    from gatehouse.stores.database.identity_sources import StoredSource


def check_defined(defined: Sequence[DefinedSource]) -> list[str]:
    """What is wrong with them, each problem with the variable to correct."""
    problems = []
    for each in defined:
        try:
            check_name(each.name)
            check_config(each.config, each.kind)
        except AccountFieldInvalid as problem:
            problems.append(f"{each.variable(problem.field)}: {str(problem).partition(': ')[2]}")
        except ValueError as problem:
            problems.append(f"{each.variable('KIND')}: {problem}")
    return problems


class EnvironmentSources:
    def __init__(self, transactions: AccountTransactions, secrets: SourceSecrets, now: float) -> None:
        self._transactions = transactions
        self._secrets = secrets
        self._now = now
        self._entries: list[AuditEntry] = []

    async def apply(self, defined: Sequence[DefinedSource], stored: Sequence[StoredSource]) -> list[str]:
        """All of them or none: returns what stands in the way."""
        by_name = {row.name: row for row in stored}
        if problems := [problem for each in defined if (problem := _obstacle(each, by_name.get(each.name)))]:
            return problems
        names = {each.name for each in defined}
        async with self._transactions.begin() as transaction:
            for each in defined:
                row = by_name.get(each.name)
                await (self._change(transaction, row, each) if row else self._add(transaction, each))
            for row in stored:
                if row.origin == ENVIRONMENT and row.enabled and row.name not in names:
                    await self._set(transaction, row, SourceChange(enabled=False))
            await transaction.record(self._entries)
        return []

    async def _add(self, transaction: AccountTransaction, new: DefinedSource) -> None:
        await transaction.add_source(
            NewSource(
                name=new.name,
                kind=new.kind.value,
                title=new.title or new.name,
                config=msgspec.json.encode(new.config).decode(),
                created=self._now,
                changed=self._now,
                sealed=self._secrets.seal(new.name, new.secret),
                sort=new.sort,
                origin=ENVIRONMENT,
            )
        )
        self._record(Event.SOURCE_ADDED, name=new.name, kind=new.kind.value)

    async def _change(self, transaction: AccountTransaction, row: StoredSource, new: DefinedSource) -> None:
        values = SourceChange(
            title=new.title or new.name,
            enabled=True,
            sort=new.sort,
            config=msgspec.json.encode(new.config).decode(),
        )
        change = without_same(values, row)
        if self._secret_of(row) != new.secret:
            change = msgspec.structs.replace(change, sealed=self._secrets.seal(new.name, new.secret))
        if set_columns(change):
            await self._set(transaction, row, change)

    async def _set(self, transaction: AccountTransaction, row: StoredSource, change: SourceChange) -> None:
        await transaction.set_source(row.id, msgspec.structs.replace(change, changed=self._now))
        self._record(Event.SOURCE_CHANGED, name=row.name, changed=sorted(set_columns(change)))

    def _secret_of(self, row: StoredSource) -> str | None:
        try:
            return self._secrets.open(row)
        except WrongSecret:
            return None

    def _record(self, event: Event, **detail: Any) -> None:
        encoded = msgspec.json.encode(detail).decode()
        self._entries.append(AuditEntry(0, self._now, event.value, None, None, ENVIRONMENT, None, None, encoded))


def _obstacle(new: DefinedSource, row: StoredSource | None) -> str:
    if row is not None and row.origin != ENVIRONMENT:
        return f"{new.variable('KIND')}: there is a source {new.name} already that was added by hand: remove it first"
    if row is not None and row.kind != new.kind:
        return f"{new.variable('KIND')}: the source {new.name} was of kind {row.kind}: choose another name"
    return ""

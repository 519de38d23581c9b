"""Sessions that were opened with a provider: which of them it can end, and the sealed ID token of each."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, insert, select

from gatehouse.stores.database.schema import provider_sessions

if TYPE_CHECKING:
    from gatehouse.stores.database.sql_engine import Database


@dataclass(frozen=True, slots=True)
class ProviderSession:
    session: str
    source: int
    issuer: str
    subject: str
    sid: str
    sealed: bytes
    created: float


_BY_SESSION = select(provider_sessions).where(provider_sessions.c.session == bindparam("session_id"))


class ProviderSessions:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, new: ProviderSession) -> None:
        """In place of the one before, where somebody has logged in again in the same session."""
        async with self._database.writing() as db:
            await db.execute(delete(provider_sessions).where(provider_sessions.c.session == new.session))
            await db.execute(insert(provider_sessions).values(**asdict(new)))

    async def of_session(self, session: str) -> ProviderSession | None:
        found = await self._database.fetch_rows(_BY_SESSION, session_id=session)
        return ProviderSession(*found[0]) if found else None

    async def named(self, source: int, issuer: str, subject: str, sid: str) -> list[ProviderSession]:
        """Those that a logout at the provider is about: by `sid` if it names one, else all of the subject."""
        query = select(provider_sessions).where(
            provider_sessions.c.source == source, provider_sessions.c.issuer == issuer
        )
        if sid:
            query = query.where(provider_sessions.c.sid == sid)
        if subject:
            query = query.where(provider_sessions.c.subject == subject)
        async with self._database.reading() as db:
            return [ProviderSession(*row) for row in await db.execute(query)] if sid or subject else []

    async def remove(self, session: str) -> bool:
        """Of any number of callers one is told that it has."""
        async with self._database.writing() as db:
            gone = await db.execute(delete(provider_sessions).where(provider_sessions.c.session == session))
            return bool(gone.rowcount)

    async def prune(self, before: float) -> None:
        """Remove those that were opened so long ago that none of them lives."""
        async with self._database.writing() as db:
            await db.execute(delete(provider_sessions).where(provider_sessions.c.created < before))

"""Sources of identity, and who our users are there. Changes are part of `AccountTransaction`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import UNSET, UnsetType
from sqlalchemy import bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from gatehouse.stores.database.row_changes import RowChange, set_columns
from gatehouse.stores.database.schema import external_identities, identity_sources, roles, user_roles, users
from gatehouse.stores.database.sql_engine import new_id
from gatehouse.stores.database.users import COLUMNS, User
from gatehouse.stores.errors import Duplicate, Missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy.ext.asyncio import AsyncConnection

    from gatehouse.stores.database.sql_engine import Database

DIRECTORY = "directory"


@dataclass(frozen=True, slots=True)
class NewSource:
    name: str
    kind: str
    title: str
    config: str  # JSON
    created: float
    changed: float
    sealed: bytes | None = None
    enabled: bool = True
    sort: int = 0
    origin: str = "operator"


@dataclass(frozen=True, slots=True)
class StoredSource(NewSource):
    id: int = 0


class SourceChange(RowChange, frozen=True, kw_only=True):
    title: str | UnsetType = UNSET
    config: str | UnsetType = UNSET
    sealed: bytes | UnsetType | None = UNSET
    enabled: bool | UnsetType = UNSET
    sort: int | UnsetType = UNSET
    changed: float | UnsetType = UNSET


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a user is at a source."""

    id: int
    user: int
    source: int
    issuer: str
    subject: str
    name: str
    linked: float
    seen: float | None = None
    gone: float | None = None


class LinkedUser(NamedTuple):
    """A user of a source, with the codes of all roles that it holds, each with the source that has decided it."""

    user: User
    roles: dict[str, int | None]


_SOURCE = [identity_sources.c[name] for name in StoredSource.__dataclass_fields__]
_IDENTITY = [external_identities.c[name] for name in Identity.__dataclass_fields__]
_OF_USER = (
    select(*_IDENTITY).where(external_identities.c.user == bindparam("user_id")).order_by(external_identities.c.id)
)
_OF_SUBJECT = select(*_IDENTITY).where(
    external_identities.c.source == bindparam("source_id"),
    external_identities.c.issuer == bindparam("issuer_url"),
    external_identities.c.subject == bindparam("subject_id"),
)
_PASSWORD_SOURCE = (
    select(*_IDENTITY)
    .join(identity_sources, identity_sources.c.id == external_identities.c.source)
    .where(external_identities.c.user == bindparam("user_id"), identity_sources.c.kind == DIRECTORY)
    .order_by(identity_sources.c.sort, external_identities.c.id)
)


class SourceStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> Sequence[StoredSource]:
        """In the order in which they are asked and shown."""
        query = select(*_SOURCE).order_by(identity_sources.c.sort, identity_sources.c.id)
        async with self._database.reading() as db:
            return [StoredSource(*row) for row in await db.execute(query)]

    async def reseal(self, source: int, old: bytes, new: bytes) -> None:
        async with self._database.writing() as db:
            same = identity_sources.c.id == source, identity_sources.c.sealed == old
            await db.execute(update(identity_sources).where(*same).values(sealed=new))

    async def identities_of(self, user: int) -> list[Identity]:
        return [Identity(*row) for row in await self._database.fetch_rows(_OF_USER, user_id=user)]

    async def password_identity(self, user: int) -> Identity | None:
        """At the directory that checks the user's password; None for users whose password is ours."""
        found = await self._database.fetch_rows(_PASSWORD_SOURCE, user_id=user)
        return Identity(*found[0]) if found else None

    async def by_subject(self, source: int, issuer: str, subject: str) -> Identity | None:
        found = await self._database.fetch_rows(_OF_SUBJECT, source_id=source, issuer_url=issuer, subject_id=subject)
        return Identity(*found[0]) if found else None

    async def at_source(self, source: int) -> list[Identity]:
        query = select(*_IDENTITY).where(external_identities.c.source == source).order_by(external_identities.c.id)
        async with self._database.reading() as db:
            return [Identity(*row) for row in await db.execute(query)]

    async def users_at(self, source: int) -> dict[int, LinkedUser]:
        """By id."""
        linked = select(external_identities.c.user).where(external_identities.c.source == source)
        held = select(user_roles.c.user, roles.c.code, user_roles.c.source).join(roles, roles.c.id == user_roles.c.role)
        async with self._database.reading() as db:
            found = {
                row.id: LinkedUser(User(*row), {})
                for row in await db.execute(select(*COLUMNS).where(users.c.id.in_(linked)))
            }
            for row in await db.execute(held.where(user_roles.c.user.in_(linked))):
                found[row.user].roles[row.code] = row.source
        return found

    async def users_by_source(self) -> dict[int, int]:
        """How many users each source has."""
        query = select(external_identities.c.source, func.count().label("users")).group_by(external_identities.c.source)
        async with self._database.reading() as db:
            return {row.source: row.users for row in await db.execute(query)}

    async def decided_roles(self, user: int) -> dict[int, int]:
        """Roles that a source decides about, and which source."""
        query = select(user_roles.c.role, user_roles.c.source).where(
            user_roles.c.user == user, user_roles.c.source.is_not(None)
        )
        async with self._database.reading() as db:
            return {row.role: row.source for row in await db.execute(query)}

    async def mark_seen(self, identity: int, at: float) -> None:
        async with self._database.writing() as db:
            await db.execute(update(external_identities).where(external_identities.c.id == identity).values(seen=at))


class SourceWrites:
    """The part of a transaction that changes sources and identities."""

    db: AsyncConnection

    async def add_source(self, new: NewSource) -> int:
        try:
            return new_id(await self.db.execute(insert(identity_sources).values(**asdict(new))))
        except IntegrityError:
            raise Duplicate(f"there is a source {new.name!r} already") from None

    async def source(self, name: str) -> StoredSource:
        row = (await self.db.execute(select(*_SOURCE).where(identity_sources.c.name == name))).one_or_none()
        if row is None:
            raise Missing(f"there is no source {name!r}")
        return StoredSource(*row)

    async def set_source(self, source: int, change: SourceChange) -> None:
        await self.db.execute(
            update(identity_sources).where(identity_sources.c.id == source).values(**set_columns(change))
        )

    async def delete_source(self, source: int) -> list[int]:
        """With its identities, and the roles that it decided; returns whose profiles that changes."""
        of_source = external_identities.c.source == source
        users = set(await self.db.scalars(select(external_identities.c.user).where(of_source)))
        users |= set(await self.db.scalars(select(user_roles.c.user).where(user_roles.c.source == source)))
        await self.db.execute(delete(user_roles).where(user_roles.c.source == source))
        await self.db.execute(delete(identity_sources).where(identity_sources.c.id == source))
        return sorted(users)

    async def roles_at_source(self, source: int) -> list[int]:
        """Roles that users hold who are linked to it."""
        held = select(user_roles.c.role).join(external_identities, external_identities.c.user == user_roles.c.user)
        return list(await self.db.scalars(held.where(external_identities.c.source == source).distinct()))

    async def add_identity(self, new: Identity) -> int:
        """The id of `new` is not looked at."""
        columns = {name: value for name, value in asdict(new).items() if name != "id"}
        try:
            return new_id(await self.db.execute(insert(external_identities).values(**columns)))
        except IntegrityError:
            raise Duplicate(f"{new.name!r} is linked to a user already") from None

    async def identity(self, source: int, issuer: str, subject: str) -> Identity | None:
        values: dict[str, Any] = {"source_id": source, "issuer_url": issuer, "subject_id": subject}
        row = (await self.db.execute(_OF_SUBJECT, values)).one_or_none()
        return Identity(*row) if row else None

    async def identities(self, user: int) -> list[Identity]:
        return [Identity(*row) for row in await self.db.execute(_OF_USER, {"user_id": user})]

    async def has_directory(self, user: int) -> bool:
        """Whether a directory checks the user's password."""
        return (await self.db.execute(_PASSWORD_SOURCE, {"user_id": user})).first() is not None

    async def set_identity(self, identity: int, *, name: str, seen: float | None, gone: float | None) -> None:
        values = {"name": name, "seen": seen, "gone": gone}
        await self.db.execute(update(external_identities).where(external_identities.c.id == identity).values(**values))

    async def delete_identity(self, identity: Identity) -> None:
        """With the roles that its source decided."""
        await self.db.execute(delete(external_identities).where(external_identities.c.id == identity.id))
        decided = user_roles.c.user == identity.user, user_roles.c.source == identity.source
        await self.db.execute(delete(user_roles).where(*decided))

    async def replace_decided_roles(self, user: int, source: int, wanted: Iterable[int]) -> tuple[set[int], set[int]]:
        """Roles as the source decides them; those that were given by hand stay. Returns which came and which went."""
        wanted = set(wanted)
        rows = (await self.db.execute(select(user_roles).where(user_roles.c.user == user))).all()
        decided = {row.role for row in rows if row.source == source}
        added, removed = wanted - {row.role for row in rows}, decided - wanted
        if removed:
            gone = user_roles.c.user == user, user_roles.c.role.in_(removed)
            await self.db.execute(delete(user_roles).where(*gone))
        if added:
            rows_added = [{"user": user, "role": role, "source": source} for role in sorted(added)]
            await self.db.execute(insert(user_roles), rows_added)
        return added, removed

"""Changes to sources of identity, and links between users and who they are there.

A source decides who gets which roles, so only administrators change one; each role that its mapping gives is one that
they could grant by hand. What the environment defines is changed there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, UnsetType

from gatehouse.auth.audit import Event
from gatehouse.auth.identity.sources import read_config
from gatehouse.auth.refusals import AccountFieldInvalid, FieldMissing
from gatehouse.identity_sources.definitions import Config, DirectoryConfig, SourceKind
from gatehouse.management import authority
from gatehouse.management.accepted_values import check_field, check_text
from gatehouse.management.authority import grant_of
from gatehouse.stores.database.identity_sources import Identity, NewSource, SourceChange
from gatehouse.stores.errors import Duplicate, InUse, Missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.auth.identity.sources import Source, Sources, SourceSecrets
    from gatehouse.identity_sources.person import Person
    from gatehouse.management.account_changes import AccountChanges, Change
    from gatehouse.management.authority import Actor
    from gatehouse.management.users import UserChanges
    from gatehouse.stores.database.identity_sources import SourceStore, StoredSource

ENVIRONMENT = "environment"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
MAX_TIMEOUT_SECONDS = 30
MAX_CONNECTIONS = 64
MAX_STALE_SECONDS = 30 * 86_400
VENDORS = ("openldap", "ad")
CLIENT_AUTHS = ("client_secret_basic", "client_secret_post", "none")


class SourceDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A new source, or what a change sets. A secret that is UNSET stays; an empty one is removed."""

    title: str | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    sort: int | UnsetType = UNSET
    config: Config | UnsetType = UNSET
    secret: str | UnsetType = UNSET


class SourceChanges:
    def __init__(
        self,
        *,
        changes: AccountChanges,
        users: UserChanges,
        store: SourceStore,
        secrets: SourceSecrets,
        sources: Sources,
    ) -> None:
        self._changes = changes
        self._users = users
        self._store = store
        self._secrets = secrets
        self._sources = sources

    async def all(self) -> Sequence[StoredSource]:
        return await self._store.all()

    async def by_name(self, name: str) -> StoredSource:
        found = next((row for row in await self._store.all() if row.name == name), None)
        if found is None:
            raise Missing(f"there is no source {name!r}")
        return found

    async def add(
        self, actor: Actor, name: str, kind: SourceKind, draft: SourceDraft, *, origin: str = "operator"
    ) -> int:
        authority.require_administrator(actor)
        check_field("name", name, check_name)
        if draft.config is UNSET:
            raise AccountFieldInvalid("config", "a new source needs it")
        now = self._changes.now
        async with self._changes.begin(actor) as change:
            await self._check(change, actor, draft, kind)
            new = NewSource(
                name=name,
                kind=kind.value,
                title=draft.title or name,
                config=msgspec.json.encode(draft.config).decode(),
                created=now,
                changed=now,
                sealed=self._secrets.seal(name, draft.secret or ""),
                enabled=draft.enabled is not False,
                sort=draft.sort or 0,
                origin=origin,
            )
            source = await change.transaction.add_source(new)
            change.record(Event.SOURCE_ADDED, name=name, kind=kind.value)
        await self._sources.load()
        return source

    async def edit(self, actor: Actor, name: str, draft: SourceDraft, *, origin: str = "operator") -> None:
        authority.require_administrator(actor)
        async with self._changes.begin(actor) as change:
            row = await change.transaction.source(name)
            _require_origin(row, origin)
            await self._require_reach(change, actor, row)
            await self._check(change, actor, draft, SourceKind(row.kind))
            _require_secret(actor, row, draft)
            values = SourceChange(
                title=draft.title,
                enabled=draft.enabled,
                sort=draft.sort,
                config=UNSET if draft.config is UNSET else msgspec.json.encode(draft.config).decode(),
                sealed=UNSET if draft.secret is UNSET else self._secrets.seal(name, draft.secret),
                changed=self._changes.now,
            )
            await change.transaction.set_source(row.id, values)
            changed = [field for field in SourceDraft.__struct_fields__ if getattr(draft, field) is not UNSET]
            change.record(Event.SOURCE_CHANGED, name=name, changed=changed)
        await self._sources.load()

    async def remove(self, actor: Actor, name: str, *, origin: str = "operator") -> int:
        """With the links of its users and the roles that it decided. Returns how many users that concerns."""
        authority.require_administrator(actor)
        async with self._changes.begin(actor) as change:
            row = await change.transaction.source(name)
            if row.enabled:  # one that is not is what the environment defined once
                _require_origin(row, origin)
            await self._require_reach(change, actor, row)
            users = await change.transaction.delete_source(row.id)
            change.invalidate(users)
            change.record(Event.SOURCE_REMOVED, name=name, users=len(users))
        await self._sources.load()
        return len(users)

    # Links

    async def link(self, actor: Actor, user: int, source: Source, person: Person) -> None:
        """From now on the person at the source logs in as this user. A user has one identity at each source.

        Whoever else links a user gives it the roles that the source gives the person, whose password nobody asked for.
        """
        own = actor.user == user
        if not own:
            authority.require_administrator(actor)
            await self._users.require_can_manage(actor, user)
        now = self._changes.now
        async with self._changes.begin(actor) as change:
            if not own:
                given = await change.transaction.known_roles(roles_given(source.config))
                authority.require_grant(actor, [grant_of(role) for role in given])
            if any(each.source == source.id for each in await change.transaction.identities(user)):
                raise Duplicate(f"the user is linked to somebody at {source.name} already")
            await change.transaction.add_identity(
                Identity(0, user, source.id, person.issuer, person.subject, person.name[:255], now)
            )
            change.invalidate([user])
            change.record(Event.IDENTITY_LINKED, user, source=source.name, name=person.name)

    async def unlink(self, actor: Actor, user: int, identity: int) -> None:
        """The last way in is not taken away by oneself: without a password of one's own it stays."""
        own = actor.user == user
        target = None if own else await self._users.require_can_manage(actor, user)
        async with self._changes.begin(actor) as change:
            known = await change.transaction.identities(user)
            found = next((each for each in known if each.id == identity), None)
            if found is None:
                raise Missing(f"the user has no identity {identity}")
            [target] = await change.transaction.targets([user])
            if own and len(known) == 1 and not target.user.password_hash:
                raise InUse("it is the only way to log in: set a password first")
            await change.transaction.delete_identity(found)
            change.invalidate([user])
            change.record(Event.IDENTITY_UNLINKED, user, name=found.name)

    async def _require_reach(self, change: Change, actor: Actor, row: StoredSource) -> None:
        """Whoever can point a source elsewhere can come in as anybody who is linked to it."""
        held = await change.transaction.roles(await change.transaction.roles_at_source(row.id))
        given = await change.transaction.known_roles(roles_given(read_config(row)))
        authority.require_grant(actor, [grant_of(role) for role in (*held, *given)])

    async def _check(self, change: Change, actor: Actor, draft: SourceDraft, kind: SourceKind) -> None:
        check_field("title", draft.title, lambda title: check_text("title", title))
        if draft.config is UNSET:
            return
        check_config(draft.config, kind)
        given = await change.transaction.roles_by_code(roles_given(draft.config))
        authority.require_grant(actor, [grant_of(role) for role in given])


def check_config(config: Config, kind: SourceKind | None = None) -> None:
    """What a source cannot do without, and bounds; a wrong one is named as in the bodies of requests."""
    required = ("urls", "base") if isinstance(config, DirectoryConfig) else ("client_id",)
    if kind is SourceKind.OPENID:
        required = ("issuer", *required)
    for field in required:
        if not getattr(config, field):
            raise AccountFieldInvalid(field, "a source of this kind needs it")
    if not 0 < config.timeout <= MAX_TIMEOUT_SECONDS:
        raise AccountFieldInvalid("timeout", f"up to {MAX_TIMEOUT_SECONDS} seconds")
    if isinstance(config, DirectoryConfig):
        _check_directory(config)
    elif config.client_auth not in CLIENT_AUTHS:
        raise AccountFieldInvalid("client_auth", f"one of {', '.join(CLIENT_AUTHS)}")


def _check_directory(config: DirectoryConfig) -> None:
    if not all(url.startswith(("ldap://", "ldaps://")) for url in config.urls):
        raise AccountFieldInvalid("urls", "ldap:// or ldaps://")
    if config.vendor not in VENDORS:
        raise AccountFieldInvalid("vendor", f"one of {', '.join(VENDORS)}")
    if not 1 <= config.connections <= MAX_CONNECTIONS:
        raise AccountFieldInvalid("connections", f"1 to {MAX_CONNECTIONS}")
    for field in ("recheck_seconds", "stale_seconds"):
        if not 0 <= getattr(config, field) <= MAX_STALE_SECONDS:
            raise AccountFieldInvalid(field, f"0 to {MAX_STALE_SECONDS}")


def roles_given(config: Config) -> list[str]:
    mapping = config.mapping
    return sorted({code for some in mapping.roles.values() for code in some} | set(mapping.default_roles))


def check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError("a name has 1 to 32 lower-case letters, digits and hyphens")


def _require_secret(actor: Actor, row: StoredSource, draft: SourceDraft) -> None:
    """Nobody reads a secret by having it sent elsewhere: another address takes the secret once more."""
    if actor.user is None or not row.sealed or draft.secret is not UNSET or draft.config is UNSET:
        return
    if _goes_to(draft.config) != _goes_to(read_config(row)):
        raise FieldMissing("secret")


def _goes_to(config: Config) -> tuple[object, ...]:
    """Who gets to see the secret."""
    if isinstance(config, DirectoryConfig):
        return set(config.urls), config.allow_plain, config.ca_file
    return config.issuer, config.base_url, config.ca_file


def _require_origin(row: StoredSource, origin: str) -> None:
    if row.origin != origin:
        raise InUse(f"the source {row.name!r} is defined by the environment: change it there")

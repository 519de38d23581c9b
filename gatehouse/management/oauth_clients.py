"""Changes to applications that people log in to with their account here, and the secrets of those.

An application learns who somebody is and receives them where it says, so only administrators change one. A secret is
shown once; while a new one is being brought to the application, the one before it stays valid for a while. What an
application was granted ends with it, and when it is disabled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from gatehouse.auth.audit import Event
from gatehouse.auth.oauth.client_secrets import digest, hint, new_client_secret
from gatehouse.auth.oauth.clients import read_config
from gatehouse.auth.oauth.definitions import ClientAuth, ClientConfig
from gatehouse.auth.refusals import AccountFieldInvalid, ApplicationFieldInvalid
from gatehouse.management import authority
from gatehouse.management.client_checks import check_client_id, check_name, checked_config
from gatehouse.messages import message
from gatehouse.stores.database.oauth_clients import ClientChange, ClientSecret, NewClient
from gatehouse.stores.errors import Missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.auth.keys.key_rotation import KeyRotation
    from gatehouse.management.account_changes import AccountChanges, Change
    from gatehouse.management.authority import Actor
    from gatehouse.stores.database.oauth_clients import ClientStore, StoredClient

KEEP_SECONDS = 7 * 86_400  # how long the secret before a new one stays valid, unless it is said
MAX_KEEP_SECONDS = 90 * 86_400


class ClientDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A new application, or what a change sets.

    `before` is the config that a change was made from: what somebody else has changed meanwhile stays then.
    """

    name: str | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    config: ClientConfig | UnsetType = UNSET
    before: ClientConfig | UnsetType = UNSET


class NewSecret(NamedTuple):
    """`text` is shown this once. `old_until`: when the one before it ends; None if there is none any more."""

    text: str
    old_until: float | None = None


class ClientChanges:
    def __init__(self, changes: AccountChanges, store: ClientStore, keys: KeyRotation, own_audience: str) -> None:
        """`own_audience`: of Gatehouse's own tokens, which no application may have."""
        self._changes = changes
        self._store = store
        self._keys = keys
        self._own_audience = own_audience

    async def all(self) -> Sequence[StoredClient]:
        return await self._store.all()

    async def by_client_id(self, client_id: str) -> StoredClient:
        found = await self._store.by_client_id(client_id)
        if found is None:
            raise Missing(f"there is no application {client_id!r}")
        return found

    async def valid_secrets(self) -> dict[int, list[ClientSecret]]:
        """By the number of their application, the newest last."""
        found: dict[int, list[ClientSecret]] = {}
        for each in await self._store.secrets():
            if _is_valid(each, self._changes.now):
                found.setdefault(each.client, []).append(each)
        return found

    async def add(self, actor: Actor, client_id: str, draft: ClientDraft) -> str | None:
        """Returns its secret, if it is to have one."""
        authority.require_administrator(actor, "applications")
        check_client_id(client_id, self._own_audience)
        if draft.config is UNSET:
            raise AccountFieldInvalid("config", "a new application needs it")
        name = draft.name or client_id
        check_name(name)
        config, now = checked_config(draft.config, self._own_audience), self._changes.now
        await self._keys.ensure(config.id_token_alg)
        async with self._changes.begin(actor) as change:
            await _require_roles(change, config.roles)
            new = NewClient(client_id, name, _stored(config), now, now, enabled=draft.enabled is not False)
            client = await change.transaction.add_client(new)
            change.record(Event.CLIENT_ADDED, client=client_id, name=name, redirect_uris=config.redirect_uris)
            return await self._add_secret(change, client) if config.auth is ClientAuth.SECRET else None

    async def edit(self, actor: Actor, client_id: str, draft: ClientDraft) -> int:
        """Returns how many users have lost their login there: those of an application that is disabled."""
        authority.require_administrator(actor, "applications")
        if draft.name is not UNSET:
            check_name(draft.name)
        config = UNSET if draft.config is UNSET else checked_config(draft.config, self._own_audience)
        if config is not UNSET:
            await self._keys.ensure(config.id_token_alg)
        async with self._changes.begin(actor) as change:
            row = await change.transaction.client(client_id)
            changed = [
                field for field in ("name", "enabled") if getattr(draft, field) not in {UNSET, getattr(row, field)}
            ]
            detail = {}
            if config is not UNSET:
                config = checked_config(_merged(config, draft.before, read_config(row)), self._own_audience)
                changed += await self._change_config(change, row, config)
                detail = {"redirect_uris": config.redirect_uris} if "redirect_uris" in changed else {}
            values = ClientChange(
                name=draft.name,
                enabled=draft.enabled,
                config=UNSET if config is UNSET else _stored(config),
                changed=self._changes.now,
            )
            await change.transaction.set_client(row.id, values)
            users = await change.transaction.end_grants(row.id) if draft.enabled is False else 0
            change.record(Event.CLIENT_CHANGED, None, client=client_id, changed=changed, **detail)
        return users

    async def remove(self, actor: Actor, client_id: str) -> int:
        """With its secrets, and with what users have granted it. Returns how many were logged in there."""
        authority.require_administrator(actor, "applications")
        async with self._changes.begin(actor) as change:
            row = await change.transaction.client(client_id)
            users = await change.transaction.end_grants(row.id)
            await change.transaction.delete_client(row.id)
            change.record(Event.CLIENT_REMOVED, client=client_id, users=users)
        return users

    async def new_secret(self, actor: Actor, client_id: str, keep: float = KEEP_SECONDS) -> NewSecret:
        """The newest of those before it stays valid for `keep` seconds, older ones end: two are valid at most."""
        authority.require_administrator(actor, "applications")
        if not 0 <= keep <= MAX_KEEP_SECONDS:
            raise ApplicationFieldInvalid("keep", message("applications.keep", days=MAX_KEEP_SECONDS // 86_400))
        now = self._changes.now
        async with self._changes.begin(actor) as change:
            row = await change.transaction.client(client_id)
            if read_config(row).auth is not ClientAuth.SECRET:
                raise ApplicationFieldInvalid("auth", message("applications.no_secret"))
            valid = [each for each in await change.transaction.client_secrets(row.id) if _is_valid(each, now)]
            old = valid[-1] if valid and keep else None
            await change.transaction.delete_client_secrets(row.id, except_for=old.id if old else None)
            until = None
            if old is not None:
                until = min(now + keep, old.expires or now + keep)
                await change.transaction.set_secret_end(old.id, until)
            text = await self._add_secret(change, row.id)
            change.record(Event.CLIENT_SECRET_ADDED, client=client_id, hint=hint(text), old_until=until)
        return NewSecret(text, until)

    async def _add_secret(self, change: Change, client: int) -> str:
        text = new_client_secret()
        await change.transaction.add_client_secret(ClientSecret(0, client, digest(text), hint(text), self._changes.now))
        return text

    async def _change_config(self, change: Change, row: StoredClient, config: ClientConfig) -> list[str]:
        """Returns the names of what is different. Roles that it had already may be gone meanwhile."""
        before = read_config(row)
        await _require_roles(change, [code for code in config.roles if code not in before.roles])
        if config.auth is not ClientAuth.SECRET:
            await change.transaction.delete_client_secrets(row.id)
        return [field for field in config.__struct_fields__ if getattr(config, field) != getattr(before, field)]


async def _require_roles(change: Change, codes: Sequence[str]) -> None:
    known = {role.code for role in await change.transaction.known_roles(codes)}
    for code in codes:
        if code not in known:
            raise ApplicationFieldInvalid("roles", message("applications.role", role=code))


def _merged(config: ClientConfig, before: ClientConfig | UnsetType, now: ClientConfig) -> ClientConfig:
    """What is there now, with what `config` has changed of `before`."""
    if before is UNSET:
        return config
    changed = [field for field in config.__struct_fields__ if getattr(config, field) != getattr(before, field)]
    return msgspec.structs.replace(now, **{field: getattr(config, field) for field in changed})


def _stored(config: ClientConfig) -> str:
    return msgspec.json.encode(config).decode()


def _is_valid(secret: ClientSecret, now: float) -> bool:
    return secret.expires is None or secret.expires > now

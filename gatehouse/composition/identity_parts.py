"""Sources of identity: directories and providers, opened when there are any, and who comes from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.identity.directory_recheck import DirectoryRecheck
from gatehouse.auth.identity.password_check import PasswordChecks
from gatehouse.auth.identity.sources import Sources, SourceSecrets
from gatehouse.auth.keys.sealing import derive
from gatehouse.auth.passwords.decoy_hashes import DecoyHashes
from gatehouse.identity_sources.definitions import Config, DirectoryConfig, SourceKind
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.management.source_people import SourcePeople

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.keys.key_ring import KeyRing
    from gatehouse.auth.passwords.hash_pool import HashPool
    from gatehouse.composition.opened_stores import Stores
    from gatehouse.identity_sources.clients import Directory, Provider
    from gatehouse.management.account_changes import AccountChanges

DIRECTORY_SHARE = 0.5  # of the slots in the hash queue: a directory that hangs leaves the others to our own users


class IdentityParts:
    def __init__(
        self,
        *,
        stores: Stores,
        key_ring: KeyRing,
        hash_pool: HashPool,
        account_changes: AccountChanges,
        clock: Callable[[], float],
    ) -> None:
        self._clock = clock
        self.secrets = SourceSecrets(key_ring, stores.sources)
        self.sources = Sources(stores.sources, self.secrets, self.open)
        self.people = SourcePeople(changes=account_changes, identities=stores.sources, departments=stores.departments)
        self.passwords = PasswordChecks(
            users=stores.users,
            hashes=hash_pool,
            decoy_hashes=DecoyHashes(stores.users, derive(key_ring.secrets[0], "stand-ins"), clock),
            sources=self.sources,
            identities=stores.sources,
            people=self.people,
            max_asking=max(1, int(hash_pool.slots * DIRECTORY_SHARE)),
        )
        self.recheck = DirectoryRecheck(
            sources=self.sources, identities=stores.sources, people=self.people, clock=clock
        )

    def open(self, kind: SourceKind, config: Config, secret: str) -> Directory | Provider:
        """The clients of both are extras: not everybody has them."""
        try:
            if isinstance(config, DirectoryConfig):
                from gatehouse.identity_sources.directory.ldap_directory import LdapDirectory  # noqa: PLC0415

                return LdapDirectory(config, secret)
            from gatehouse.identity_sources.provider.open_provider import open_provider  # noqa: PLC0415

            return open_provider(kind, config, secret, self._clock)
        except ImportError:
            extra = "ldap" if kind is SourceKind.DIRECTORY else "openid"
            raise SourceUnavailable(f"it needs an extra: install Gatehouse with [{extra}]") from None

"""Whose password is it: ours to check by its hash, or that of a directory.

A user who is linked to a directory is asked about there, and everybody else whom we know by a hash; for an unknown name
the directories are asked in their order. All cost one hash, and all take as long as a directory does, so time tells
nothing about a name. If a directory that must be asked cannot be, the answer is that, and never a wrong password.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.audit import LoginFailure
from gatehouse.auth.identity.check_times import CheckTimes
from gatehouse.auth.identity.people import NotAdmitted
from gatehouse.auth.identity.sources import SourceOutcome
from gatehouse.auth.refusals import DirectoryPasswordExpired
from gatehouse.auth.sessions.amr import Method, method_at
from gatehouse.common.logs import log
from gatehouse.identity_sources.errors import SourceUnavailable

if TYPE_CHECKING:
    from gatehouse.auth.audit import ClientInfo
    from gatehouse.auth.identity.people import People
    from gatehouse.auth.identity.sources import Source, Sources
    from gatehouse.auth.login_name import LoginName
    from gatehouse.auth.passwords.decoy_hashes import DecoyHashes
    from gatehouse.auth.passwords.hash_pool import HashPool
    from gatehouse.auth.passwords.hashing import PasswordCheck
    from gatehouse.identity_sources.clients import PasswordResult
    from gatehouse.stores.database.identity_sources import Identity, SourceStore
    from gatehouse.stores.database.users import Credentials, Users

# What a directory says of a right password that it does not accept any more.
EXPIRED = {"expired", "must_change"}


class CheckedPassword(NamedTuple):
    """`found` is the user; after a first login with a directory it is one that was just made."""

    found: Credentials | None
    failure: LoginFailure | None
    needs_rehash: bool = False
    method: str = Method.PASSWORD


class PasswordChecks:
    def __init__(
        self,
        *,
        users: Users,
        hashes: HashPool,
        decoy_hashes: DecoyHashes,
        sources: Sources,
        identities: SourceStore,
        people: People,
        max_asking: int,
    ) -> None:
        self._users = users
        self._hashes = hashes
        self._decoy_hashes = decoy_hashes
        self._sources = sources
        self._identities = identities
        self._people = people
        self._times = CheckTimes()
        self._max_asking = max_asking  # of the logins at once: each keeps its slot in the hash queue meanwhile
        self._asking = 0

    async def check(
        self, name: LoginName, found: Credentials | None, password: str, client: ClientInfo, *, with_code: bool = False
    ) -> CheckedPassword:
        if not self._sources.has_directories:
            return _by_hash(found, await self.check_hash(name, found, password, with_code=with_code))
        started = self._times.start()
        identity = await self._identities.password_identity(found.user.id) if found else None
        hashing = asyncio.ensure_future(self.check_hash(name, found, password, with_code=with_code))
        try:
            if found is not None and identity is None:
                return _by_hash(found, await hashing)
            asked = await self._ask(name, identity, password)
            if asked is None:
                return CheckedPassword(None, LoginFailure.UNKNOWN_NAME)
            return await self._by_directory(asked, identity, found, client)
        finally:
            await asyncio.gather(hashing, return_exceptions=True)
            await self._times.level(started)

    async def check_hash(
        self, name: LoginName, found: Credentials | None, password: str, *, with_code: bool = False
    ) -> PasswordCheck:
        # An unknown name costs one real hash, and so does a user without a password or a disabled one: neither the
        # answer nor its time tells them apart.
        stored = (found and found.user.password_hash) or await self._decoy_hashes.for_name(name)
        return await (self._hashes.check_with_code if with_code else self._hashes.check)(stored, password)

    async def is_right(self, found: Credentials, password: str) -> bool:
        """The current password of a user who is logged in; nothing about the user changes."""
        identity = await self._identities.password_identity(found.user.id) if self._sources.has_directories else None
        if identity is None:
            return (await self._hashes.check(found.user.password_hash, password)).correct
        source = self._sources.by_id(identity.source)
        result = await self._check_at(source, identity.name, password) if source else None
        person = result.person if result else None
        return bool(result and result.correct and person and person.subject == identity.subject)

    async def _ask(
        self, name: LoginName, identity: Identity | None, password: str
    ) -> tuple[Source, PasswordResult] | None:
        """The first directory that knows the name, and what it says. A known user's own one is the only one asked."""
        if identity is not None:
            source = self._sources.by_id(identity.source)
            return (source, await self._check_at(source, identity.name, password)) if source else None
        for source in self._sources.directories:
            result = await self._check_at(source, name.typed, password)
            if result.person is not None or result.refused:
                return source, result
        return None

    async def _check_at(self, source: Source, name: str, password: str) -> PasswordResult:
        started = self._times.start()
        self._asking += 1
        try:
            if self._asking > self._max_asking:
                raise SourceUnavailable("too many logins wait for directories")
            result = await source.directory.check_password(name, password)
        except SourceUnavailable as problem:
            self._sources.count(source, SourceOutcome.UNAVAILABLE)
            log.warning("a directory cannot be asked", source=source.name, problem=str(problem))
            raise
        finally:
            self._asking -= 1
        if result.person is not None:
            self._times.record(started)
        accepted = result.correct and not result.refused
        self._sources.count(source, SourceOutcome.SUCCESS if accepted else SourceOutcome.REFUSED)
        return result

    async def _by_directory(
        self,
        asked: tuple[Source, PasswordResult],
        identity: Identity | None,
        found: Credentials | None,
        client: ClientInfo,
    ) -> CheckedPassword:
        source, result = asked
        if result.refused in EXPIRED:
            raise DirectoryPasswordExpired(f"{source.name}: {result.refused}")
        if result.refused:
            log.warning("a directory refuses a login", source=source.name, reason=result.refused)
            return CheckedPassword(found, LoginFailure.DIRECTORY)
        if not result.correct or result.person is None:
            return CheckedPassword(found, LoginFailure.PASSWORD)
        if identity is not None and identity.subject != result.person.subject:
            # The name belongs to somebody else there by now.
            return CheckedPassword(found, LoginFailure.NAME_TAKEN)
        try:
            user = await self._people.arrive(source, result.person, client)
        except NotAdmitted as refusal:
            return CheckedPassword(found, refusal.failure)
        credentials = await self._users.credentials_by_id(user)
        return CheckedPassword(credentials, _state_of(credentials), method=method_at(Method.DIRECTORY, source.name))


def _by_hash(found: Credentials | None, check: PasswordCheck) -> CheckedPassword:
    failure = _state_of(found) or (None if check.correct else LoginFailure.PASSWORD)
    return CheckedPassword(found, failure, check.needs_rehash)


def _state_of(found: Credentials | None) -> LoginFailure | None:
    """Why the user cannot log in by a password, whatever that is."""
    if found is None:
        return LoginFailure.UNKNOWN_NAME
    if not found.user.enabled:
        return LoginFailure.DISABLED
    return None if found.password_login else LoginFailure.PASSWORD_LOGIN_OFF

"""Users who come from a source of identity: made at their first login, kept up to date, disabled when they are gone.

A person is known by the stable subject at the source and by nothing else: a name that a user has already is never a
reason to let somebody in as that user. The source decides about the roles that its mapping gives; roles that were given
by hand stay. Each change is a transaction with its audit events, as every change to accounts is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.audit import ClientInfo, Event, LoginFailure, SessionEndReason
from gatehouse.auth.identity.mapping import MappedPerson, NamedDepartment, map_person
from gatehouse.auth.identity.people import NotAdmitted
from gatehouse.common.logs import log
from gatehouse.common.name_key import name_key
from gatehouse.management import accepted_values
from gatehouse.management.authority import Actor
from gatehouse.stores.database.identity_sources import Identity
from gatehouse.stores.database.row_changes import set_columns, without_same
from gatehouse.stores.database.users import NewUser, UserChange
from gatehouse.stores.errors import Duplicate, Missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.identity.sources import Source
    from gatehouse.identity_sources.person import Person
    from gatehouse.management.account_changes import AccountChanges, Change
    from gatehouse.stores.database.departments import Departments
    from gatehouse.stores.database.identity_sources import SourceStore
    from gatehouse.stores.database.users import User

NAME_MAX = 255  # of what a person is called at the source


class SourcePeople:
    def __init__(self, *, changes: AccountChanges, identities: SourceStore, departments: Departments) -> None:
        self._changes = changes
        self._identities = identities
        self._departments = departments

    async def arrive(self, source: Source, person: Person, client: ClientInfo) -> int:
        """The user of a person whom the source has just authenticated, made or brought up to date."""
        mapped = await self.map(source, person)
        async with self._changes.begin(_nobody(client)) as change:
            known = await change.transaction.identity(source.id, person.issuer, person.subject)
            if known is None:
                return await self._add(change, source, person, mapped)
            await self._update(change, source, known, person, mapped)
            return known.user

    async def confirm(self, source: Source, identity: Identity, person: Person) -> None:
        """The person is still there: bring the user up to date."""
        mapped = await self.map(source, person)
        async with self._changes.begin(_nobody()) as change:
            await self._update(change, source, identity, person, mapped)

    async def gone(self, source: Source, identity: Identity, client: ClientInfo = ClientInfo()) -> None:  # noqa: B008 - a tuple
        """The person is gone or disabled at the source: disable the user and end its sessions."""
        async with self._changes.begin(_nobody(client)) as change:
            transaction = change.transaction
            [target] = await transaction.targets([identity.user])
            gone = identity.gone or self._changes.now
            await transaction.set_identity(identity.id, name=identity.name, seen=self._changes.now, gone=gone)
            if target.user.enabled:
                await transaction.set_user(identity.user, UserChange(enabled=False))
                change.record(Event.USER_DISABLED, identity.user, source=source.name)
            change.invalidate([identity.user])
            change.end_sessions(identity.user, SessionEndReason.DISABLED)

    async def map(self, source: Source, person: Person) -> MappedPerson:
        known = [NamedDepartment(each.id, each.name, each.code) for each in await self._departments.all()]
        return map_person(person, source.kind, source.config.mapping, known)

    async def _add(self, change: Change, source: Source, person: Person, mapped: MappedPerson) -> int:
        if not source.config.create_users:
            raise NotAdmitted(LoginFailure.NOT_ADMITTED)
        if not accepted_values.is_username(mapped.username):
            log.warning("a source has no usable username for a person", source=source.name, person=person.subject)
            raise NotAdmitted(LoginFailure.NOT_ADMITTED)
        transaction = change.transaction
        department = source.config.mapping.default_department if mapped.department is None else mapped.department
        new = NewUser(
            username=mapped.username,
            nickname=_usable("nickname", mapped.nickname) or mapped.username,
            password_hash="",
            department=department,
            created=self._changes.now,
            mobile=_usable("mobile", mapped.mobile),
            email=_usable("email", mapped.email),
        )
        try:
            user = await transaction.add_user(new)
        except Duplicate:
            raise NotAdmitted(LoginFailure.NAME_TAKEN) from None
        except Missing:
            log.warning("a source puts people into a department that is not there", source=source.name, id=department)
            raise NotAdmitted(LoginFailure.NOT_ADMITTED) from None
        now = self._changes.now
        await transaction.add_identity(
            Identity(0, user, source.id, person.issuer, person.subject, person.name[:NAME_MAX], now, now)
        )
        granted, _ = await self._decide_roles(change, source, user, mapped)
        change.record(Event.USER_ADDED, user, username=mapped.username, roles=granted, source=source.name)
        return user

    async def _update(
        self, change: Change, source: Source, identity: Identity, person: Person, mapped: MappedPerson
    ) -> None:
        transaction = change.transaction
        [target] = await transaction.targets([identity.user])
        values = without_same(_wanted(target.user, identity, mapped), target.user)
        if values.username and await transaction.is_name_taken(values.username, identity.user):
            log.warning("a person's new name is that of another user", source=source.name, user=identity.user)
            values = UserChange(**{name: value for name, value in set_columns(values).items() if name != "username"})
        columns = set_columns(values)
        if columns:
            await transaction.set_user(identity.user, values)
        granted, revoked = await self._decide_roles(change, source, identity.user, mapped)
        await transaction.set_identity(identity.id, name=person.name[:NAME_MAX], seen=self._changes.now, gone=None)
        changed = sorted(columns.keys() - {"enabled"})
        if changed or granted or revoked:
            detail = {"changed": changed, "granted": granted, "revoked": revoked}
            change.record(Event.USER_CHANGED, identity.user, source=source.name, **detail)
        if "enabled" in columns:
            change.record(Event.USER_ENABLED, identity.user, source=source.name)
        if columns or granted or revoked:
            change.invalidate([identity.user])

    async def _decide_roles(
        self, change: Change, source: Source, user: int, mapped: MappedPerson
    ) -> tuple[list[str], list[str]]:
        known = {role.code: role.id for role in await change.transaction.known_roles(mapped.roles)}
        if missing := sorted(set(mapped.roles) - known.keys()):
            log.warning("a source maps groups to roles that are not there", source=source.name, roles=missing)
        added, removed = await change.transaction.replace_decided_roles(user, source.id, known.values())
        codes = {role.id: role.code for role in await change.transaction.roles(added | removed)}
        return sorted(codes[role] for role in added), sorted(codes[role] for role in removed)


def _nobody(client: ClientInfo = ClientInfo()) -> Actor:  # noqa: B008 - a tuple: nobody can change it
    """The source decides, and no user of ours."""
    return Actor(None, client=client)


def _wanted(user: User, identity: Identity, mapped: MappedPerson) -> UserChange:
    """What the source says of the user. The username follows it as long as it is the name of the person there."""
    follows = name_key(user.username) == name_key(identity.name)
    values: dict[str, object] = {
        "username": mapped.username if follows and accepted_values.is_username(mapped.username) else "",
        "nickname": _usable("nickname", mapped.nickname),
        "email": _usable("email", mapped.email),
        "mobile": _usable("mobile", mapped.mobile),
    }
    known = {name: value for name, value in values.items() if value}
    if mapped.department is not None:
        known["department"] = mapped.department
    if identity.gone is not None:  # disabled because it was gone, and by nobody's hand
        known["enabled"] = True
    return UserChange(**known)  # type: ignore[arg-type]


_CHECKS: dict[str, Callable[[str], None]] = {
    "nickname": accepted_values.check_nickname,
    "email": accepted_values.check_email,
    "mobile": accepted_values.check_mobile,
}


def _usable(field: str, value: str) -> str:
    """A value that our own rules take, or nothing: a directory may hold anything."""
    value = "".join(each for each in value if each.isprintable()).strip()
    value = value[: accepted_values.NAME_MAX] if field == "nickname" else value
    try:
        if value:
            _CHECKS[field](value)
    except ValueError:
        return ""
    return value

"""`gatehouse directory sync`: brings all users of a directory up to date with it, without waiting for their logins.

A plan is made first, purely from the people there, our links to them and our users. It is applied person by person, as
a login of each would do it. A directory that shows too few of those whom we know is not believed: a wrong filter, or
the lost right to read a branch, must not lock a company out.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from gatehouse.auth.identity.mapping import NamedDepartment, map_person
from gatehouse.auth.identity.people import NotAdmitted
from gatehouse.common.name_key import name_key
from gatehouse.management import accepted_values
from gatehouse.management.source_people import wanted_change
from gatehouse.messages import message
from gatehouse.stores.database.row_changes import set_columns, without_same
from gatehouse.stores.errors import Duplicate, InUse, Missing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from gatehouse.auth.audit import ClientInfo
    from gatehouse.auth.identity.mapping import MappedPerson
    from gatehouse.auth.identity.sources import Source
    from gatehouse.identity_sources.person import Person
    from gatehouse.management.source_people import SourcePeople
    from gatehouse.messages import Message
    from gatehouse.stores.database.departments import Departments
    from gatehouse.stores.database.identity_sources import Identity, LinkedUser, SourceStore
    from gatehouse.stores.database.roles import Roles
    from gatehouse.stores.database.users import User, Users

MAX_GONE = 50  # percent of the known people


class SyncAction(StrEnum):
    ADD = "add"
    CHANGE = "change"
    ENABLE = "enable"  # is back, and was disabled because of being gone
    DISABLE = "disable"  # is gone, or may not log in any more
    CONFLICT = "conflict"  # nothing is done about it


class SyncStep(NamedTuple):
    """What is done about one person."""

    action: SyncAction
    name: str  # there
    username: str  # here; of a new user, the one that it gets
    changed: Mapping[str, tuple[Any, Any]] = {}  # by field: before and after
    granted: tuple[str, ...] = ()
    revoked: tuple[str, ...] = ()
    problem: Message | str = ""
    person: Person | None = None
    identity: Identity | None = None


class SyncPlan(NamedTuple):
    people: int  # in the directory
    known: int  # of our users, those who were there the last time
    steps: tuple[SyncStep, ...]
    unchanged: int
    without_user: int  # people for whom no user is made
    missing_roles: tuple[str, ...]  # that the mapping names
    refusal: Message | None  # why it must not be applied

    def number_of(self, action: SyncAction) -> int:
        return sum(step.action is action for step in self.steps)


class SyncContext(NamedTuple):
    """What a plan is computed from, beside the people."""

    source: Source
    identities: Sequence[Identity]
    users: Mapping[int, LinkedUser]
    names: Mapping[str, int]  # ids of all users, by the key of their name
    departments: Sequence[NamedDepartment]
    roles: Collection[str]  # codes
    create: bool = False
    max_gone: int = MAX_GONE


class SyncPlanner:
    """Is given one person after another, so that only those who differ are kept in memory."""

    def __init__(self, context: SyncContext) -> None:
        self._context = context
        self._by_subject = {each.subject: each for each in context.identities}
        self._names = dict(context.names)
        self._seen: set[str] = set()
        self._steps: list[SyncStep] = []
        self._people = self._unchanged = self._without_user = 0
        self._missing_roles: set[str] = set()

    def add(self, person: Person) -> None:
        context = self._context
        mapped = map_person(person, context.source.kind, context.source.config.mapping, context.departments)
        self._missing_roles |= set(mapped.roles) - set(context.roles)
        self._people += 1
        self._seen.add(person.subject)
        identity = self._by_subject.get(person.subject)
        step = self._known(person, mapped, identity) if identity else self._new(person, mapped)
        if step is not None:
            self._steps.append(step)

    def plan(self) -> SyncPlan:
        identities, users = self._context.identities, self._context.users
        missing = [each for each in identities if each.subject not in self._seen]
        disabled = [
            SyncStep(SyncAction.DISABLE, each.name, users[each.user].user.username, identity=each)
            for each in missing
            if users[each.user].user.enabled or each.gone is None
        ]
        known = sum(each.gone is None for each in identities)
        gone = sum(each.gone is None for each in missing)
        return SyncPlan(
            self._people,
            known,
            (*self._steps, *disabled),
            self._unchanged,
            self._without_user,
            tuple(sorted(self._missing_roles)),
            self._refusal(gone, known),
        )

    def _refusal(self, gone: int, known: int) -> Message | None:
        if not self._people:
            return message("sync.nobody")
        if gone * 100 > known * self._context.max_gone:
            return message("sync.too_many_gone", gone=gone, known=known, percent=self._context.max_gone)
        return None

    def _new(self, person: Person, mapped: MappedPerson) -> SyncStep | None:
        username = mapped.username
        problem = self._problem_of_new(mapped)
        if problem is None and not self._context.create:
            self._without_user += 1
            return None
        self._names.setdefault(name_key(username), 0)
        action = SyncAction.CONFLICT if problem else SyncAction.ADD
        granted = self._existing(mapped)
        return SyncStep(action, person.name, username, granted=granted, problem=problem or "", person=person)

    def _problem_of_new(self, mapped: MappedPerson) -> Message | None:
        if not accepted_values.is_username(mapped.username):
            return message("sync.no_username")
        if name_key(mapped.username) in self._names:
            return message("sync.name_taken", name=mapped.username)
        department = mapped.department or self._context.source.config.mapping.default_department
        if department not in {each.id for each in self._context.departments}:
            return message("sync.no_department", department=department)
        return None

    def _known(self, person: Person, mapped: MappedPerson, identity: Identity) -> SyncStep | None:
        user, held = self._context.users[identity.user]
        columns = set_columns(without_same(wanted_change(user, identity, mapped), user))
        problem: Message | str = ""
        if self._names.get(name_key(columns.get("username", "")), user.id) != user.id:
            problem = message("sync.name_taken", name=columns.pop("username"))
        wanted = self._existing(mapped)
        decided = {code for code, source in held.items() if source == self._context.source.id}
        granted, revoked = tuple(sorted(set(wanted) - held.keys())), tuple(sorted(decided - set(wanted)))
        changed = {field: (getattr(user, field), value) for field, value in columns.items()}
        if person.name != identity.name:
            changed["name"] = (identity.name, person.name)
        if not (changed or granted or revoked or problem or identity.gone):
            self._unchanged += 1
            return None
        action = _action(user, identity, is_conflict=bool(problem and not (changed or granted or revoked)))
        return SyncStep(action, person.name, user.username, changed, granted, revoked, problem, person, identity)

    def _existing(self, mapped: MappedPerson) -> tuple[str, ...]:
        return tuple(code for code in mapped.roles if code in self._context.roles)


def _action(user: User, identity: Identity, *, is_conflict: bool) -> SyncAction:
    if identity.gone is not None and not user.enabled:
        return SyncAction.ENABLE
    return SyncAction.CONFLICT if is_conflict else SyncAction.CHANGE


class DirectorySync:
    def __init__(
        self, *, people: SourcePeople, identities: SourceStore, users: Users, departments: Departments, roles: Roles
    ) -> None:
        self._people = people
        self._identities = identities
        self._users = users
        self._departments = departments
        self._roles = roles

    async def plan(self, source: Source, *, create: bool = False, max_gone: int = MAX_GONE) -> SyncPlan:
        """Reads the whole directory, and changes nothing. Raises `SourceUnavailable`."""
        context = SyncContext(
            source,
            await self._identities.at_source(source.id),
            await self._identities.users_at(source.id),
            await self._users.ids_by_name_key(),
            [NamedDepartment(each.id, each.name, each.code) for each in await self._departments.all()],
            {role.code for role in await self._roles.all()},
            create,
            max_gone,
        )
        planner = SyncPlanner(context)
        async for person in source.directory.people():
            planner.add(person)
        return planner.plan()

    async def apply(
        self, source: Source, plan: SyncPlan, client: ClientInfo, progress: Callable[[int, int], None] | None = None
    ) -> list[SyncStep]:
        """Do what is planned. Returns the steps that were refused meanwhile, each with its problem."""
        if plan.refusal is not None:
            raise InUse(str(plan.refusal))
        # Whoever applies a plan with new users in it wants them, even where logins make none.
        source = source._replace(config=msgspec.structs.replace(source.config, create_users=True))
        steps = [step for step in plan.steps if step.action is not SyncAction.CONFLICT]
        refused = []
        for number, step in enumerate(steps, 1):
            try:
                await self._apply(source, step, client)
            except (Duplicate, Missing, InUse, NotAdmitted) as problem:
                refused.append(step._replace(problem=str(problem)))
            if progress:
                progress(number, len(steps))
        return refused

    async def _apply(self, source: Source, step: SyncStep, client: ClientInfo) -> None:
        if step.identity is not None and step.person is not None:
            await self._people.confirm(source, step.identity, step.person, client)
        elif step.identity is not None:
            await self._people.gone(source, step.identity, client)
        elif step.person is not None:
            await self._people.arrive(source, step.person, client)

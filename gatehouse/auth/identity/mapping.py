"""From what a source says about a person to a profile, a department and roles: one pure function for all sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gatehouse.identity_sources.definitions import SourceKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gatehouse.identity_sources.definitions import Mapping
    from gatehouse.identity_sources.person import Person

# Where each field usually is, best first. Names of attributes are in lower case.
USUAL = {
    SourceKind.DIRECTORY: {
        "username": ("samaccountname", "uid", "cn"),
        "nickname": ("displayname", "cn"),
        "email": ("mail",),
        "mobile": ("mobile", "telephonenumber"),
        "department": ("department", "departmentnumber", "ou"),
    },
    SourceKind.OPENID: {
        "username": ("preferred_username", "email"),
        "nickname": ("name", "nickname", "preferred_username"),
        "email": ("email",),
        "mobile": ("phone_number",),
        "department": ("department",),
    },
}


class NamedDepartment(NamedTuple):
    id: int
    name: str
    code: str


class MappedPerson(NamedTuple):
    """Empty texts are unknown, and leave what a user has."""

    username: str
    nickname: str
    email: str
    mobile: str
    department: int | None  # None: the source says nothing of it
    roles: tuple[str, ...]  # codes, sorted


def map_person(
    person: Person, kind: SourceKind, mapping: Mapping, departments: Iterable[NamedDepartment]
) -> MappedPerson:
    usual = USUAL.get(kind, USUAL[SourceKind.OPENID])

    def value(field: str) -> str:
        chosen = getattr(mapping, field)
        # Directories do not distinguish case in names of attributes; claims do.
        names = ((chosen.lower() if kind is SourceKind.DIRECTORY else chosen),) if chosen else usual[field]
        found = (person.attributes[name] for name in names if person.attributes.get(name))
        return next(found, ("",))[0].strip()

    unverified = person.attributes.get("email_verified") == ("false",)
    return MappedPerson(
        username=value("username") or person.name,
        nickname=value("nickname"),
        email="" if unverified else value("email"),
        mobile=value("mobile"),
        department=_department(value("department"), mapping, departments),
        roles=_roles(person, mapping),
    )


def _roles(person: Person, mapping: Mapping) -> tuple[str, ...]:
    held = {group.casefold() for group in person.groups}
    given = {role for group, roles in mapping.roles.items() if group.casefold() in held for role in roles}
    return tuple(sorted(given | set(mapping.default_roles)))


def _department(value: str, mapping: Mapping, departments: Iterable[NamedDepartment]) -> int | None:
    if not value:
        return None
    if value in mapping.departments:
        return mapping.departments[value]
    wanted = value.casefold()
    return next((each.id for each in departments if wanted in {each.code.casefold(), each.name.casefold()}), None)

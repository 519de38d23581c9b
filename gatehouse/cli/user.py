"""`gatehouse user`: people who can log in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from msgspec import UNSET

from gatehouse.auth.oauth.standard_claims import claims_text, stored_claims
from gatehouse.cli import output
from gatehouse.cli.by_name import profile_of, role_of
from gatehouse.cli.field_options import GENDERS, claim_values, contact_options, gender_number, require_change
from gatehouse.cli.new_password_input import password_options, read_password, show_once
from gatehouse.cli.output import Moment, echo, json_option
from gatehouse.cli.prompts import confirm
from gatehouse.cli.user_access import disable, enable, grant, link, password, revoke
from gatehouse.cli.user_factor import factor
from gatehouse.cli.with_service import ID, OPERATOR, with_service
from gatehouse.stores.database.row_changes import unset_if_none
from gatehouse.stores.database.users import NewUser, UserChange
from gatehouse.stores.errors import Duplicate, Missing

if TYPE_CHECKING:
    from gatehouse.composition import Service
    from gatehouse.stores.database.identity_sources import Identity
    from gatehouse.stores.database.users import Profile

_COLUMNS = {
    "id": "ID",
    "username": "USERNAME",
    "nickname": "NICKNAME",
    "enabled": "STATE",
    "dept": "DEPT",
    "roles": "ROLES",
    "factors": "FACTORS",
    "created": "CREATED",
}


@click.group(no_args_is_help=True)
def user() -> None:
    """People who can log in.

    Changes take effect on the user's next request. Disabling or deleting a user, or setting its password, ends
    its sessions at once, on every node.
    """


for command in (factor, disable, enable, password, link, grant, revoke):
    user.add_command(command)


@user.command("add")
@click.argument("name")
@click.option("--nickname", help="The name that people see.  [default: NAME]")
@click.option("--dept", type=ID, metavar="ID", help="Department.  [default: the first one]")
@click.option("--role", "roles", multiple=True, metavar="CODE", help="A role to grant; may be repeated.")
@click.option("--avatar", default="", metavar="URL", help="URL of a picture.")
@click.option("--captcha-exempt", is_flag=True, help="Needs no captcha, for a person who cannot see one.")
@contact_options
@password_options
@json_option
@with_service
async def add(
    service: Service,
    /,
    name: str,
    *,
    nickname: str | None,
    dept: int | None,
    roles: tuple[str, ...],
    avatar: str,
    captcha_exempt: bool,
    gender: str | None,
    mobile: str | None,
    email: str | None,
    password_stdin: bool,
    random_password: bool,
    as_json: bool,
) -> None:
    """Add a user.

    The password is asked for twice, or read from standard input, or generated and shown once. It has at least 8
    characters, is not one of the commonest and does not contain the name.

    \b
    Examples:
      gatehouse user add ann --role ADMIN --nickname "Ann Lee"
      gatehouse user add bob --random-password
      pass show bob | gatehouse user add bob --password-stdin
    """
    if await service.stores.users.by_name(name):
        raise Duplicate(f"there is a user {name!r} already")
    department = dept or await _first_department(service)
    password, generated = read_password(name, password_stdin=password_stdin, random=random_password)
    new = NewUser(
        username=name,
        nickname=nickname or name,
        password_hash=await service.hash_pool.hash(password),
        department=department,
        created=service.clock(),
        avatar=avatar,
        captcha_exempt=captcha_exempt,
        gender=gender_number(gender) or 0,
        mobile=mobile or "",
        email=email or "",
    )
    granted = [(await role_of(service, code)).id for code in dict.fromkeys(roles)]
    number = await service.management.user_changes.add(OPERATOR, new, granted)
    if as_json:
        return output.as_document({"id": number, "username": name} | ({"password": password} if generated else {}))
    echo(f"Added user {name} with id {number}.")
    return show_once(password) if generated else None


@user.command("list")
@click.option("--search", default="", metavar="TEXT", help="Only names that contain this.")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="How many to show at most."
)
@click.option("--after", type=click.IntRange(0, 2**63 - 1), default=0, metavar="ID", help="Show those after this id.")
@json_option
@with_service
async def list_(service: Service, search: str, limit: int, after: int, *, as_json: bool) -> None:
    """List users in the order of their ids.

    \b
    Examples:
      gatehouse user list --search ann
      gatehouse user list --limit 500 --json
    """
    found = await service.stores.users.page(after=after, limit=limit + 1, search=search)
    page = found[:limit]
    factors = await service.management.user_factors.kinds([each.user.id for each in page])
    found_factors = [{"factors": tuple(factors.get(each.user.id, ()))} for each in page]
    rows = [_summary(each) | had for each, had in zip(page, found_factors, strict=True)]
    output.records(rows, _COLUMNS, as_json=as_json, nothing="No users.")
    if len(found) > limit and not as_json:
        echo(f"There are more: add --after {page[-1].user.id}.")


@user.command("show")
@click.argument("name")
@json_option
@with_service
async def show(service: Service, name: str, *, as_json: bool) -> None:
    """Show one user: state, roles, and the perms they give.

    \b
    Example:
      gatehouse user show ann
    """
    profile = await profile_of(service, name)
    sessions = await service.sessions.of_user(profile.user.id)
    facts = _summary(profile) | {
        "avatar": profile.user.avatar,
        "gender": GENDERS[profile.user.gender],
        "mobile": profile.user.mobile,
        "email": profile.user.email,
        "claims": [f"{name}={value}" for name, value in stored_claims(profile.user.claims).items()],
        "captcha_exempt": profile.user.captcha_exempt,
        "perms": profile.perms,
        "sessions": len(sessions),
    }
    output.record(facts | await _company(service, profile.user.id, as_json=as_json), as_json=as_json)


@user.command("edit")
@click.argument("name")
@click.option("--username", metavar="NAME", help="A new name to log in with.")
@click.option("--nickname", help="The name that people see.")
@click.option("--dept", "department", type=ID, metavar="ID", help="Department.")
@click.option("--avatar", metavar="URL", help="URL of a picture; empty for the default one.")
@click.option("--captcha-exempt/--no-captcha-exempt", default=None, help="Whether a login needs no captcha.")
@contact_options
@click.option(
    "--claim", "claims", multiple=True, metavar="NAME=VALUE", help="A claim for applications; may be repeated."
)
@with_service
async def edit(
    service: Service,
    /,
    name: str,
    *,
    username: str | None,
    nickname: str | None,
    department: int | None,
    avatar: str | None,
    captcha_exempt: bool | None,
    gender: str | None,
    mobile: str | None,
    email: str | None,
    claims: tuple[str, ...],
) -> None:
    """Change a user's name, department, avatar or contact fields.

    \b
    Examples:
      gatehouse user edit ann --nickname "Ann Lee" --dept 3
      gatehouse user edit ann --captcha-exempt
      gatehouse user edit ann --claim family_name=Lee --claim zoneinfo=Asia/Shanghai
    """
    who = await profile_of(service, name)
    change = UserChange(
        username=unset_if_none(username),
        nickname=unset_if_none(nickname),
        department=unset_if_none(department),
        avatar=unset_if_none(avatar),
        captcha_exempt=unset_if_none(captcha_exempt),
        gender=unset_if_none(gender_number(gender)),
        mobile=unset_if_none(mobile),
        email=unset_if_none(email),
        claims=claims_text(stored_claims(who.user.claims) | claim_values(claims)) if claims else UNSET,
    )
    changed = require_change(change)
    await service.management.user_changes.edit(OPERATOR, who.user.id, change)
    echo(f"Changed user {name}: {', '.join(changed)}.")


@user.command("delete")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_service
async def delete(service: Service, name: str, *, yes: bool) -> None:
    """Delete a user permanently; its sessions end at once. To lock a user out for a while, disable it.

    \b
    Example:
      gatehouse user delete ann --yes
    """
    profile = await profile_of(service, name)
    confirm(f"Delete user {profile.user.username} (id {profile.user.id}) permanently?", yes=yes)
    await service.management.user_changes.delete(OPERATOR, [profile.user.id])
    echo(f"Deleted user {name}; its sessions have ended.")


def _summary(profile: Profile) -> dict[str, Any]:
    who = profile.user
    return {
        "id": who.id,
        "username": who.username,
        "nickname": who.nickname,
        "enabled": output.enabled(who.enabled),
        "dept": who.department,
        "roles": profile.roles,
        "created": Moment(who.created),
    }


async def _company(service: Service, user: int, *, as_json: bool) -> dict[str, Any]:
    """Who the user is at directories and providers, and which of its roles they decide about."""
    sources = {row.id: row.name for row in await service.stores.sources.all()}
    identities = await service.stores.sources.identities_of(user)
    codes = {role.id: role.code for role in await service.stores.roles.all()} if identities else {}
    decided = {codes[role]: sources[by] for role, by in (await service.stores.sources.decided_roles(user)).items()}
    if as_json:
        listed = [_identity(each, sources[each.source]) for each in identities]
        return {"identities": listed, "decided_roles": decided}
    shown = [f"{each.name}@{sources[each.source]}{' (gone)' if each.gone else ''}" for each in identities]
    by_sources = [f"{code} (by {by})" for code, by in sorted(decided.items())]
    return {"identities": shown, "decided_roles": by_sources} if identities else {}


def _identity(each: Identity, source: str) -> dict[str, Any]:
    moments = {name: Moment(getattr(each, name)) for name in ("linked", "seen", "gone")}
    return {"source": source, "name": each.name, "subject": each.subject, **moments}


async def _first_department(service: Service) -> int:
    known = await service.stores.departments.all()
    if not known:
        raise Missing("there is no department yet: add one with `gatehouse dept add NAME`")
    return known[0].id

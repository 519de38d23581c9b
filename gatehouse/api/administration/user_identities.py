"""Who a user is at the sources of identity, for the administration page: shown, linked beforehand, unlinked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from gatehouse.api.actor import actor_of
from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Operation
from gatehouse.api.time_format import iso_time
from gatehouse.auth import refusals
from gatehouse.identity_sources.definitions import SourceKind
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.identity_sources.person import Person
from gatehouse.management.authority import forbid_own_account, require_administrator
from gatehouse.stores.errors import Duplicate, Missing

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.identity.sources import Source
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service

Text = Annotated[str, Meta(max_length=255)]


class IdentityData(Struct):
    """`lastSeen` is when the source was last asked about the person; `gone`: it did not know the person any more."""

    id: str
    source: str
    title: str
    name: str
    subject: str
    linked: str
    lastSeen: str | None
    gone: bool


class DecidedRoleData(Struct):
    roleId: str
    source: str
    title: str


class UserIdentitiesData(Struct):
    """`decidedRoles` come from a source, which gives or takes them again when it is next asked."""

    identities: list[IdentityData]
    decidedRoles: list[DecidedRoleData]


class LinkBody(Struct):
    """A person of a directory by `name` or `subject`; of a provider by `subject`, and `name` is only shown then."""

    source: Annotated[str, Meta(min_length=1, max_length=32)]
    name: Text = ""
    subject: Text = ""


class UserIdentityEndpoints:
    def __init__(self, service: Service) -> None:
        self._users = service.stores.users
        self._store = service.stores.sources
        self._sources = service.identity.sources
        self._changes = service.management.source_changes

    @Operation(
        "GET",
        "/api/v1/users/{id}/identities",
        "Who a user is at the sources of identity, and the roles that they decide",
        perm="sys:user:list",
        or_perms=("sys:user:update",),
        data=UserIdentitiesData,
        refusals=(refusals.FieldInvalid, Missing),
    )
    async def user_identities(self, request: Request, _principal: Principal) -> Response:
        user = request.path_id()
        if await self._users.profile(user) is None:
            raise Missing(f"there is no user {user}")
        sources = {row.id: row for row in await self._changes.all()}
        identities = [
            IdentityData(
                id=str(each.id),
                source=sources[each.source].name,
                title=sources[each.source].title,
                name=each.name,
                subject=each.subject,
                linked=iso_time(each.linked),
                lastSeen=iso_time(each.seen) if each.seen else None,
                gone=each.gone is not None,
            )
            for each in await self._store.identities_of(user)
        ]
        decided = [
            DecidedRoleData(str(role), sources[source].name, sources[source].title)
            for role, source in sorted((await self._store.decided_roles(user)).items())
        ]
        return success(UserIdentitiesData(identities, decided), request.language)

    @Operation(
        "POST",
        "/api/v1/users/{id}/identities",
        "Link a user to a person at a source of identity, who logs in as that user from then on",
        perm="sys:user:update",
        body=LinkBody,
        refusals=(
            refusals.OwnAccount,
            refusals.CannotManage,
            refusals.CannotGrant,
            SourceUnavailable,
            Missing,
            Duplicate,
        ),
    )
    async def link_user(self, request: Request, principal: Principal) -> Response:
        """One's own account is linked by logging in there: an unlocked screen must not be enough."""
        user, body = request.path_id(), await request.fields(LinkBody)
        actor = actor_of(request, principal)
        forbid_own_account(actor, [user])
        require_administrator(actor)
        source = self._sources.by_name(body.source)
        if source is None:
            raise Missing(f"no source {body.source!r} is enabled")
        if problem := self._sources.problem(source.id):
            raise SourceUnavailable(problem)
        await self._changes.link(actor, user, source, await _person(source, body))
        return success(language=request.language)

    @Operation(
        "DELETE",
        "/api/v1/users/{id}/identities/{identity}",
        "Unlink a user from a source of identity; the roles that it decided go",
        perm="sys:user:update",
        refusals=(refusals.FieldInvalid, refusals.OwnAccount, refusals.CannotManage, Missing),
    )
    async def unlink_user(self, request: Request, principal: Principal) -> Response:
        user, actor = request.path_id(), actor_of(request, principal)
        forbid_own_account(actor, [user])
        await self._changes.unlink(actor, user, request.path_id("identity"))
        return success(language=request.language)


async def _person(source: Source, body: LinkBody) -> Person:
    if source.kind is not SourceKind.DIRECTORY:
        if not body.subject:
            raise refusals.FieldMissing("subject")
        return Person(body.subject, body.name or body.subject, {}, issuer=source.provider.issuer)
    if not body.name and not body.subject:
        raise refusals.FieldMissing("name")
    directory = source.directory
    found = await (directory.by_subject(body.subject) if body.subject else directory.find(body.name))
    if found is None:
        raise Missing(f"{source.name} knows nobody of that name")
    return found

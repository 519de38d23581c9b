"""Sources of identity for the administration page: directories and providers, and what works of them.

Their secrets are taken and never shown. Only administrators change or test one (`management/identity_sources.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType

from gatehouse.api.actor import actor_of
from gatehouse.api.administration.source_config import config_data, in_camel_case, read_config_data
from gatehouse.api.console.shared_types import Number
from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Operation
from gatehouse.auth import refusals
from gatehouse.identity_sources.clients import TestStep
from gatehouse.identity_sources.definitions import SourceKind, config_type
from gatehouse.management.authority import require_administrator
from gatehouse.management.identity_sources import SourceDraft
from gatehouse.stores.errors import Duplicate, InUse, Missing

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service
    from gatehouse.management.source_tests import Preview
    from gatehouse.stores.database.identity_sources import StoredSource

T = TypeVar("T")

Title = Annotated[str, Meta(max_length=64)]
Secret = Annotated[
    str, Meta(max_length=4096, description="The bind password or client secret. Never shown, never written to a log.")
]
ConfigFields = Annotated[
    dict[str, Any],
    Meta(description="The fields of this kind of source, in camel case; one that is left out has its default."),
]


class SourceData(Struct):
    """`origin` is `operator` or `environment`: what the environment defines is changed there."""

    name: str
    kind: SourceKind
    title: str
    enabled: bool
    sort: int
    origin: str
    users: Annotated[int, Meta(description="How many are linked to somebody there.")]
    hasSecret: bool
    problem: Annotated[str, Meta(description="Why it cannot be used although it is enabled; empty if it can.")]
    config: ConfigFields


class SourcesData(Struct):
    """In the order in which they are asked and shown. Below `loginUrl`, a provider `x` has `x/callback` and others."""

    sources: list[SourceData]
    loginUrl: str
    defaults: Annotated[dict[str, ConfigFields], Meta(description="What a field that is left out means, by `kind`.")]


class NewSourceBody(Struct):
    name: Annotated[str, Meta(min_length=1, max_length=32, examples=["corp"])]
    kind: SourceKind
    config: ConfigFields
    title: Title = ""
    enabled: bool | None = None
    sort: Number | None = None
    secret: Secret = ""


class SourceBody(Struct):
    """What is left out or empty stays as it is, the secret too; `config` is replaced as a whole.

    Another address of the source takes the secret once more.
    """

    config: ConfigFields | None = None
    title: Title = ""
    enabled: bool | None = None
    sort: Number | None = None
    secret: Secret = ""


class RemovedSourceData(Struct):
    users: int


class SourceTestBody(Struct):
    user: Annotated[str, Meta(max_length=255, description="The login name of somebody in a directory.")] = ""


class TestStepData(Struct):
    """`step` is a tag such as `resolve`, `tls`, `bind`, `search`; `seen` is in English, for operators."""

    step: str
    works: bool
    seen: str


class PreviewData(Struct):
    """What the mapping makes of the person. `arrival`: `create`, `update`, `not_admitted` or `name_taken`."""

    arrival: str
    subject: str
    groups: list[str]
    username: str
    nickname: str
    email: str
    mobile: str
    department: str
    roles: list[str]


class SourceTestData(Struct):
    steps: list[TestStepData]
    preview: PreviewData | None = None


class IdentitySourceEndpoints:
    def __init__(self, service: Service) -> None:
        self._store = service.stores.sources
        self._departments = service.stores.departments
        self._sources = service.identity.sources
        self._changes = service.management.source_changes
        self._tests = service.management.source_tests
        self._throttle = service.throttle
        self._login_url = f"{service.settings.public_url}/login"

    @Operation(
        "GET",
        "/api/v1/identity-sources",
        "Sources of identity: directories and providers, without their secrets",
        perm="sys:source:list",
        data=SourcesData,
    )
    async def identity_sources(self, request: Request, _principal: Principal) -> Response:
        users = await self._store.users_by_source()
        shown = [self._data(row, users.get(row.id, 0)) for row in await self._changes.all()]
        defaults = {kind.value: in_camel_case(config_type(kind)()) for kind in SourceKind}
        return success(SourcesData(shown, self._login_url, defaults), request.language)

    @Operation(
        "POST",
        "/api/v1/identity-sources",
        "Add a source of identity",
        perm="sys:source:create",
        body=NewSourceBody,
        refusals=(refusals.CannotGrant, Missing, Duplicate),
    )
    async def add_identity_source(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(NewSourceBody)
        draft = SourceDraft(
            title=body.title or body.name,
            enabled=_given(body.enabled),
            sort=_given(body.sort),
            config=read_config_data(body.kind, body.config),
            secret=body.secret,
        )
        await self._changes.add(actor_of(request, principal), body.name, body.kind, draft)
        return success(language=request.language)

    @Operation(
        "GET",
        "/api/v1/identity-sources/{name}",
        "One source of identity",
        perm="sys:source:list",
        or_perms=("sys:source:update",),
        data=SourceData,
        refusals=(Missing,),
    )
    async def identity_source(self, request: Request, _principal: Principal) -> Response:
        row = await self._changes.by_name(request.parameters["name"])
        users = await self._store.users_by_source()
        return success(self._data(row, users.get(row.id, 0)), request.language)

    @Operation(
        "PUT",
        "/api/v1/identity-sources/{name}",
        "Change a source of identity",
        perm="sys:source:update",
        body=SourceBody,
        refusals=(refusals.CannotGrant, Missing, InUse),
    )
    async def edit_identity_source(self, request: Request, principal: Principal) -> Response:
        name, body = request.parameters["name"], await request.fields(SourceBody)
        row = await self._changes.by_name(name)
        draft = SourceDraft(
            title=body.title or UNSET,
            enabled=_given(body.enabled),
            sort=_given(body.sort),
            config=UNSET if body.config is None else read_config_data(SourceKind(row.kind), body.config),
            secret=body.secret or UNSET,
        )
        await self._changes.edit(actor_of(request, principal), name, draft)
        return success(language=request.language)

    @Operation(
        "DELETE",
        "/api/v1/identity-sources/{name}",
        "Remove a source of identity; its users stay, without its link and the roles that it decided",
        perm="sys:source:delete",
        data=RemovedSourceData,
        refusals=(refusals.CannotGrant, Missing, InUse),
    )
    async def remove_identity_source(self, request: Request, principal: Principal) -> Response:
        users = await self._changes.remove(actor_of(request, principal), request.parameters["name"])
        return success(RemovedSourceData(users), request.language)

    @Operation(
        "POST",
        "/api/v1/identity-sources/{name}/test",
        "Ask a source step by step what works, and what one person would become here",
        perm="sys:source:update",
        body=SourceTestBody,
        data=SourceTestData,
        refusals=(refusals.CannotGrant, refusals.TooManyRequests, Missing),
    )
    async def test_identity_source(self, request: Request, principal: Principal) -> Response:
        body, actor = await request.fields(SourceTestBody), actor_of(request, principal)
        require_administrator(actor)
        row = await self._changes.by_name(request.parameters["name"])
        await self._throttle.admit_source_test(principal.profile.user.id)
        answer = SourceTestData([])
        async for found in self._tests.run(row, body.user.strip()):
            if isinstance(found, TestStep):
                answer.steps.append(TestStepData(*found))
            else:
                answer.preview = await self._preview_data(found)
        return success(answer, request.language)

    def _data(self, row: StoredSource, users: int) -> SourceData:
        return SourceData(
            name=row.name,
            kind=SourceKind(row.kind),
            title=row.title,
            enabled=row.enabled,
            sort=row.sort,
            origin=row.origin,
            users=users,
            hasSecret=row.sealed is not None,
            problem=self._sources.problem(row.id),
            config=config_data(row),
        )

    async def _preview_data(self, preview: Preview) -> PreviewData:
        names = {each.id: each.name for each in await self._departments.all()}
        person, mapped = preview.person, preview.mapped
        return PreviewData(
            arrival=preview.arrival.value,
            subject=person.subject,
            groups=list(person.groups),
            username=mapped.username,
            nickname=mapped.nickname,
            email=mapped.email,
            mobile=mapped.mobile,
            department=names.get(preview.department, ""),
            roles=list(mapped.roles),
        )


def _given(value: T | None) -> T | UnsetType:
    return UNSET if value is None else value

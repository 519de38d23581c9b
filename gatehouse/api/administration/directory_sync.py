"""What differs between a directory and its users, and bringing them up to date, for the administration page.

A request must end: what takes longer is done by `gatehouse directory sync`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from gatehouse.api.actor import actor_of
from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Operation
from gatehouse.auth import refusals
from gatehouse.auth.refusals import FieldInvalid
from gatehouse.identity_sources.definitions import SourceKind
from gatehouse.identity_sources.errors import SourceUnavailable
from gatehouse.management.authority import require_administrator
from gatehouse.management.directory_sync import SyncAction
from gatehouse.messages import in_language, message
from gatehouse.stores.errors import Missing

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service
    from gatehouse.management.directory_sync import SyncPlan, SyncStep
    from gatehouse.messages import Message

PLAN_SECONDS = 60.0
MAX_STEPS = 200


class SyncBody(Struct):
    preview: bool


class SyncStepData(Struct):
    """`action` is `add`, `change`, `enable`, `disable` or `conflict`; `changed` names fields."""

    action: str
    name: str
    username: str
    changed: list[str]
    granted: list[str]
    revoked: list[str]
    problem: str


class SyncData(Struct):
    """`refusal` says why nothing may be done, if so; `steps` are what would be done, or was."""

    applied: bool
    refusal: str
    people: Annotated[int, Meta(description="In the directory.")]
    unchanged: int
    total: int
    steps: list[SyncStepData]


class DirectorySyncEndpoint:
    def __init__(self, service: Service) -> None:
        self._sources = service.identity.sources
        self._changes = service.management.source_changes
        self._sync = service.management.directory_sync
        self._throttle = service.throttle

    @Operation(
        "POST",
        "/api/v1/identity-sources/{name}/sync",
        "Compare the users of a directory with it, and bring them up to date unless it is a preview",
        perm="sys:source:update",
        body=SyncBody,
        data=SyncData,
        refusals=(refusals.CannotGrant, refusals.TooManyRequests, SourceUnavailable, Missing),
    )
    async def sync_identity_source(self, request: Request, principal: Principal) -> Response:
        body = await request.fields(SyncBody)
        require_administrator(actor_of(request, principal))
        row = await self._changes.by_name(request.parameters["name"])
        if row.kind != SourceKind.DIRECTORY:
            raise FieldInvalid("name", "only directories can be asked for everybody")
        await self._throttle.admit_source_test(principal.profile.user.id)
        source = self._sources.open(row)
        try:
            async with asyncio.timeout(PLAN_SECONDS):
                plan = await self._sync.plan(source)
            refusal = _refusal(plan)
            refused: list[SyncStep] = []
            if refusal is None and not body.preview:
                refused = await self._sync.apply(source, plan, request.client)
        except TimeoutError:
            raise SourceUnavailable(f"the directory was not read within {PLAN_SECONDS:g} s") from None
        finally:
            await source.client.close()
        problems = {(step.name, step.action): step.problem for step in refused}
        data = SyncData(
            applied=refusal is None and not body.preview,
            refusal=in_language(refusal, request.language) if refusal else "",
            people=plan.people,
            unchanged=plan.unchanged,
            total=len(plan.steps),
            steps=[_step(each, problems, request.language) for each in plan.steps[:MAX_STEPS]],
        )
        return success(data, request.language)


def _refusal(plan: SyncPlan) -> Message | None:
    work = len(plan.steps) - plan.number_of(SyncAction.CONFLICT)
    return message("sync.too_many_steps", steps=work) if plan.refusal is None and work > MAX_STEPS else plan.refusal


def _step(step: SyncStep, problems: dict[tuple[str, SyncAction], Message | str], language: str) -> SyncStepData:
    problem = problems.get((step.name, step.action), step.problem)
    return SyncStepData(
        action=step.action.value,
        name=step.name,
        username=step.username,
        changed=sorted(step.changed),
        granted=list(step.granted),
        revoked=list(step.revoked),
        problem=in_language(problem, language),
    )

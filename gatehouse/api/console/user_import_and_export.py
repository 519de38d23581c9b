"""Users as spreadsheets: a template to fill in, import with its report, export."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from gatehouse.api.actor import actor_of
from gatehouse.api.console.dates_and_ids import console_time
from gatehouse.api.console.shared_types import IdNumber
from gatehouse.api.console.user_data import UserQuery
from gatehouse.api.console.user_page import user_filter
from gatehouse.api.error_catalogue import SUCCESS
from gatehouse.api.http.fair_lock import FairLock
from gatehouse.api.http.response import Response, raw_response, success
from gatehouse.api.operation_declaration import MULTIPART, Operation
from gatehouse.auth import refusals
from gatehouse.auth.audit import Event
from gatehouse.auth.perms import allows
from gatehouse.auth.refusals import FieldInvalid, NotAllowed
from gatehouse.common.name_key import name_key
from gatehouse.messages import in_language, message, section
from gatehouse.stores.database.import_batches import ImportBatches
from gatehouse.stores.errors import Duplicate, Missing
from gatehouse.transfer.import_plan import Context, UserPlanner
from gatehouse.transfer.user_sheet_reader import COLUMNS, header, read_user_sheet
from gatehouse.transfer.xlsx import FILE_MAX, SheetInvalid, write_sheet

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service
    from gatehouse.stores.database.user_search import ListedUser
    from gatehouse.transfer.import_plan import PlannedUser
    from gatehouse.transfer.import_rows import Refusal

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

EXPORT_MAX = 100_000
# Rows of one transaction: the database must not be held for long.
BATCH = 200
# One sheet at a time in each worker: they cost seconds of computing, and memory.
SHEETS_WAITING = 4
PREVIEWED = 100

# An export has two columns more than the template.
EXPORTED = (*COLUMNS, "status", "created")


class ImportQuery(Struct):
    deptId: Annotated[IdNumber | None, Meta(description="For rows that name no department.")] = None
    preview: Annotated[bool, Meta(description="Only say what would be done.")] = False


class ImportBody(Struct):
    file: Annotated[str, Meta(extra_json_schema={"format": "binary", "contentMediaType": XLSX})]


class ImportedUser(Struct):
    username: str
    nickname: str
    department: str
    roles: list[str]


class ImportReport(Struct):
    """How many users were added, how many rows were not, and why, a sentence each; the first of a preview."""

    code: str
    validCount: int
    invalidCount: int
    messageList: list[str]
    users: list[ImportedUser]


class UserSheetEndpoints:
    def __init__(self, service: Service) -> None:
        self._stores = service.stores
        self._changes = service.management.user_changes
        self._search = service.stores.user_search
        self._batches = ImportBatches(service.stores.database)
        self._authenticate = service.authenticator.authenticate
        self._audit = service.audit
        self._sheet_lock = FairLock(SHEETS_WAITING)

    @Operation(
        "GET", "/api/v1/users/template", "A sheet to fill in for an import", perm="sys:user:import", produces=XLSX
    )
    async def user_template(self, request: Request, _principal: Principal) -> Response:
        names = header(COLUMNS, request.language)
        async with self._sheet_lock:
            return _attachment(await asyncio.to_thread(write_sheet, "users", [names]), "users-template.xlsx")

    @Operation(
        "GET",
        "/api/v1/users/export",
        "The users that a search finds, as a sheet",
        perm="sys:user:export",
        query=UserQuery,
        produces=XLSX,
        refusals=(refusals.TooBusy,),
        older_paths=("/api/v1/users/_export",),
    )
    async def export_users(self, request: Request, _principal: Principal) -> Response:
        wanted, language = user_filter(request.query_as(UserQuery)), request.language
        rows = [header(EXPORTED, language)]
        async with self._sheet_lock:
            principal = await self._authorize_again(request, "sys:user:export")
            async for batch in self._search.each(wanted, EXPORT_MAX):
                rows += [_row(one, language) for one in batch]
            detail = {"users": len(rows) - 1}
            self._audit.record(Event.USERS_EXPORTED, request.client, actor=principal.claims.user, detail=detail)
            return _attachment(await asyncio.to_thread(write_sheet, "users", rows), "users.xlsx")

    @Operation(
        "POST",
        "/api/v1/users/import",
        "Add the users of a sheet; rows that cannot be taken are reported",
        perm="sys:user:import",
        query=ImportQuery,
        body=ImportBody,
        takes=(MULTIPART,),
        upload_limit=FILE_MAX,
        data=ImportReport,
        refusals=(refusals.TooBusy, Missing, Duplicate),
        older_paths=("/api/v1/users/_import",),
    )
    async def import_users(self, request: Request, _principal: Principal) -> Response:
        query = request.query_as(ImportQuery)
        content = await request.upload("file")
        async with self._sheet_lock:
            try:
                rows, formulas = await asyncio.to_thread(read_user_sheet, content)
            except SheetInvalid as problem:
                raise FieldInvalid("file", str(problem)) from None
            principal = await self._authorize_again(request, "sys:user:import")
            context = await self._import_context(request, principal, query.deptId)
            existing = await self._batches.existing([name_key(row.username) for row in rows], [])
            plan = UserPlanner(context).plan(rows, existing)
            entries = [(new, [context.roles[code].id for code in codes]) for _, new, codes in plan.added]
            for start in range(0, 0 if query.preview else len(entries), BATCH):
                await self._changes.add_many(context.actor, entries[start : start + BATCH])
        refused = sorted([*plan.refused, *formulas])
        words = [_words(refusal, request.language) for refusal in refused]
        users = [_preview(each, context) for each in plan.added[:PREVIEWED]] if query.preview else []
        return success(ImportReport(SUCCESS, len(plan.added), len(refused), words, users), request.language)

    async def _authorize_again(self, request: Request, perm: str) -> Principal:
        """A sheet waits for others and takes seconds to read: whoever was disabled meanwhile must not act any more."""
        principal = await self._authenticate(request.bearer())
        if not allows(principal.profile.perms, perm):
            raise NotAllowed(f"user {principal.claims.user} has lost {perm} meanwhile")
        return principal

    async def _import_context(self, request: Request, principal: Principal, department: int | None) -> Context:
        departments = {one.id: one for one in await self._stores.departments.all()}
        chosen = department or principal.profile.user.department
        if chosen not in departments:
            raise Missing(f"there is no department {chosen}")
        return Context(
            departments=departments,
            roles={role.code: role for role in await self._stores.roles.all()},
            default_department=chosen,
            now=0,  # the transaction that adds them sets the time
            actor=actor_of(request, principal),
            strict=True,
        )


def _preview(planned: PlannedUser, context: Context) -> ImportedUser:
    new = planned.new
    department, roles = context.departments[new.department].name, [context.roles[code].name for code in planned.roles]
    return ImportedUser(new.username, new.nickname, department, roles)


def _row(listed: ListedUser, language: str) -> list[str]:
    user = listed.user
    return [
        user.username,
        user.nickname,
        section("sheet_genders", language)[str(user.gender)],
        user.mobile,
        user.email,
        listed.department,
        ",".join(listed.roles),
        in_language(message("sheet_states.enabled" if user.enabled else "sheet_states.disabled"), language),
        console_time(user.created),
    ]


def _words(refusal: Refusal, language: str) -> str:
    return in_language(message(f"sheet_problems.{refusal.problem}", row=refusal.line, about=refusal.about), language)


def _attachment(content: bytes, name: str) -> Response:
    # Without quotes: the older consoles would make them part of the name.
    return raw_response(content, XLSX, extra=[("content-disposition", f"attachment; filename={name}")])

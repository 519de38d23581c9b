"""Users as spreadsheets: a template to fill in, import with its report, export."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from gatehouse.api.console.actor import actor_of
from gatehouse.api.console.formats import console_time
from gatehouse.api.console.shared_types import IdNumber
from gatehouse.api.console.user_data import UserQuery
from gatehouse.api.console.user_page import user_filter
from gatehouse.api.contract.errors import SUCCESS
from gatehouse.api.http.fair_lock import FairLock
from gatehouse.api.http.response import Response, raw_response, success
from gatehouse.api.operation import MULTIPART, Operation
from gatehouse.auth import refusals
from gatehouse.auth.audit import Event
from gatehouse.auth.perms import allows
from gatehouse.auth.refusals import FieldInvalid, NotAllowed
from gatehouse.management.user_import import (
    ImportContext,
    ImportPlan,
    ImportRow,
    Problem,
    RefusedRow,
    plan_import,
)
from gatehouse.messages import in_language, languages, message, section
from gatehouse.stores.errors import Duplicate, Missing
from gatehouse.transfer.xlsx import FILE_MAX, Formula, SheetInvalid, write_sheet
from gatehouse.transfer.xlsx_process import read_sheet_apart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service
    from gatehouse.stores.database.user_search import ListedUser
    from gatehouse.transfer.xlsx import Cell

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

EXPORT_MAX = 100_000
# Rows of one transaction: the database must not be held for long.
BATCH = 200
# One sheet at a time in each worker: they cost seconds of computing, and memory.
SHEETS_WAITING = 4
PREVIEWED = 100

# The columns of the template; an export has two more.
_COLUMNS = ("username", "nickname", "gender", "mobile", "email", "department", "roles")
_EXPORTED = (*_COLUMNS, "status", "created")
_COMMA = re.compile("[,\uff0c\u3001]")  # also the two that Chinese writes


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
        self._authenticate = service.authenticator.authenticate
        self._audit = service.audit
        self._sheet_lock = FairLock(SHEETS_WAITING)

    @Operation(
        "GET", "/api/v1/users/template", "A sheet to fill in for an import", perm="sys:user:import", produces=XLSX
    )
    async def user_template(self, request: Request, _principal: Principal) -> Response:
        header = _header(_COLUMNS, request.language)
        async with self._sheet_lock:
            return _attachment(await asyncio.to_thread(write_sheet, "users", [header]), "users-template.xlsx")

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
        rows = [_header(_EXPORTED, language)]
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
                cells = await asyncio.to_thread(read_sheet_apart, content, len(_COLUMNS))
            except SheetInvalid as problem:
                raise FieldInvalid("file", str(problem)) from None
            rows, formulas = _rows(cells)
            principal = await self._authorize_again(request, "sys:user:import")
            context = await self._import_context(request, principal, query.deptId, rows)
            plan = plan_import(rows, context)
            for start in range(0, 0 if query.preview else len(plan.added), BATCH):
                await self._changes.add_many(context.actor, plan.added[start : start + BATCH])
        refused = sorted([*plan.refused, *formulas])
        words = [_words(refusal, request.language) for refusal in refused]
        users = _preview(plan, context) if query.preview else []
        return success(ImportReport(SUCCESS, len(plan.added), len(refused), words, users), request.language)

    async def _authorize_again(self, request: Request, perm: str) -> Principal:
        """A sheet waits for others and takes seconds to read: whoever was disabled meanwhile must not act any more."""
        principal = await self._authenticate(request.bearer())
        if not allows(principal.profile.perms, perm):
            raise NotAllowed(f"user {principal.claims.user} has lost {perm} meanwhile")
        return principal

    async def _import_context(
        self, request: Request, principal: Principal, department: int | None, rows: Sequence[ImportRow]
    ) -> ImportContext:
        departments = await self._stores.departments.all()
        chosen = department or principal.profile.user.department
        if all(one.id != chosen for one in departments):
            raise Missing(f"there is no department {chosen}")
        return ImportContext(
            actor=actor_of(request, principal),
            departments=departments,
            roles=await self._stores.roles.all(),
            taken=frozenset(await self._search.taken([row.username for row in rows])),
            default_department=chosen,
        )


def _preview(plan: ImportPlan, context: ImportContext) -> list[ImportedUser]:
    departments = {one.id: one.name for one in context.departments}
    roles = {role.id: role.name for role in context.roles}
    return [
        ImportedUser(new.username, new.nickname, departments[new.department], [roles[role] for role in granted])
        for new, granted in plan.added[:PREVIEWED]
    ]


def _rows(cells: Sequence[Sequence[Cell]]) -> tuple[list[ImportRow], list[RefusedRow]]:
    """The rows below the header, numbered as the spreadsheet program does; those with a formula apart."""
    if not cells or [str(cell).casefold() for cell in cells[0]] not in [
        [name.casefold() for name in _header(_COLUMNS, language)] for language in languages()
    ]:
        raise FieldInvalid("file", "its first row is not that of the template")
    rows, formulas = [], []
    for number, row in enumerate(cells[1:], 2):
        if any(isinstance(cell, Formula) for cell in row):
            formulas.append(RefusedRow(number, Problem.FORMULA))
        elif any(row):
            username, nickname, gender, mobile, email, department, roles = (str(cell) for cell in row)
            named = tuple(part.strip() for part in _COMMA.split(roles) if part.strip())
            rows.append(ImportRow(number, username, nickname, gender, mobile, email, department, named))
    return rows, formulas


def _header(columns: Sequence[str], language: str) -> list[str]:
    return [section("sheet_columns", language)[column] for column in columns]


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


def _words(refusal: RefusedRow, language: str) -> str:
    return in_language(message(f"sheet_problems.{refusal.problem}", row=refusal.row, about=refusal.about), language)


def _attachment(content: bytes, name: str) -> Response:
    # Without quotes: the older consoles would make them part of the name.
    return raw_response(content, XLSX, extra=[("content-disposition", f"attachment; filename={name}")])

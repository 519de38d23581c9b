"""Users as spreadsheets: a template to fill in, import with its report, export."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gatehouse.api.contract.console.users import XLSX, ImportedUser, ImportQuery, ImportReport, UserQuery
from gatehouse.api.contract.errors import SUCCESS
from gatehouse.api.endpoints.console.actor import actor_of
from gatehouse.api.endpoints.console.formats import console_time
from gatehouse.api.endpoints.console.users import user_filter
from gatehouse.api.http.fair_lock import FairLock
from gatehouse.api.http.response import Response, raw_response, success
from gatehouse.auth.audit import Event
from gatehouse.auth.perms import allows
from gatehouse.auth.refusals import FieldInvalid, NotAllowed
from gatehouse.stores.database.import_batches import ImportBatches
from gatehouse.stores.database.users import name_key
from gatehouse.stores.errors import Missing
from gatehouse.transfer.import_plan import Context, UserPlanner
from gatehouse.transfer.import_rows import Problem
from gatehouse.transfer.user_sheet import COLUMNS, read_user_sheet
from gatehouse.transfer.xlsx import SheetInvalid, write_sheet

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service
    from gatehouse.stores.database.user_search import ListedUser
    from gatehouse.transfer.import_plan import PlannedUser
    from gatehouse.transfer.import_rows import Refusal

EXPORT_MAX = 100_000
# Rows of one transaction: the database must not be held for long.
BATCH = 200
# One sheet at a time in each worker: they cost seconds of computing, and memory.
SHEETS_WAITING = 4
PREVIEWED = 100

# An export has two columns more than the template.
_EXPORTED = (*COLUMNS, ("Status", "状态"), ("Created", "创建时间"))
_GENDERS = (("unknown", "未知"), ("male", "男"), ("female", "女"))
_STATES = (("disabled", "禁用"), ("enabled", "启用"))

_PROBLEMS = {
    Problem.NO_NAME: ("row {row}: the username is missing", "第 {row} 行：缺少用户名"),
    Problem.INVALID: ("row {row}: {about} is not valid", "第 {row} 行：{about} 格式不正确"),
    Problem.TAKEN: ("row {row}: there is a user {about} already", "第 {row} 行：用户名 {about} 已存在"),
    Problem.TWICE: ("row {row}: {about} is in the sheet twice", "第 {row} 行：用户名 {about} 重复"),
    Problem.NO_DEPARTMENT: ("row {row}: there is no one department {about}", "第 {row} 行：部门 {about} 不存在"),
    Problem.NO_ROLE: ("row {row}: there is no one role {about}", "第 {row} 行：角色 {about} 不存在"),
    Problem.NOT_GRANTED: ("row {row}: you cannot grant the role {about}", "第 {row} 行：无权授予角色 {about}"),
    Problem.NOT_PLACED: (
        "row {row}: you cannot put users into the department {about}",
        "第 {row} 行：无权将用户加入部门 {about}",
    ),
    Problem.FORMULA: ("row {row}: formulas are not taken", "第 {row} 行：不支持公式"),
}


class UserSheetEndpoints:
    def __init__(self, service: Service) -> None:
        self._accounts = service.accounts
        self._search = service.accounts.user_search
        self._batches = ImportBatches(service.database)
        self._authenticate = service.authenticator.authenticate
        self._audit = service.audit
        self._sheet_lock = FairLock(SHEETS_WAITING)

    def endpoints(self) -> dict[str, Callable[..., Awaitable[Response]]]:
        return {"user_template": self.template, "export_users": self.export, "import_users": self.import_users}

    async def template(self, request: Request, _principal: Principal) -> Response:
        header = [names[request.language == "zh"] for names in COLUMNS]
        async with self._sheet_lock:
            return _attachment(await asyncio.to_thread(write_sheet, "users", [header]), "users-template.xlsx")

    async def export(self, request: Request, _principal: Principal) -> Response:
        wanted, chinese = user_filter(request.query_as(UserQuery)), request.language == "zh"
        rows = [[names[chinese] for names in _EXPORTED]]
        async with self._sheet_lock:
            principal = await self._authorize_again(request, "sys:user:export")
            async for batch in self._search.each(wanted, EXPORT_MAX):
                rows += [_row(one, chinese=chinese) for one in batch]
            detail = {"users": len(rows) - 1}
            self._audit.record(Event.USERS_EXPORTED, request.client, actor=principal.claims.user, detail=detail)
            return _attachment(await asyncio.to_thread(write_sheet, "users", rows), "users.xlsx")

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
                await self._accounts.user_changes.add_many(context.actor, entries[start : start + BATCH])
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
        departments = {one.id: one for one in await self._accounts.departments.all()}
        chosen = department or principal.profile.user.department
        if chosen not in departments:
            raise Missing(f"there is no department {chosen}")
        return Context(
            departments=departments,
            roles={role.code: role for role in await self._accounts.roles.all()},
            default_department=chosen,
            now=0,  # the transaction that adds them sets the time
            actor=actor_of(request, principal),
            strict=True,
        )


def _preview(planned: PlannedUser, context: Context) -> ImportedUser:
    new = planned.new
    department, roles = context.departments[new.department].name, [context.roles[code].name for code in planned.roles]
    return ImportedUser(new.username, new.nickname, department, roles)


def _row(listed: ListedUser, *, chinese: bool) -> list[str]:
    user = listed.user
    return [
        user.username,
        user.nickname,
        _GENDERS[user.gender][chinese],
        user.mobile,
        user.email,
        listed.department,
        ",".join(listed.roles),
        _STATES[user.enabled][chinese],
        console_time(user.created),
    ]


def _words(refusal: Refusal, language: str) -> str:
    return _PROBLEMS[refusal.problem][language == "zh"].format(row=refusal.line, about=refusal.about)


def _attachment(content: bytes, name: str) -> Response:
    # Without quotes: the older consoles would make them part of the name.
    return raw_response(content, XLSX, extra=[("content-disposition", f"attachment; filename={name}")])

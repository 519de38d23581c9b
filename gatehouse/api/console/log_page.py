"""The console's log page, and the figures of its dashboard."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct, field

from gatehouse.api.console.dates_and_ids import console_time, parse_day, span
from gatehouse.api.console.shared_types import OptionData, Page, PageQuery
from gatehouse.api.http.response import Response, success
from gatehouse.api.operation_declaration import Operation
from gatehouse.auth.audit import Event
from gatehouse.auth.sessions.console_versions import ConsoleVersion
from gatehouse.common.user_agent import browser_name, system_name
from gatehouse.messages import in_language, message, section

if TYPE_CHECKING:
    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service
    from gatehouse.management.activity_log import LogEntry

Date = Annotated[str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}", max_length=32, description="YYYY-MM-DD, in UTC.")]


class LogQuery(PageQuery):
    event: Annotated[str, Meta(max_length=40, examples=["login.failed"], description="Only events with this tag.")] = ""
    createTime: Annotated[list[Date], Meta(max_length=2, description="From and to, both days included.")] = field(
        default_factory=list
    )


class LogRow(Struct):
    """One event of the audit trail. What Gatehouse does not keep of it is empty."""

    id: str
    module: str
    actionType: str
    title: str
    content: str
    operatorId: str
    operatorName: str
    operator: str
    requestUri: str
    requestMethod: str
    ip: str
    region: str
    device: str
    browser: str
    os: str
    status: int
    executionTime: int
    errorMsg: str
    createTime: str
    requestId: str


class DaysQuery(Struct):
    startDate: Date | None = None
    endDate: Date | None = None


class OverviewData(Struct):
    """People who logged in, and logins. Rates compare today with yesterday, as fractions."""

    todayUvCount: int
    totalUvCount: int
    uvGrowthRate: float
    todayPvCount: int
    totalPvCount: int
    pvGrowthRate: float


class TrendData(Struct):
    """`ipList` repeats `uvList`: people are counted, and not their addresses. `failedList` counts failed logins."""

    dates: list[str]
    pvList: list[int]
    uvList: list[int]
    ipList: list[int]
    failedList: list[int]


class VisitStatistic(Struct):
    title: str
    type: str
    todayCount: int
    totalCount: int
    growthRate: float
    granularityLabel: str


class LogEndpoints:
    def __init__(self, service: Service) -> None:
        self._log = service.management.activity_log
        self._console_versions = service.console_versions

    @Operation(
        "GET",
        "/api/v1/logs",
        "The audit trail, newest first",
        perm="sys:log:list",
        query=LogQuery,
        data=Page[LogRow],
        older_paths=("/api/v1/logs/page",),
    )
    async def logs(self, request: Request, _principal: Principal) -> Response:
        query = request.query_as(LogQuery)
        since, until = span(query.createTime)
        entries, total = await self._log.page(
            query.keywords.strip(), since, until, event=query.event, offset=query.offset, limit=query.pageSize
        )
        rows = [_row(entry, request.language) for entry in entries]
        return success(Page[LogRow](rows=rows, total=total), request.language)

    @Operation(
        "GET", "/api/v1/logs/events", "The kinds of events, as choices", perm="sys:log:list", data=list[OptionData]
    )
    async def log_events(self, request: Request, _principal: Principal) -> Response:
        titles = section("events", request.language)
        return success([OptionData(tag, title) for tag, title in titles.items()], request.language)

    @Operation(
        "GET",
        "/api/v1/logs/analytics/overview",
        "Logins today and in all",
        data=OverviewData,
        older_paths=("/api/v1/logs/views",),
    )
    async def login_overview(self, request: Request, _principal: Principal) -> Response:
        today, yesterday, total = await self._log.overview()
        data = OverviewData(
            todayUvCount=today.people,
            totalUvCount=total.people,
            uvGrowthRate=_growth(today.people, yesterday.people),
            todayPvCount=today.logins,
            totalPvCount=total.logins,
            pvGrowthRate=_growth(today.logins, yesterday.logins),
        )
        return success(data, request.language)

    @Operation(
        "GET",
        "/api/v1/logs/analytics/trend",
        "Logins by day, at most a year of them",
        query=DaysQuery,
        data=TrendData,
        older_paths=("/api/v1/logs/views/trend", "/api/v1/logs/visit-trend"),
    )
    async def login_trend(self, request: Request, _principal: Principal) -> Response:
        query = request.query_as(DaysQuery)
        days = await self._log.trend(
            parse_day("startDate", query.startDate) if query.startDate else None,
            parse_day("endDate", query.endDate) if query.endDate else None,
        )
        people = [day.logins.people for day in days]
        data = TrendData(
            dates=[day.date for day in days],
            pvList=[day.logins.logins for day in days],
            uvList=people,
            ipList=people,
            failedList=[day.failures for day in days],
        )
        return success(data, request.language)

    @Operation(
        "GET",
        "/api/v1/logs/visit-stats",
        "Logins today and in all, for older consoles: a list up to 2.24, then as the overview",
        data=OverviewData | list[VisitStatistic],
    )
    async def visit_statistics(self, request: Request, principal: Principal) -> Response:
        if await self._console_versions.of_session(principal.claims.session) is not ConsoleVersion.WORDS:
            return await self.login_overview(request, principal)
        today, yesterday, total = await self._log.overview()
        say = partial(in_language, language=request.language)
        day = say(message("figures.day"))
        logins, people = _growth(today.logins, yesterday.logins), _growth(today.people, yesterday.people)
        data = [
            VisitStatistic(say(message("figures.logins")), "pv", today.logins, total.logins, logins, day),
            VisitStatistic(say(message("figures.people")), "uv", today.people, total.people, people, day),
        ]
        return success(data, request.language)


def _growth(today: int, yesterday: int) -> float:
    return round((today - yesterday) / yesterday, 4) if yesterday else 0.0


def _row(entry: LogEntry, language: str) -> LogRow:
    event = entry.event
    module, _, action = event.event.partition(".")
    failed = action in {"failed", "locked"} or event.event == Event.ESCALATION_REFUSED
    title = section("events", language).get(event.event, event.event)
    parts = [title, entry.concerned, event.reason if not failed else "", event.detail]  # older consoles show no title
    agent = event.agent or "" if entry.way is None else ""
    operator = entry.operator
    if entry.way:
        way = in_language(message(f"operators.{entry.way}"), language)
        operator = f"{way} ({entry.operator})" if entry.operator else way
    return LogRow(
        id=str(event.id),
        module=module,
        actionType=action or module,
        title=title,
        content=" ".join(part for part in parts if part),
        operatorId="" if entry.way else str(event.actor or event.user or ""),
        operatorName=operator,
        operator=operator,
        requestUri="",
        requestMethod="",
        ip=event.address or "",
        region="",
        device="",
        browser=browser_name(agent),
        os=system_name(agent),
        status=0 if failed else 1,
        executionTime=0,
        errorMsg=(event.reason or "") if failed else "",
        createTime=console_time(event.at),
        requestId=event.request or "",
    )

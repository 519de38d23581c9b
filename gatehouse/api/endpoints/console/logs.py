"""The console's log page, and the figures of its dashboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.api.contract.console.logs import (
    DaysQuery,
    LogQuery,
    LogRow,
    OverviewData,
    TrendData,
    VisitStatistic,
)
from gatehouse.api.contract.console.options import OptionData
from gatehouse.api.contract.page import Page
from gatehouse.api.endpoints.console.formats import console_time, parse_day, span
from gatehouse.api.http.response import Response, success
from gatehouse.auth.audit import Event
from gatehouse.auth.sessions.console_versions import ConsoleVersion
from gatehouse.common.user_agent import browser_name, system_name
from gatehouse.management.activity_log import TITLES

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from gatehouse.api.http.request import Request
    from gatehouse.auth.principal import Principal
    from gatehouse.composition import Service
    from gatehouse.management.activity_log import LogEntry


class LogEndpoints:
    def __init__(self, service: Service) -> None:
        self._log = service.activity_log
        self._console_versions = service.console_versions

    def endpoints(self) -> dict[str, Callable[..., Awaitable[Response]]]:
        return {
            "logs": self.logs,
            "log_events": self.events,
            "login_overview": self.overview,
            "login_trend": self.trend,
            "visit_statistics": self.statistics,
        }

    async def logs(self, request: Request, _principal: Principal) -> Response:
        query = request.query_as(LogQuery)
        since, until = span(query.createTime)
        entries, total = await self._log.page(
            query.keywords.strip(), since, until, event=query.event, offset=query.offset, limit=query.pageSize
        )
        rows = [_row(entry, request.language) for entry in entries]
        return success(Page[LogRow](rows=rows, total=total), request.language)

    async def events(self, request: Request, _principal: Principal) -> Response:
        zh = request.language == "zh"
        return success([OptionData(tag, titles[zh]) for tag, titles in TITLES.items()], request.language)

    async def overview(self, request: Request, _principal: Principal) -> Response:
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

    async def trend(self, request: Request, _principal: Principal) -> Response:
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

    async def statistics(self, request: Request, principal: Principal) -> Response:
        if await self._console_versions.of_session(principal.claims.session) is not ConsoleVersion.WORDS:
            return await self.overview(request, principal)
        today, yesterday, total = await self._log.overview()
        zh = request.language == "zh"
        rate = _growth(today.logins, yesterday.logins)
        data = [
            VisitStatistic(
                "登录次数" if zh else "Logins", "pv", today.logins, total.logins, rate, "日" if zh else "Day"
            ),
            VisitStatistic(
                "登录人数" if zh else "People",
                "uv",
                today.people,
                total.people,
                _growth(today.people, yesterday.people),
                "日" if zh else "Day",
            ),
        ]
        return success(data, request.language)


def _growth(today: int, yesterday: int) -> float:
    return round((today - yesterday) / yesterday, 4) if yesterday else 0.0


def _row(entry: LogEntry, language: str) -> LogRow:
    event = entry.event
    module, _, action = event.event.partition(".")
    titles = TITLES.get(event.event, (event.event, event.event))
    failed = action in {"failed", "locked"} or event.event == Event.ESCALATION_REFUSED
    title = titles[language == "zh"]
    parts = [title, entry.concerned, event.reason if not failed else "", event.detail]  # older consoles show no title
    agent = event.agent or "" if entry.way is None else ""
    operator = entry.operator
    if entry.way:
        way = entry.way.value[language == "zh"]
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

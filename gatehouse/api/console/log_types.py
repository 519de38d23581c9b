"""The console's log page, and the figures of its dashboard."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct, field

from gatehouse.api.console.operation import console_operation
from gatehouse.api.console.options import OptionData
from gatehouse.api.console.shared_types import Page, PageQuery
from gatehouse.api.operation import PREFIX, Operation

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


def _get(name: str, path: str, summary: str, data: Any, **more: Any) -> Operation:
    return console_operation(name, "GET", path, summary, data=data, **more)


OPERATIONS = (
    _get(
        "logs",
        "logs",
        "The audit trail, newest first",
        Page[LogRow],
        query=LogQuery,
        perm="sys:log:list",
        older_paths=(f"{PREFIX}/logs/page",),
    ),
    _get("log_events", "logs/events", "The kinds of events, as choices", list[OptionData], perm="sys:log:list"),
    _get(
        "login_overview",
        "logs/analytics/overview",
        "Logins today and in all",
        OverviewData,
        older_paths=(f"{PREFIX}/logs/views",),
    ),
    _get(
        "login_trend",
        "logs/analytics/trend",
        "Logins by day, at most a year of them",
        TrendData,
        query=DaysQuery,
        older_paths=(f"{PREFIX}/logs/views/trend", f"{PREFIX}/logs/visit-trend"),
    ),
    _get(
        "visit_statistics",
        "logs/visit-stats",
        "Logins today and in all, for older consoles: a list up to 2.24, then as the overview",
        OverviewData | list[VisitStatistic],
    ),
)

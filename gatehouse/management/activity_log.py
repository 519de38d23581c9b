"""The audit trail as people read it: what each event is called, who did it, and how often people log in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from gatehouse.management.authority import CLI_ADDRESS, IMPORT_ADDRESS
from gatehouse.stores.database.audit_trail import AuditEntry, TrailFilter
from gatehouse.stores.database.login_days import Logins, day_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.stores.database.audit_trail import AuditTrail
    from gatehouse.stores.database.login_days import LoginDays
    from gatehouse.stores.database.users import Users

TREND_DAYS = 366
PEOPLE_SEARCHED = 100

# By tag, in English and Chinese.
TITLES = {
    "login": ("Login", "登录"),
    "login.failed": ("Failed login", "登录失败"),
    "login.locked": ("Name locked after failed logins", "账号因登录失败被锁定"),
    "login.new_place": ("Login from a new place", "在新地点登录"),
    "refresh": ("Token refresh", "刷新令牌"),
    "refresh.failed": ("Failed token refresh", "刷新令牌失败"),
    "logout": ("Logout", "退出登录"),
    "session.ended": ("Session ended", "会话结束"),
    "password.changed": ("Password changed", "修改密码"),
    "password_link.made": ("Link to set a password made", "生成设置密码链接"),
    "password.rehashed": ("Password hash replaced", "密码哈希更新"),
    "user.added": ("User added", "新增用户"),
    "user.changed": ("User changed", "修改用户"),
    "user.disabled": ("User disabled", "禁用用户"),
    "user.enabled": ("User enabled", "启用用户"),
    "user.deleted": ("User deleted", "删除用户"),
    "role.added": ("Role added", "新增角色"),
    "role.changed": ("Role changed", "修改角色"),
    "role.deleted": ("Role deleted", "删除角色"),
    "department.added": ("Department added", "新增部门"),
    "department.changed": ("Department changed", "修改部门"),
    "department.deleted": ("Department deleted", "删除部门"),
    "menu.added": ("Menu added", "新增菜单"),
    "menu.changed": ("Menu changed", "修改菜单"),
    "menu.deleted": ("Menu deleted", "删除菜单"),
    "factor.added": ("Second factor added", "启用双重验证"),
    "factor.removed": ("Second factor removed", "关闭双重验证"),
    "factor.reset": ("Second factor reset by an operator", "管理员重置双重验证"),
    "enrolment.failed": ("Wrong code while setting up an authenticator app", "绑定身份验证器时动态码错误"),
    "recovery_code.used": ("Recovery code used", "使用恢复码"),
    "recovery_codes.renewed": ("New recovery codes", "更新恢复码"),
    "passkey.cloned": ("Passkey that seems to be a copy", "疑似被复制的通行密钥"),
    "password_login.set": ("Login by password switched on or off", "开启或关闭密码登录"),
    "qr.confirmed": ("Login by QR code confirmed", "确认扫码登录"),
    "qr.refused": ("Login by QR code refused", "拒绝扫码登录"),
    "ticket.refused": ("Link, QR code or enrolment ticket refused", "拒绝无效的链接、二维码或绑定凭证"),
    "limit.lifted": ("Limit lifted", "解除限制"),
    "escalation.refused": ("Escalation refused", "越权操作被拒绝"),
    "users.exported": ("Users exported", "导出用户"),
    "delivery.given_up": ("Change not delivered", "变更未能同步到会话存储"),
    "key.added": ("Signing key added", "新增签名密钥"),
    "key.retired": ("Signing key retired", "停用签名密钥"),
    "secret.rotated": ("Master secret replaced", "更换主密钥"),
    "service_key.added": ("Service key added", "新增服务密钥"),
    "service_key.revoked": ("Service key revoked", "吊销服务密钥"),
}


class Way(Enum):
    """By which way an operator acted who is no user. In English and Chinese."""

    COMMAND_LINE = ("command line", "命令行")
    IMPORT = ("import", "导入")


# What stands in place of an address.
_WAYS = {CLI_ADDRESS: Way.COMMAND_LINE, IMPORT_ADDRESS: Way.IMPORT}


class LogEntry(NamedTuple):
    event: AuditEntry
    operator: str  # who did it, as far as there is a name; of the operating system for the command line and an import
    concerned: str  # the user it was done to, if not the actor
    way: Way | None = None


class Day(NamedTuple):
    date: str
    logins: Logins
    failures: int = 0


class Overview(NamedTuple):
    today: Logins
    yesterday: Logins
    total: Logins


class ActivityLog:
    def __init__(self, trail: AuditTrail, days: LoginDays, users: Users, clock: Callable[[], float]) -> None:
        self._trail = trail
        self._days = days
        self._users = users
        self._clock = clock

    async def page(
        self, keywords: str, since: float | None, until: float | None, *, event: str = "", offset: int, limit: int
    ) -> tuple[list[LogEntry], int]:
        """From the newest on. Keywords are looked for in what events are called, in usernames and among addresses."""
        wanted = TrailFilter(since, until, event)
        if keywords:
            found = await self._users.page(limit=PEOPLE_SEARCHED, search=keywords)
            people = [profile.user.id for profile in found]
            wanted = TrailFilter(since, until, event, _events_titled(keywords), people, keywords)
        events, total = await self._trail.page(wanted, offset=offset, limit=limit)
        names = await self._users.names(
            {one for event in events for one in (event.user, event.actor) if one is not None}
        )
        return [_entry(event, names) for event in events], total

    async def overview(self) -> Overview:
        today = day_of(self._clock())
        days = await self._days.between(today - 1, today)
        none = Logins(0, 0)
        return Overview(days.get(today, none), days.get(today - 1, none), await self._days.total())

    async def trend(self, first: datetime | None, last: datetime | None) -> list[Day]:
        """Every day from `first` to `last`, at most a year; by default the last seven days."""
        end = day_of(last.timestamp()) if last else day_of(self._clock())
        start = day_of(first.timestamp()) if first else end - 6
        start = max(start, end - TREND_DAYS + 1, 1)
        days, failures = await self._days.between(start, end), await self._days.failures(start, end)
        return [Day(_date(day), days.get(day, Logins(0, 0)), failures.get(day, 0)) for day in range(start, end + 1)]


def way_of(event: AuditEntry) -> Way | None:
    """The way of an operator who typed a command. Then the agent is the operator's name in the operating system."""
    return _WAYS.get(event.address or "") if event.actor is None else None


def _date(day: int) -> str:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=day)).strftime("%Y-%m-%d")


def _events_titled(keywords: str) -> list[str]:
    folded = keywords.casefold()
    return [tag for tag, titles in TITLES.items() if any(folded in text.casefold() for text in (tag, *titles))]


def _entry(event: AuditEntry, names: dict[int, str]) -> LogEntry:
    concerned = names.get(event.user, f"#{event.user}") if event.user is not None else ""
    if way := way_of(event):
        return LogEntry(event, event.agent or "", concerned, way)
    if event.actor is None:
        return LogEntry(event, concerned or event.address or "", "")
    return LogEntry(event, names.get(event.actor, f"#{event.actor}"), concerned if event.user != event.actor else "")

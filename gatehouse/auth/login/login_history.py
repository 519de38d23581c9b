"""Recent logins of a user, and whether one comes from a new place: then it is an audit event, and shown to the user.

A login place is a network (IPv4 /24, IPv6 /48) with a kind of browser on a kind of system. The first place of a user is
recorded without such an event: there is nothing to compare it with.
"""

from __future__ import annotations

import hashlib
import ipaddress
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from gatehouse.auth.audit import Audit, ClientInfo, Event
from gatehouse.common.logs import log
from gatehouse.common.user_agent import browser
from gatehouse.stores.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from gatehouse.auth.sessions.sessions import Sessions
    from gatehouse.stores.database.audit_trail import AuditEntry, AuditTrail
    from gatehouse.stores.database.login_places import LoginPlaces
    from gatehouse.stores.state.protocol import Session

NETWORK_BITS = {4: 24, 6: 48}
RECENT_LIMIT = 50


class RecentLogin(NamedTuple):
    at: float
    address: str
    browser: str
    factor: str
    source: str
    session: str
    active: bool  # its session is live
    new_place: bool


class LoginHistory:
    def __init__(
        self,
        *,
        store: LoginPlaces,
        trail: AuditTrail,
        sessions: Sessions,
        audit: Audit,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._trail = trail
        self._sessions = sessions
        self._audit = audit
        self._clock = clock

    async def record(self, session: Session, client: ClientInfo) -> None:
        """Record the place of a login. If that fails, the login succeeds all the same."""
        try:
            new = await self._store.record(session.user, login_place(client), self._clock())
        except StoreUnavailable as problem:
            log.warning("the place of a login was not recorded", user=session.user, problem=str(problem))
            return
        if new:
            detail = {"browser": browser(client.user_agent)}
            self._audit.record(Event.LOGIN_NEW_PLACE, client, user=session.user, session=session.id, detail=detail)

    async def recent(self, user: int) -> list[RecentLogin]:
        """The newest logins, newest first; one appears when its event is stored, a moment after the login."""
        events = (Event.LOGIN.value, Event.LOGIN_NEW_PLACE.value)
        entries = await self._trail.read(newest=2 * RECENT_LIMIT, user=user, events=events)
        new = {entry.session for entry in entries if entry.event == Event.LOGIN_NEW_PLACE}
        live = {session.id for session in await self._sessions.of_user(user)}
        logins = [_login(entry, new, live) for entry in reversed(entries) if entry.event == Event.LOGIN]
        return logins[:RECENT_LIMIT]


def login_place(client: ClientInfo) -> str:
    return hashlib.sha256(
        f"{_network(client.address)}|{browser(client.user_agent)}".encode(errors="replace")
    ).hexdigest()


def _network(address: str) -> str:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    return str(ipaddress.ip_network((parsed, NETWORK_BITS[parsed.version]), strict=False))


def _login(entry: AuditEntry, new: set[str | None], live: set[str]) -> RecentLogin:
    detail = msgspec.json.decode(entry.detail) if entry.detail else {}
    return RecentLogin(
        at=entry.at,
        address=entry.address or "",
        browser=browser(entry.agent or ""),
        factor=str(detail.get("factor", "")),
        source=str(detail.get("source", "")),
        session=entry.session or "",
        active=entry.session in live,
        new_place=entry.session in new,
    )

"""How a session is shown: to its user, and to an administrator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gatehouse.api.time_format import iso_time
from gatehouse.auth.sessions.amr import source_of, unpack_methods
from gatehouse.common.user_agent import browser

if TYPE_CHECKING:
    from gatehouse.auth.principal import Principal
    from gatehouse.stores.state.protocol import Session


class SessionData(Struct):
    """One login of the caller's. Times are ISO 8601 in UTC; `amr` is how it was proven (pwd, otp, hwk, qr).

    `source` is the name of the directory or provider that it went by; empty if that was ours.
    """

    id: str
    openedAt: str
    refreshedAt: str
    endsAt: str
    address: str
    agent: str
    browser: str
    amr: list[str]
    source: str
    authTime: str
    current: bool


class EndedData(Struct):
    ended: int


def session_fields(session: Session, principal: Principal) -> dict[str, Any]:
    """The fields of `SessionData`."""
    return {
        "id": session.id,
        "openedAt": iso_time(session.opened),
        "refreshedAt": iso_time(session.rotated),
        "endsAt": iso_time(session.ends),
        "address": session.address,
        "agent": session.agent,
        "browser": browser(session.agent),
        "amr": unpack_methods(session.proof),
        "source": source_of(session.proof),
        "authTime": iso_time(session.opened),
        "current": session.id == principal.claims.session,
    }

"""How a session is shown: to its user, and to an administrator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatehouse.api.endpoints.times import iso_time
from gatehouse.auth.sessions.proof import unpack_methods
from gatehouse.common.user_agent import browser

if TYPE_CHECKING:
    from gatehouse.auth.principal import Principal
    from gatehouse.stores.state.protocol import Session


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
        "authTime": iso_time(session.opened),
        "current": session.id == principal.claims.session,
    }

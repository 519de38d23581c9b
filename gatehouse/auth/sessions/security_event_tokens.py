"""Ended sessions as security event tokens (RFC 8417), in the form of Shared Signals: CAEP 1.0.

| entry of the log | event |
|---|---|
| a session ended | `session-revoked`, about the user and the session |
| a password was changed, a user disabled or deleted | `credential-change` (`update` or `revoke`), about the user |
| entries are missing | `gap`: our own, because the standard has none for poll delivery |

Pure functions. A token has no `exp`, as RFC 8417 recommends, and its own `typ`, so it is no access token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gatehouse.auth.audit import SessionEndReason

if TYPE_CHECKING:
    from gatehouse.stores.state.protocol import EndedLogEntry

TYPE = "secevent+jwt"
_CAEP = "https://schemas.openid.net/secevent/caep/event-type"
SESSION_REVOKED = f"{_CAEP}/session-revoked"
CREDENTIAL_CHANGE = f"{_CAEP}/credential-change"

_BY_ADMIN = {SessionEndReason.OPERATOR, SessionEndReason.DISABLED, SessionEndReason.DELETED}
_BY_USER = {SessionEndReason.LOGOUT, SessionEndReason.USER, SessionEndReason.PASSWORD}


def event_claims(entry: EndedLogEntry, jti: str, issuer: str, audience: str) -> dict[str, Any]:
    user, _, own = entry.session.partition("-")
    subject: dict[str, Any] = {"format": "iss_sub", "iss": issuer, "sub": user}
    event: dict[str, Any] = {
        "event_timestamp": int(entry.at),
        "initiating_entity": initiating_entity(entry.reason),
        "reason_admin": {"en": entry.reason},
    }
    if own:
        kind = SESSION_REVOKED
        subject = {"format": "complex", "user": subject, "session": {"format": "opaque", "id": entry.session}}
    else:
        kind = CREDENTIAL_CHANGE
        change = "update" if entry.reason == SessionEndReason.PASSWORD else "revoke"
        event |= {"credential_type": "password", "change_type": change}
    return _token(jti, issuer, audience, int(entry.at), {kind: event}) | {"sub_id": subject}


def gap_claims(missing_before: float, jti: str, issuer: str, audience: str) -> dict[str, Any]:
    events = {f"{issuer}/events/gap": {"missing_before": missing_before}}
    claims = _token(jti, issuer, audience, int(missing_before), events)
    return claims | {"sub_id": {"format": "opaque", "id": audience}}


def initiating_entity(reason: str) -> str:
    """The `initiating_entity` of CAEP: a limit or a reused token counts as `policy`."""
    return "admin" if reason in _BY_ADMIN else "user" if reason in _BY_USER else "policy"


def _token(jti: str, issuer: str, audience: str, at: int, events: dict[str, Any]) -> dict[str, Any]:
    return {"iss": issuer, "aud": audience, "jti": jti, "iat": at, "events": events}

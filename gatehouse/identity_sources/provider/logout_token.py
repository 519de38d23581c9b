"""The rules of a logout token (OpenID Connect Back-Channel Logout 1.0, 2.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.identity_sources.clients import CallbackRefused, LogoutToken
from gatehouse.identity_sources.provider.signed_tokens import check_issued, name_in, time_of

if TYPE_CHECKING:
    from gatehouse.identity_sources.provider.signed_tokens import Claims, Recipient

EVENT = "http://schemas.openid.net/event/backchannel-logout"
# Used ones are remembered until they expire; a token that asks for more than this is refused.
MAX_SECONDS = 86400.0


def read_logout_claims(claims: Claims, recipient: Recipient, now: float) -> LogoutToken:
    check_issued(claims, recipient, now)
    events = claims.get("events")
    if not isinstance(events, dict) or not isinstance(events.get(EVENT), dict):
        raise CallbackRefused("the token tells of no logout")
    # So that no ID token passes for one.
    if "nonce" in claims:
        raise CallbackRefused("the logout token has a nonce")
    expires = time_of(claims, "exp")
    if expires > now + MAX_SECONDS:
        raise CallbackRefused("the logout token is valid for more than a day")
    subject, sid, jti = (name_in(claims, name) for name in ("sub", "sid", "jti"))
    if not jti or not (subject or sid):
        raise CallbackRefused("the logout token names no session and nobody, or has no id")
    return LogoutToken(recipient.issuer, subject, sid, jti, expires)

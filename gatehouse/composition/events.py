"""Builds what reports about sessions: who is online, and the feed of ended sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gatehouse.auth.sessions.ended_sessions import EndedSessionsFeed
from gatehouse.auth.sessions.presence import Presence
from gatehouse.auth.sessions.security_event_delivery import EventDelivery
from gatehouse.auth.sessions.token_life import LongestTokenLife

if TYPE_CHECKING:
    from gatehouse.composition.core import Core


class EventServices(NamedTuple):
    presence: Presence
    ended_sessions: EndedSessionsFeed
    event_delivery: EventDelivery
    longest_token_life: LongestTokenLife


def open_events(core: Core) -> EventServices:
    presence = Presence(core.state, core.clock)
    ended_sessions = EndedSessionsFeed(core.state, core.clock, presence.stopping)
    event_delivery = EventDelivery(
        feed=ended_sessions,
        state=core.state,
        ring=core.ring,
        clock=core.clock,
        issuer=core.settings.public_url,
        audience=core.settings.audience,
    )
    longest_token_life = LongestTokenLife(core.state, core.clock, core.settings.access_ttl)
    return EventServices(presence, ended_sessions, event_delivery, longest_token_life)

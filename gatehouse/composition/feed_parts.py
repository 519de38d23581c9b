"""What reports about sessions: who is online, and the feed of ended sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.auth.sessions.ended_sessions_feed import EndedSessionsFeed
from gatehouse.auth.sessions.longest_token_life import LongestTokenLife
from gatehouse.auth.sessions.presence import Presence
from gatehouse.auth.sessions.security_event_polling import EventDelivery

if TYPE_CHECKING:
    from gatehouse.composition.shared_parts import SharedParts


class FeedParts:
    def __init__(self, shared: SharedParts) -> None:
        state, clock, settings = shared.stores.state, shared.clock, shared.settings
        self.presence = Presence(state, clock, shared.stopping)
        self.ended_sessions = EndedSessionsFeed(state, clock, shared.stopping)
        self.event_delivery = EventDelivery(
            feed=self.ended_sessions,
            state=state,
            ring=shared.key_ring,
            clock=clock,
            issuer=settings.public_url,
            audience=settings.audience,
        )
        self.longest_token_life = LongestTokenLife(state, clock, settings.access_ttl)

"""The audit trail: every security-relevant event, with who, from where, when and why.

Recording never waits and never fails a request: the event goes to the log at once and to the writer. Events that
anybody can cause at no cost are counted, and recorded as one for each interval. Reasons are tags, one set for each
event, never a sentence: they are stored for years and are labels of metrics.
"""

from __future__ import annotations

import logging
from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from gatehouse.auth.audit_writer import AuditWriter
from gatehouse.auth.counted_audit_events import Aggregate, Aggregates
from gatehouse.common.logs import log
from gatehouse.common.user_agent import USER_AGENT_MAX_LENGTH
from gatehouse.stores.database.audit_trail import AuditEntry, AuditTrail

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Event(StrEnum):
    """What can happen. Tags are stored for years: they are added, never renamed."""

    LOGIN = "login"
    LOGIN_FAILED = "login.failed"
    LOGIN_NEW_PLACE = "login.new_place"
    LOGIN_LOCKED = "login.locked"
    REFRESH = "refresh"
    REFRESH_FAILED = "refresh.failed"
    LOGOUT = "logout"
    SESSION_ENDED = "session.ended"
    PASSWORD_CHANGED = "password.changed"
    PASSWORD_REHASHED = "password.rehashed"
    PASSWORD_LINK_MADE = "password_link.made"
    USER_ADDED = "user.added"
    USER_CHANGED = "user.changed"
    USER_DISABLED = "user.disabled"
    USER_ENABLED = "user.enabled"
    USER_DELETED = "user.deleted"
    ROLE_ADDED = "role.added"
    ROLE_CHANGED = "role.changed"
    ROLE_DELETED = "role.deleted"
    DEPARTMENT_ADDED = "department.added"
    DEPARTMENT_CHANGED = "department.changed"
    DEPARTMENT_DELETED = "department.deleted"
    FACTOR_ADDED = "factor.added"
    FACTOR_REMOVED = "factor.removed"
    FACTOR_RESET = "factor.reset"
    ENROLMENT_FAILED = "enrolment.failed"
    PASSKEY_CLONED = "passkey.cloned"
    PASSWORD_LOGIN_SET = "password_login.set"
    QR_CONFIRMED = "qr.confirmed"
    QR_REFUSED = "qr.refused"
    TICKET_REFUSED = "ticket.refused"
    RECOVERY_CODE_USED = "recovery_code.used"
    RECOVERY_CODES_RENEWED = "recovery_codes.renewed"
    MENU_ADDED = "menu.added"
    MENU_CHANGED = "menu.changed"
    MENU_DELETED = "menu.deleted"
    LIMIT_LIFTED = "limit.lifted"
    DELIVERY_GIVEN_UP = "delivery.given_up"
    APPLICATION_LOGGED_OUT = "application.logged_out"
    ESCALATION_REFUSED = "escalation.refused"
    USERS_EXPORTED = "users.exported"
    KEY_ADDED = "key.added"
    KEY_RETIRED = "key.retired"
    SECRET_ROTATED = "secret.rotated"
    SOURCE_ADDED = "source.added"
    SOURCE_CHANGED = "source.changed"
    SOURCE_REMOVED = "source.removed"
    IDENTITY_LINKED = "identity.linked"
    IDENTITY_UNLINKED = "identity.unlinked"
    GRANT_OPENED = "grant.opened"
    GRANT_ENDED = "grant.ended"
    CLIENT_REFUSED = "client.refused"
    CLIENT_ADDED = "client.added"
    CLIENT_CHANGED = "client.changed"
    CLIENT_REMOVED = "client.removed"
    CLIENT_SECRET_ADDED = "client.secret_added"
    SERVICE_KEY_ADDED = "service_key.added"
    SERVICE_KEY_REVOKED = "service_key.revoked"


class LoginFailure(StrEnum):
    """Why a login or a change of the password was refused."""

    CAPTCHA_WRONG = "captcha_wrong"
    CAPTCHA_GONE = "captcha_gone"
    PASSWORD = "password"
    UNKNOWN_NAME = "unknown_name"
    DISABLED = "disabled"
    PASSWORD_LOGIN_OFF = "password_login_off"
    PASSKEY = "passkey"
    SECOND_FACTOR = "second_factor"
    SECOND_FACTOR_MISSING = "second_factor_missing"
    LOCKED = "waiting"  # the tag of 0.1.0
    DIRECTORY = "directory"  # which refuses the person: locked there, or two entries for the name
    DIRECTORY_EXPIRED = "directory_expired"  # the password there
    NOT_ADMITTED = "not_admitted"  # known to a source that makes no users
    NAME_TAKEN = "name_taken"  # by another user than the person at the source
    PROVIDER = "provider"  # whose answer cannot be accepted


class RefreshOutcome(StrEnum):
    """What a refresh did."""

    ROTATED = "rotated"
    REPEATED = "repeated"


class RefreshFailure(StrEnum):
    """Why a refresh was refused."""

    NOT_OURS = "not_ours"
    NO_SESSION = "no_session"
    EXPIRED = "expired"
    REUSE = "reuse"
    DISABLED = "disabled"
    SECOND_FACTOR = "second_factor"  # it is required by now, and the session shows none


class KeyChangeReason(StrEnum):
    """Why a signing key was added or retired."""

    AGE = "age"
    ALGORITHM = "algorithm"
    OPERATOR = "operator"  # `gatehouse key rotate`
    WITHDRAWN = "withdrawn"  # `gatehouse key retire`: it may have leaked


class SessionEndReason(StrEnum):
    """Why a session ended."""

    LOGOUT = "logout"
    REUSE = "reuse"
    IDLE = "idle"
    ABSOLUTE = "absolute"
    DISABLED = "disabled"
    DELETED = "deleted"
    PASSWORD = "password"
    OPERATOR = "operator"
    LIMIT = "limit"
    USER = "user"
    SECOND_FACTOR = "second_factor"  # it is required by now, and the session shows none
    PROVIDER = "provider"  # which the session was opened with, and which has told us that it ended there


class GrantEndReason(StrEnum):
    """Why what an application was granted ended while its session lives; or by what its session ended, too."""

    REVOKED = "revoked"  # by the application
    CODE_REUSED = "code_reused"
    REUSE = "reuse"  # of a refresh token, which ends the session
    USER = "user"  # on the account page


class ClientRefusal(StrEnum):
    """Why an application was not authenticated."""

    UNKNOWN = "unknown"  # there is none of this name, or it is switched off
    METHOD = "method"  # not the kind of authentication that it is registered with
    SECRET = "secret"
    ASSERTION = "assertion"
    REPLAYED = "replayed"  # an assertion that was used before


class TicketKind(StrEnum):
    """What a refused ticket was presented for."""

    ENROLMENT = "enrolment"
    QR = "qr"
    PASSWORD_LINK = "password_link"
    COMPANY = "company"  # after a login with a provider
    CONSOLE = "console"  # to open one from our page


Reason = (
    LoginFailure
    | RefreshOutcome
    | RefreshFailure
    | KeyChangeReason
    | SessionEndReason
    | GrantEndReason
    | ClientRefusal
    | TicketKind
)

# Which reasons an event may have; one that is not named here has none. Only the tests read it: they compare it with
# what is recorded and with `docs/observing.md`.
REASONS: dict[Event, type[Reason]] = {
    Event.LOGIN_FAILED: LoginFailure,
    Event.REFRESH: RefreshOutcome,
    Event.REFRESH_FAILED: RefreshFailure,
    Event.SESSION_ENDED: SessionEndReason,
    Event.GRANT_ENDED: GrantEndReason,
    Event.CLIENT_REFUSED: ClientRefusal,
    Event.KEY_ADDED: KeyChangeReason,
    Event.KEY_RETIRED: KeyChangeReason,
    Event.TICKET_REFUSED: TicketKind,
}

# Events that anyone can cause without an account, a solved captcha or a valid token.
AGGREGATED: frozenset[tuple[Event, Reason | None]] = frozenset(
    {
        (Event.REFRESH_FAILED, RefreshFailure.NOT_OURS),
        (Event.LOGIN_FAILED, LoginFailure.CAPTCHA_WRONG),
        (Event.LOGIN_FAILED, LoginFailure.CAPTCHA_GONE),
        (Event.LOGIN_FAILED, LoginFailure.PASSKEY),
        (Event.LOGIN_FAILED, LoginFailure.PROVIDER),
        *((Event.CLIENT_REFUSED, reason) for reason in ClientRefusal),
        *((Event.TICKET_REFUSED, kind) for kind in TicketKind),
    }
)


_LOGGED = ("user", "session", "address", "request", "reason", "actor")


class ClientInfo(NamedTuple):
    """Where a request comes from; who sends it is the `Principal`.

    The address is verified (see `client_address.py`); the User-Agent is what the client claims.
    """

    address: str = ""
    user_agent: str = ""
    request_id: str = ""


class Audit:
    def __init__(self, trail: AuditTrail, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._aggregates: Aggregates[tuple[Event, Reason | None]] = Aggregates(clock, self._store_aggregate)
        self.writer = AuditWriter(trail)
        self.counts: Counter[tuple[str, str]] = Counter()  # by event and reason, for the metrics

    def record(
        self,
        event: Event,
        client: ClientInfo,
        *,
        user: int | None = None,
        session: str | None = None,
        reason: Reason | None = None,
        detail: Mapping[str, object] | None = None,
        actor: int | None = None,
    ) -> None:
        """`actor` is the user who did it, if it was done to another user or to none."""
        if (event, reason) in AGGREGATED:
            self._count(event.value, reason)
            self._aggregates.add((event, reason), client.address)
            return
        entry = self.entry(event, client, user=user, session=session, reason=reason, detail=detail, actor=actor)
        self.announce(entry)
        self.writer.add(entry)

    def entry(
        self,
        event: Event,
        client: ClientInfo,
        *,
        user: int | None = None,
        session: str | None = None,
        reason: Reason | None = None,
        detail: Mapping[str, object] | None = None,
        actor: int | None = None,
    ) -> AuditEntry:
        """An entry for the caller to store, in the transaction of what it tells of; `announce` it after the commit."""
        return AuditEntry(
            0,
            self._clock(),
            event.value,
            user,
            session,
            client.address or None,
            client.request_id or None,
            reason.value if reason else None,
            msgspec.json.encode(detail).decode() if detail else None,
            actor,
            client.user_agent[:USER_AGENT_MAX_LENGTH] or None,
        )

    def announce(self, entry: AuditEntry) -> None:
        """To the metrics and the log."""
        self._count(entry.event, entry.reason)
        self._log_entry(entry)

    def _count(self, event: str, reason: str | None) -> None:
        self.counts[event, reason or ""] += 1

    def _log_entry(self, entry: AuditEntry) -> None:
        if log.is_enabled_for(logging.INFO):
            facts = {name: getattr(entry, name) for name in _LOGGED}
            known = {name: value for name, value in facts.items() if value is not None}
            log.info(entry.event, **known | (msgspec.json.decode(entry.detail) if entry.detail else {}))

    def _store_aggregate(self, kind: tuple[Event, Reason | None], found: Aggregate) -> None:
        event, reason = kind
        entry = self.entry(event, ClientInfo(found.address), reason=reason, detail=found.detail(self._clock()))
        self._log_entry(entry)
        self.writer.add(entry)

    @property
    def queued(self) -> int:
        return len(self.writer.queue)

    @property
    def lost(self) -> int:
        return self.writer.lost

    def start(self) -> None:
        self.writer.start()

    async def stop(self) -> None:
        """Record what is being counted, and write all that is queued."""
        self._aggregates.close_all()
        await self.writer.stop()

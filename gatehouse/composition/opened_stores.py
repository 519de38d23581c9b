"""Opens the stores that the settings name: the accounts database with its repositories, and the state store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatehouse.settings import Settings, SettingsError
from gatehouse.stores.database.audit_trail import AuditTrail
from gatehouse.stores.database.consents import Consents
from gatehouse.stores.database.daily_logins import LoginDays
from gatehouse.stores.database.departments import Departments
from gatehouse.stores.database.grants import GrantStore
from gatehouse.stores.database.identity_sources import SourceStore
from gatehouse.stores.database.login_places import LoginPlaces
from gatehouse.stores.database.menus import Menus
from gatehouse.stores.database.oauth_clients import ClientStore
from gatehouse.stores.database.outbox import OutboxStore
from gatehouse.stores.database.passkeys import Passkeys
from gatehouse.stores.database.provider_sessions import ProviderSessions
from gatehouse.stores.database.roles import Roles
from gatehouse.stores.database.service_keys import ServiceKeyStore
from gatehouse.stores.database.signing_keys import Keys
from gatehouse.stores.database.sql_engine import Database
from gatehouse.stores.database.totp_and_recovery_codes import Factors
from gatehouse.stores.database.user_search import UserSearch
from gatehouse.stores.database.users import Users
from gatehouse.stores.state.sqlite.engine import SQLiteState

if TYPE_CHECKING:
    from gatehouse.stores.state.protocol import State


class Stores:
    def __init__(self, settings: Settings) -> None:
        self.database = open_database(settings)
        self.users = Users(self.database)
        self.user_search = UserSearch(self.database)
        self.roles = Roles(self.database)
        self.departments = Departments(self.database)
        self.menus = Menus(self.database)
        self.factors = Factors(self.database)
        self.passkeys = Passkeys(self.database)
        self.signing_keys = Keys(self.database)
        self.service_keys = ServiceKeyStore(self.database)
        self.sources = SourceStore(self.database)
        self.provider_sessions = ProviderSessions(self.database)
        self.oauth_clients = ClientStore(self.database)
        self.grants = GrantStore(self.database)
        self.consents = Consents(self.database)
        self.login_days = LoginDays(self.database)
        self.login_places = LoginPlaces(self.database)
        self.audit_trail = AuditTrail(self.database)
        self.outbox = OutboxStore(self.database)
        self.state = open_state(settings)


def open_database(settings: Settings, *, patience: float = 1) -> Database:
    try:
        return Database(settings.accounts_url, patience=patience)
    except ImportError:
        raise SettingsError(
            ["GATEHOUSE_DATABASE_URL: PostgreSQL needs an extra: install Gatehouse with [postgres]"]
        ) from None
    except (ValueError, TypeError) as problem:
        raise SettingsError([f"GATEHOUSE_DATABASE_URL: {problem}"]) from None


def open_state(settings: Settings) -> State:
    if settings.embedded_state:
        return SQLiteState(settings.state_path, cache=settings.session_cache)
    try:
        return _open_state_server(settings)
    except ImportError:
        engine, extra = ("PostgreSQL", "postgres") if settings.postgres_state else ("Redis", "redis")
        raise SettingsError(
            [f"GATEHOUSE_STATE_URL: {engine} needs an extra: install Gatehouse with [{extra}]"]
        ) from None
    except (ValueError, OSError) as problem:
        raise SettingsError([f"GATEHOUSE_STATE_URL: {problem}"]) from None


def _open_state_server(settings: Settings) -> State:
    """The engines of both are extras: not everybody has them."""
    if settings.postgres_state:
        from gatehouse.stores.state.postgres.engine import PostgresState  # noqa: PLC0415

        return PostgresState(settings.state_url)
    from gatehouse.stores.state.redis.engine import RedisState  # noqa: PLC0415

    return RedisState(settings.state_url)

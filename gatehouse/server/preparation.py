"""Preparation of the start: data folder, secret, tables, signing key, the first administrator, defined sources."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from gatehouse.auth.identity.sources import SourceSecrets
from gatehouse.auth.keys.key_ring import KeyRing
from gatehouse.auth.passwords.password_policy import password_problem
from gatehouse.auth.perms import is_administrator_role
from gatehouse.common.logs import log
from gatehouse.composition import open_database
from gatehouse.composition.defined_sources import defined_sources
from gatehouse.management.account_upgrade import add_current_perm_names
from gatehouse.management.bootstrap import ADMIN_USERNAME, bootstrap
from gatehouse.management.default_menus import create_default_menus
from gatehouse.management.environment_sources import EnvironmentSources
from gatehouse.management.identity_sources import ENVIRONMENT
from gatehouse.settings import SettingsError
from gatehouse.settings.master_secret import make_secret, read_secrets
from gatehouse.stores.database import migrate
from gatehouse.stores.database.account_transactions import AccountTransactions
from gatehouse.stores.database.audit_trail import AuditTrail
from gatehouse.stores.database.departments import Departments
from gatehouse.stores.database.identity_sources import SourceStore
from gatehouse.stores.database.menus import Menus
from gatehouse.stores.database.roles import Roles
from gatehouse.stores.database.signing_keys import Keys
from gatehouse.stores.database.sql_engine import PATIENCE
from gatehouse.stores.database.users import Users
from gatehouse.stores.state.sqlite.state_file import create as create_state

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gatehouse.identity_sources.environment import DefinedSource
    from gatehouse.settings import Settings
    from gatehouse.stores.database.sql_engine import Database


async def prepare(settings: Settings) -> str | None:
    """Create what is missing.

    Safe to run in several processes at once. Returns the administrator's password if one was generated.
    """
    for name, meant in settings.unknown_variables.items():
        log.warning("a variable is ignored: there is no such setting", variable=name, did_you_mean=meant or None)
    if settings.embedded_accounts or settings.embedded_state or not (settings.secret or settings.secret_file):
        settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    make_secret(settings)
    secrets = read_secrets(settings)
    _check_admin_password(settings)
    defined = defined_sources(settings)
    if settings.embedded_state:
        create_state(settings.state_path)
    database = open_database(settings, patience=PATIENCE)
    try:
        if settings.embedded_accounts:
            await migrate.migrate(database)
        else:
            await migrate.check(database)
        ring = KeyRing(Keys(database), secrets, time.time, settings.access_ttl)
        async with migrate.exclusive(database):
            password = await _bootstrap(database, settings, secrets[0], time.time())
            await _write_sources(database, ring, defined)
        # A wrong secret ends the start here.
        await ring.load()
        return password
    finally:
        await database.close()


async def _bootstrap(database: Database, settings: Settings, secret: bytes, now: float) -> str | None:
    users, roles = Users(database), Roles(database)
    if settings.admin_password and await users.count() > 0:
        log.warning("GATEHOUSE_ADMIN_PASSWORD is ignored: there are users; see `gatehouse user password`")
    password = await bootstrap(
        users=users,
        roles=roles,
        departments=Departments(database),
        keys=Keys(database),
        secret=secret,
        algorithm=settings.signing_algorithm,
        password=settings.admin_password,
        now=now,
    )
    await add_current_perm_names(roles, AuditTrail(database), now)
    await create_default_menus(Menus(database), now)
    if unknown := set(settings.second_factor_roles) - {role.code for role in await roles.all()}:
        log.warning("GATEHOUSE_SECOND_FACTOR_ROLES names roles that do not exist", roles=sorted(unknown))
    return password


async def _write_sources(database: Database, ring: KeyRing, defined: Sequence[DefinedSource]) -> None:
    store = SourceStore(database)
    stored = await store.all()
    if not defined and all(row.origin != ENVIRONMENT for row in stored):
        return
    transactions = AccountTransactions(database, is_administrator_role)
    sources = EnvironmentSources(transactions, SourceSecrets(ring, store), time.time())
    if problems := await sources.apply(defined, stored):
        raise SettingsError(problems)


def _check_admin_password(settings: Settings) -> None:
    """A weak password is accepted on loopback only, for trials."""
    problem = password_problem(settings.admin_password, ADMIN_USERNAME) if settings.admin_password else None
    if problem and not settings.listens_on_loopback:
        raise SettingsError([f"GATEHOUSE_ADMIN_PASSWORD: {problem.value}"])
    if problem:
        log.warning("the administrator's password is weak", problem=problem.value)

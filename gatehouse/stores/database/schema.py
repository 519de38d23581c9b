"""The tables, as the newest migration leaves them. A test compares the two.

A new column needs a migration in `migrations/versions/`; one of users also a place in `COLUMNS` of `users.py`.
"""

from __future__ import annotations

import time

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    true,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite numbers rows by itself only for a column of type INTEGER.
Id = BigInteger().with_variant(Integer, "sqlite")

departments = Table(
    "departments",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", String(64), nullable=False),
    Column("parent", ForeignKey("departments.id")),
    Column("code", String(64), nullable=False, server_default=""),
    Column("sort", Integer, nullable=False, server_default="0"),
    Column("enabled", Boolean, nullable=False, server_default=true()),
    Column("created", Float(53), nullable=False, server_default="0"),
)

users = Table(
    "users",
    metadata,
    Column("id", Id, primary_key=True),
    Column("username", String(64), nullable=False),
    # The name as it is looked up: without regard to case, so that nobody can pose as `Admin` beside `admin`.
    Column("name_key", String(256), nullable=False, unique=True),
    Column("nickname", String(64), nullable=False),
    Column("avatar", String(1024), nullable=False),
    Column("department", ForeignKey("departments.id"), nullable=False, index=True),
    Column("password", String(255), nullable=False, key="password_hash"),  # the name of the column is that of 0.1.0
    Column("enabled", Boolean, nullable=False),
    Column("captcha_exempt", Boolean, nullable=False),
    Column("created", Float(53), nullable=False),
    Column("gender", Integer, nullable=False, server_default="0"),  # 1 male, 2 female, 0 unknown
    Column("mobile", String(32), nullable=False, server_default=""),
    Column("email", String(254), nullable=False, server_default=""),
    # Off: only a passkey logs this user in.
    Column("password_login", Boolean, nullable=False, server_default=true()),
    # What only applications read: JSON with claims of OpenID that have no column here, and when the user last changed.
    Column("claims", Text),
    Column("changed", Float(53), onupdate=time.time),
    # What the console's search reads, instead of whole rows with their hashes.
    Index("ix_users_search", "name_key", "nickname", "mobile", "enabled", "department", "created"),
    Index("ix_users_created", "created"),
    # A number, once used for a user, is never given to another: tokens and audit events refer to it.
    sqlite_autoincrement=True,
)

roles = Table(
    "roles",
    metadata,
    Column("id", Id, primary_key=True),
    Column("code", String(64), nullable=False, unique=True),
    Column("name", String(64), nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("sort", Integer, nullable=False, server_default="0"),
    # Which rows a business backend shows: 1 all, 2 department and below, 3 department, 4 own, 5 chosen departments.
    Column("data_scope", Integer, nullable=False, server_default="4"),
    Column("created", Float(53), nullable=False, server_default="0"),
)

# The chosen departments of a role whose data scope is 5.
role_departments = Table(
    "role_departments",
    metadata,
    Column("role", ForeignKey("roles.id", ondelete="CASCADE"), primary_key=True),
    Column("department", ForeignKey("departments.id", ondelete="CASCADE"), primary_key=True, index=True),
)

# The tree of the console's navigation. A button carries a perm; role_perms decides who may use it.
menus = Table(
    "menus",
    metadata,
    Column("id", Id, primary_key=True),
    Column("parent", ForeignKey("menus.id"), index=True),
    Column("name", String(64), nullable=False),
    Column("type", String(1), nullable=False),  # C folder, M page, E external link, B button
    Column("route_name", String(255), nullable=False, server_default=""),
    Column("route_path", String(255), nullable=False, server_default=""),
    Column("component", String(255), nullable=False, server_default=""),
    Column("perm", String(128), nullable=False, server_default=""),
    Column("icon", String(64), nullable=False, server_default=""),
    Column("redirect", String(255), nullable=False, server_default=""),
    Column("params", Text, nullable=False, server_default=""),  # JSON: an object, or empty
    Column("sort", Integer, nullable=False, server_default="0"),
    Column("visible", Boolean, nullable=False, server_default=true()),
    Column("keep_alive", Boolean, nullable=False, server_default=false()),
    Column("always_show", Boolean, nullable=False, server_default=false()),
    Column("created", Float(53), nullable=False, server_default="0"),
    Column("external_url", String(1024), nullable=False, server_default=""),  # of a link
)

# Folders, pages and links that a role shows. Buttons are not here: a role has a button if it has its perm.
role_menus = Table(
    "role_menus",
    metadata,
    Column("role", ForeignKey("roles.id", ondelete="CASCADE"), primary_key=True),
    Column("menu", ForeignKey("menus.id", ondelete="CASCADE"), primary_key=True, index=True),
)

role_perms = Table(
    "role_perms",
    metadata,
    Column("role", ForeignKey("roles.id", ondelete="CASCADE"), primary_key=True),
    Column("perm", String(128), primary_key=True),
)

user_roles = Table(
    "user_roles",
    metadata,
    Column("user", ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("role", ForeignKey("roles.id", ondelete="CASCADE"), primary_key=True, index=True),
    # The source of identity that decides about it; empty: given by hand.
    Column("source", BigInteger),
)

signing_keys = Table(
    "signing_keys",
    metadata,
    Column("kid", String(64), primary_key=True),
    Column("algorithm", String(16), nullable=False, server_default="EdDSA"),
    Column("public", LargeBinary, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("created", Float(53), nullable=False),
    # From when on the key signs nothing more; what it signed before is still accepted.
    Column("retired", Float(53)),
    # Empty: it signs access tokens; "openid": ID tokens of applications that want its algorithm.
    Column("purpose", String(16), nullable=False, server_default=""),
)

service_keys = Table(
    "service_keys",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", String(64), nullable=False, unique=True),
    Column("digest", LargeBinary, nullable=False, unique=True),
    Column("created", Float(53), nullable=False),
)

audit_events = Table(
    "audit_events",
    metadata,
    Column("id", Id, primary_key=True),
    Column("at", Float(53), nullable=False, index=True),
    Column("event", String(40), nullable=False),
    Column("user", BigInteger),
    Column("session", String(64)),
    Column("address", String(64)),
    Column("request", String(64)),
    Column("reason", String(64)),
    Column("detail", Text),
    # The user who did it, if it was done to another user or to none.
    Column("actor", BigInteger),
    Column("agent", String(200)),
    Index("ix_audit_events_user_id", "user", "id"),
    sqlite_autoincrement=True,
)

# Logins by day and user, counted in the transaction that stores their audit events: what the console's charts read.
login_days = Table(
    "login_days",
    metadata,
    Column("day", Integer, primary_key=True),  # days since 1970-01-01, UTC; 0: all days together
    Column("user", BigInteger, primary_key=True),
    Column("logins", Integer, nullable=False),
)

# Failed logins by day, counted like the logins.
login_failures = Table(
    "login_failures",
    metadata,
    Column("day", Integer, primary_key=True),
    Column("failures", Integer, nullable=False),
)

# Where a user has logged in before; a login from anywhere else is shown to the user.
login_places = Table(
    "login_places",
    metadata,
    Column("user", ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("place", String(64), primary_key=True),  # a digest of network and browser
    Column("first", Float(53), nullable=False),
    Column("last", Float(53), nullable=False),
)

totp_secrets = Table(
    "totp_secrets",
    metadata,
    Column("user", ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("sealed", LargeBinary, nullable=False),
    Column("created", Float(53), nullable=False),
    # When a code was first shown to work. Until then the factor is off.
    Column("confirmed", Float(53)),
)

recovery_codes = Table(
    "recovery_codes",
    metadata,
    Column("user", ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("digest", LargeBinary(64), primary_key=True),
    Column("used", Float(53)),
)

passkeys = Table(
    "passkeys",
    metadata,
    Column("id", Id, primary_key=True),
    Column("user", ForeignKey("users.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("handle", LargeBinary(64), nullable=False, index=True),  # what authenticators know the user by
    Column("credential", LargeBinary(1023), nullable=False, unique=True),
    Column("public", LargeBinary, nullable=False),
    Column("sign_count", BigInteger, nullable=False),
    Column("transports", String(128), nullable=False, server_default=""),
    Column("backed_up", Boolean, nullable=False, server_default=false()),
    Column("name", String(64), nullable=False),
    Column("created", Float(53), nullable=False),
    Column("last_used", Float(53)),
)

# Directories and providers that people log in with.
identity_sources = Table(
    "identity_sources",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", String(32), nullable=False, unique=True),
    Column("kind", String(16), nullable=False),
    Column("title", String(64), nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("sort", Integer, nullable=False),
    Column("origin", String(16), nullable=False),  # "operator", or "environment": then only that changes it
    Column("config", Text, nullable=False),  # JSON, see `identity_sources/definitions.py`
    Column("sealed", LargeBinary),  # the password or secret that we show it
    Column("created", Float(53), nullable=False),
    Column("changed", Float(53), nullable=False),
    # Identities and audit events refer to the number.
    sqlite_autoincrement=True,
)

# Who a user is at a source: by what never changes there, not by a name or an address.
external_identities = Table(
    "external_identities",
    metadata,
    Column("id", Id, primary_key=True),
    Column("user", ForeignKey("users.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("source", ForeignKey("identity_sources.id", ondelete="CASCADE"), nullable=False),
    Column("issuer", String(255), nullable=False),  # empty for a directory
    Column("subject", String(255), nullable=False),
    Column("name", String(255), nullable=False),  # what the person is called there, for people
    Column("linked", Float(53), nullable=False),
    Column("seen", Float(53)),  # when the source last confirmed the person
    # When the source said that the person is gone or disabled, and the user was disabled for that. Empty: it did not.
    Column("gone", Float(53)),
    UniqueConstraint("source", "issuer", "subject"),
)

# Which sessions a provider can end, and what its own logout wants to be shown.
provider_sessions = Table(
    "provider_sessions",
    metadata,
    Column("session", String(64), primary_key=True),
    Column("source", ForeignKey("identity_sources.id", ondelete="CASCADE"), nullable=False),
    Column("issuer", String(255), nullable=False),
    Column("subject", String(255), nullable=False),
    Column("sid", String(255), nullable=False),
    Column("sealed", LargeBinary, nullable=False),  # the ID token
    Column("created", Float(53), nullable=False, index=True),
    Index("ix_provider_sessions_source_subject", "source", "subject"),
    Index("ix_provider_sessions_source_sid", "source", "sid"),
)

# Applications that people log in to with their account here.
oauth_clients = Table(
    "oauth_clients",
    metadata,
    Column("id", Id, primary_key=True),
    Column("client_id", String(64), nullable=False, unique=True),
    Column("name", String(64), nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("config", Text, nullable=False),  # JSON, see `auth/oauth/definitions.py`
    Column("created", Float(53), nullable=False),
    Column("changed", Float(53), nullable=False),
    # Grants and audit events refer to the number.
    sqlite_autoincrement=True,
)

# Two are valid while one replaces the other.
oauth_client_secrets = Table(
    "oauth_client_secrets",
    metadata,
    Column("id", Id, primary_key=True),
    Column("client", ForeignKey("oauth_clients.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("digest", LargeBinary, nullable=False),
    Column("hint", String(8), nullable=False),  # its last characters, for people
    Column("created", Float(53), nullable=False),
    Column("expires", Float(53)),
)

# What hangs on a browser session and dies with it: the tokens of an application, or a console that it has opened.
grants = Table(
    "grants",
    metadata,
    Column("id", String(64), primary_key=True),  # also of a row in state, see `auth/oauth/grants.py`
    Column("session", String(64), nullable=False, index=True),
    Column("user", Id, nullable=False, index=True),  # may be deleted: the application is told of it afterwards
    Column("client", ForeignKey("oauth_clients.id", ondelete="CASCADE"), index=True),  # empty: a console
    Column("scopes", String(255), nullable=False),
    Column("claims", String(255), nullable=False, server_default=""),  # asked for by name, beside those of the scopes
    Column("created", Float(53), nullable=False, index=True),
)

# What a user has allowed an application that is not the company's own.
consents = Table(
    "consents",
    metadata,
    Column("user", ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("client", ForeignKey("oauth_clients.id", ondelete="CASCADE"), primary_key=True, index=True),
    Column("scopes", String(255), nullable=False),
    Column("given", Float(53), nullable=False),
)

# What must still happen after a commit, written in the transaction that causes it. A row goes when it has happened.
outbox = Table(
    "outbox",
    metadata,
    Column("id", Id, primary_key=True),
    Column("kind", String(40), nullable=False),
    Column("payload", Text, nullable=False),
    Column("created", Float(53), nullable=False),
    # When it may be tried next. Empty: it was given up.
    Column("due", Float(53), index=True),
    Column("attempts", Integer, nullable=False, server_default="0"),
    # Who it is for, if somebody else: what one of them does not take holds up nobody else's.
    Column("recipient", String(64), index=True),
    Column("problem", String(255)),  # of the last attempt
    sqlite_autoincrement=True,
)

# The nodes that serve from this database, so that one which disagrees with the others can say so at its start.
nodes = Table(
    "nodes",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("issuer", String(255), nullable=False),
    Column("state", String(64), nullable=False),  # the identity of the state store
    Column("secret", String(64), nullable=False),  # a fingerprint of the master secret
    Column("started", Float(53), nullable=False),
    Column("seen", Float(53), nullable=False),
)

"""The tables, as the newest migration leaves them. A test compares the two."""

from __future__ import annotations

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
    Column("password", String(255), nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("captcha_exempt", Boolean, nullable=False),
    Column("created", Float(53), nullable=False),
    # A number, once used for a user, is never given to another: tokens and audit events name it for good.
    sqlite_autoincrement=True,
)

roles = Table(
    "roles",
    metadata,
    Column("id", Id, primary_key=True),
    Column("code", String(64), nullable=False, unique=True),
    Column("name", String(64), nullable=False),
    Column("enabled", Boolean, nullable=False),
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
)

signing_keys = Table(
    "signing_keys",
    metadata,
    Column("kid", String(64), primary_key=True),
    Column("public", LargeBinary, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("created", Float(53), nullable=False),
    # From when on the key signs nothing more; what it signed before is still honoured.
    Column("retired", Float(53)),
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
    Index("ix_audit_events_user_id", "user", "id"),
    sqlite_autoincrement=True,
)

"""What release 0.2 adds: menus, data scopes, second factors, login statistics, key algorithms, nodes.

`management/account_upgrade.py` adds the newer names of perms afterwards.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    add_columns()
    create_console_tables()
    create_login_tables()
    create_factor_tables()
    create_nodes()
    fill_in()


def add_columns() -> None:
    for table, column in (
        ("departments", sa.Column("code", sa.String(64), nullable=False, server_default="")),
        ("departments", sa.Column("sort", sa.Integer, nullable=False, server_default="0")),
        ("departments", sa.Column("enabled", sa.Boolean, nullable=False, server_default=sa.true())),
        ("departments", sa.Column("created", sa.Float(53), nullable=False, server_default="0")),
        ("users", sa.Column("gender", sa.Integer, nullable=False, server_default="0")),
        ("users", sa.Column("mobile", sa.String(32), nullable=False, server_default="")),
        ("users", sa.Column("email", sa.String(254), nullable=False, server_default="")),
        ("users", sa.Column("password_login", sa.Boolean, nullable=False, server_default=sa.true())),
        ("roles", sa.Column("sort", sa.Integer, nullable=False, server_default="0")),
        ("roles", sa.Column("data_scope", sa.Integer, nullable=False, server_default="4")),  # own rows
        ("roles", sa.Column("created", sa.Float(53), nullable=False, server_default="0")),
        ("signing_keys", sa.Column("algorithm", sa.String(16), nullable=False, server_default="EdDSA")),
        ("audit_events", sa.Column("actor", sa.BigInteger)),
        ("audit_events", sa.Column("agent", sa.String(200))),
    ):
        op.add_column(table, column)
    op.create_index("ix_users_search", "users", ["name_key", "nickname", "mobile", "enabled", "department", "created"])
    op.create_index("ix_users_created", "users", ["created"])


def create_console_tables() -> None:
    op.create_table(
        "role_departments",
        sa.Column("role", Id, nullable=False),
        sa.Column("department", Id, nullable=False),
        sa.ForeignKeyConstraint(["role"], ["roles.id"], name="fk_role_departments_role_roles", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["department"], ["departments.id"], name="fk_role_departments_department_departments", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("role", "department", name="pk_role_departments"),
    )
    op.create_index("ix_role_departments_department", "role_departments", ["department"])
    op.create_table(
        "menus",
        sa.Column("id", Id, nullable=False),
        sa.Column("parent", Id),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("type", sa.String(1), nullable=False),
        sa.Column("route_name", sa.String(255), nullable=False, server_default=""),
        sa.Column("route_path", sa.String(255), nullable=False, server_default=""),
        sa.Column("component", sa.String(255), nullable=False, server_default=""),
        sa.Column("perm", sa.String(128), nullable=False, server_default=""),
        sa.Column("icon", sa.String(64), nullable=False, server_default=""),
        sa.Column("redirect", sa.String(255), nullable=False, server_default=""),
        sa.Column("params", sa.Text, nullable=False, server_default=""),
        sa.Column("sort", sa.Integer, nullable=False, server_default="0"),
        sa.Column("visible", sa.Boolean, nullable=False, server_default=sa.true()),
        sa.Column("keep_alive", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("always_show", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("created", sa.Float(53), nullable=False, server_default="0"),
        sa.Column("external_url", sa.String(1024), nullable=False, server_default=""),
        sa.ForeignKeyConstraint(["parent"], ["menus.id"], name="fk_menus_parent_menus"),
        sa.PrimaryKeyConstraint("id", name="pk_menus"),
    )
    op.create_index("ix_menus_parent", "menus", ["parent"])
    op.create_table(
        "role_menus",
        sa.Column("role", Id, nullable=False),
        sa.Column("menu", Id, nullable=False),
        sa.ForeignKeyConstraint(["role"], ["roles.id"], name="fk_role_menus_role_roles", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["menu"], ["menus.id"], name="fk_role_menus_menu_menus", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("role", "menu", name="pk_role_menus"),
    )
    op.create_index("ix_role_menus_menu", "role_menus", ["menu"])


def create_login_tables() -> None:
    op.create_table(
        "login_days",
        sa.Column("day", sa.Integer, nullable=False),
        sa.Column("user", sa.BigInteger, nullable=False),
        sa.Column("logins", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("day", "user", name="pk_login_days"),
    )
    op.create_table(
        "login_failures",
        sa.Column("day", sa.Integer, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("day", name="pk_login_failures"),
    )
    op.create_table(
        "login_places",
        sa.Column("user", Id, nullable=False),
        sa.Column("place", sa.String(64), nullable=False),
        sa.Column("first", sa.Float(53), nullable=False),
        sa.Column("last", sa.Float(53), nullable=False),
        sa.ForeignKeyConstraint(["user"], ["users.id"], name="fk_login_places_user_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user", "place", name="pk_login_places"),
    )


def create_factor_tables() -> None:
    op.create_table(
        "totp_secrets",
        sa.Column("user", Id, nullable=False),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
        sa.Column("created", sa.Float(53), nullable=False),
        sa.Column("confirmed", sa.Float(53)),
        sa.ForeignKeyConstraint(["user"], ["users.id"], name="fk_totp_secrets_user_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user", name="pk_totp_secrets"),
    )
    op.create_table(
        "recovery_codes",
        sa.Column("user", Id, nullable=False),
        sa.Column("digest", sa.LargeBinary(64), nullable=False),
        sa.Column("used", sa.Float(53)),
        sa.ForeignKeyConstraint(["user"], ["users.id"], name="fk_recovery_codes_user_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user", "digest", name="pk_recovery_codes"),
    )
    op.create_table(
        "passkeys",
        sa.Column("id", Id, nullable=False),
        sa.Column("user", Id, nullable=False),
        sa.Column("handle", sa.LargeBinary(64), nullable=False),
        sa.Column("credential", sa.LargeBinary(1023), nullable=False),
        sa.Column("public", sa.LargeBinary, nullable=False),
        sa.Column("sign_count", sa.BigInteger, nullable=False),
        sa.Column("transports", sa.String(128), nullable=False, server_default=""),
        sa.Column("backed_up", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("created", sa.Float(53), nullable=False),
        sa.Column("last_used", sa.Float(53)),
        sa.ForeignKeyConstraint(["user"], ["users.id"], name="fk_passkeys_user_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_passkeys"),
        sa.UniqueConstraint("credential", name="uq_passkeys_credential"),
    )
    op.create_index("ix_passkeys_user", "passkeys", ["user"])
    op.create_index("ix_passkeys_handle", "passkeys", ["handle"])


def create_nodes() -> None:
    op.create_table(
        "nodes",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("issuer", sa.String(255), nullable=False),
        sa.Column("state", sa.String(64), nullable=False),  # the identity of its state store
        sa.Column("secret", sa.String(64), nullable=False),  # a fingerprint of its master secret
        sa.Column("started", sa.Float(53), nullable=False),
        sa.Column("seen", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_nodes"),
    )


def fill_in() -> None:
    """What follows from the rows of 0.1: administrators see all rows, and past logins are counted."""
    op.execute("UPDATE roles SET data_scope = 1 WHERE code IN ('ADMIN', 'ROOT')")
    for day in ("CAST(at AS BIGINT) / 86400", "0"):  # each day, and the sums under day 0
        op.execute(
            f'INSERT INTO login_days (day, "user", logins) SELECT {day}, "user", count(*) FROM audit_events'  # noqa: S608
            " WHERE event = 'login' AND \"user\" IS NOT NULL GROUP BY 1, 2"
        )

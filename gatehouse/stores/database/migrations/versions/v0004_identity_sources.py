"""Where accounts come from: sources, who a user is there, the roles they decide, sessions of providers."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("user_roles", sa.Column("source", sa.BigInteger))
    op.create_table(
        "identity_sources",
        sa.Column("id", Id, nullable=False),
        sa.Column("name", sa.String(32), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("title", sa.String(64), nullable=False),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("sort", sa.Integer, nullable=False),
        sa.Column("origin", sa.String(16), nullable=False),
        sa.Column("config", sa.Text, nullable=False),
        sa.Column("sealed", sa.LargeBinary),
        sa.Column("created", sa.Float(53), nullable=False),
        sa.Column("changed", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_identity_sources"),
        sa.UniqueConstraint("name", name="uq_identity_sources_name"),
        sqlite_autoincrement=True,
    )
    create_external_identities()
    create_provider_sessions()
    give_perms()


def create_external_identities() -> None:
    table = "external_identities"
    op.create_table(
        table,
        sa.Column("id", Id, nullable=False),
        sa.Column("user", Id, nullable=False),
        sa.Column("source", Id, nullable=False),
        sa.Column("issuer", sa.String(255), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("linked", sa.Float(53), nullable=False),
        sa.Column("seen", sa.Float(53)),
        sa.Column("gone", sa.Float(53)),
        sa.ForeignKeyConstraint(["user"], ["users.id"], name=f"fk_{table}_user_users", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["source"], ["identity_sources.id"], name=f"fk_{table}_source_identity_sources", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
        sa.UniqueConstraint("source", "issuer", "subject", name=f"uq_{table}_source_issuer_subject"),
    )
    op.create_index(f"ix_{table}_user", table, ["user"])


def create_provider_sessions() -> None:
    table = "provider_sessions"
    op.create_table(
        table,
        sa.Column("session", sa.String(64), nullable=False),
        sa.Column("source", Id, nullable=False),
        sa.Column("issuer", sa.String(255), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("sid", sa.String(255), nullable=False),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
        sa.Column("created", sa.Float(53), nullable=False),
        sa.ForeignKeyConstraint(
            ["source"], ["identity_sources.id"], name=f"fk_{table}_source_identity_sources", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("session", name=f"pk_{table}"),
    )
    op.create_index(f"ix_{table}_created", table, ["created"])
    op.create_index(f"ix_{table}_source_subject", table, ["source", "subject"])
    op.create_index(f"ix_{table}_source_sid", table, ["source", "sid"])


def give_perms() -> None:
    """To the role ADMIN, once, so that an operator can take them away; where it does not manage roles, it gets none."""
    for action in ("list", "create", "update", "delete"):
        perm = f"sys:source:{action}"
        op.execute(
            f"INSERT INTO role_perms (role, perm) SELECT roles.id, '{perm}' FROM roles"  # noqa: S608
            " JOIN role_perms AS held ON held.role = roles.id AND held.perm = 'sys:role:assign'"
            " WHERE roles.code = 'ADMIN' AND NOT EXISTS"
            f" (SELECT 1 FROM role_perms AS has WHERE has.role = roles.id AND has.perm = '{perm}')"
        )

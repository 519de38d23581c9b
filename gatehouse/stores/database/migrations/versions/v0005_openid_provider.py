"""The OpenID provider: applications and their secrets, what they were granted, consents, keys for ID tokens."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("signing_keys", sa.Column("purpose", sa.String(16), nullable=False, server_default=""))
    op.add_column("users", sa.Column("claims", sa.Text))
    op.add_column("users", sa.Column("changed", sa.Float(53)))
    op.create_table(
        "oauth_clients",
        sa.Column("id", Id, nullable=False),
        sa.Column("client_id", sa.String(64), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("config", sa.Text, nullable=False),
        sa.Column("created", sa.Float(53), nullable=False),
        sa.Column("changed", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_oauth_clients"),
        sa.UniqueConstraint("client_id", name="uq_oauth_clients_client_id"),
        sqlite_autoincrement=True,
    )
    op.add_column("outbox", sa.Column("recipient", sa.String(64)))
    op.add_column("outbox", sa.Column("problem", sa.String(255)))
    op.create_index("ix_outbox_recipient", "outbox", ["recipient"])
    create_secrets()
    create_grants()
    create_consents()
    give_perms()


def create_secrets() -> None:
    table = "oauth_client_secrets"
    op.create_table(
        table,
        sa.Column("id", Id, nullable=False),
        sa.Column("client", Id, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("hint", sa.String(8), nullable=False),
        sa.Column("created", sa.Float(53), nullable=False),
        sa.Column("expires", sa.Float(53)),
        sa.ForeignKeyConstraint(
            ["client"], ["oauth_clients.id"], name=f"fk_{table}_client_oauth_clients", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
    )
    op.create_index(f"ix_{table}_client", table, ["client"])


def create_grants() -> None:
    table = "grants"
    op.create_table(
        table,
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("session", sa.String(64), nullable=False),
        sa.Column("user", Id, nullable=False),
        sa.Column("client", Id),
        sa.Column("scopes", sa.String(255), nullable=False),
        sa.Column("claims", sa.String(255), nullable=False, server_default=""),
        sa.Column("created", sa.Float(53), nullable=False),
        sa.ForeignKeyConstraint(
            ["client"], ["oauth_clients.id"], name=f"fk_{table}_client_oauth_clients", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=f"pk_{table}"),
    )
    for column in ("session", "user", "client", "created"):
        op.create_index(f"ix_{table}_{column}", table, [column])


def create_consents() -> None:
    table = "consents"
    op.create_table(
        table,
        sa.Column("user", Id, nullable=False),
        sa.Column("client", Id, nullable=False),
        sa.Column("scopes", sa.String(255), nullable=False),
        sa.Column("given", sa.Float(53), nullable=False),
        sa.ForeignKeyConstraint(["user"], ["users.id"], name=f"fk_{table}_user_users", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["client"], ["oauth_clients.id"], name=f"fk_{table}_client_oauth_clients", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user", "client", name=f"pk_{table}"),
    )
    op.create_index(f"ix_{table}_client", table, ["client"])


def give_perms() -> None:
    """To the role ADMIN, once, so that an operator can take them away; where it does not manage roles, it gets none."""
    for action in ("list", "create", "update", "delete"):
        perm = f"sys:app:{action}"
        op.execute(
            f"INSERT INTO role_perms (role, perm) SELECT roles.id, '{perm}' FROM roles"  # noqa: S608
            " JOIN role_perms AS held ON held.role = roles.id AND held.perm = 'sys:role:assign'"
            " WHERE roles.code = 'ADMIN' AND NOT EXISTS"
            f" (SELECT 1 FROM role_perms AS has WHERE has.role = roles.id AND has.perm = '{perm}')"
        )

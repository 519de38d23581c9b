"""The first schema: users, roles, perms, departments, keys, audit trail."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "departments",
        sa.Column("id", Id, nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("parent", Id),
        sa.ForeignKeyConstraint(["parent"], ["departments.id"], name="fk_departments_parent_departments"),
        sa.PrimaryKeyConstraint("id", name="pk_departments"),
    )
    op.create_table(
        "users",
        sa.Column("id", Id, nullable=False),
        sa.Column("username", sa.String(64), nullable=False),
        sa.Column("name_key", sa.String(256), nullable=False),
        sa.Column("nickname", sa.String(64), nullable=False),
        sa.Column("avatar", sa.String(1024), nullable=False),
        sa.Column("department", Id, nullable=False),
        sa.Column("password", sa.String(255), nullable=False),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("captcha_exempt", sa.Boolean, nullable=False),
        sa.Column("created", sa.Float(53), nullable=False),
        sa.ForeignKeyConstraint(["department"], ["departments.id"], name="fk_users_department_departments"),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("name_key", name="uq_users_name_key"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_users_department", "users", ["department"])
    op.create_table(
        "roles",
        sa.Column("id", Id, nullable=False),
        sa.Column("code", sa.String(64), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_roles"),
        sa.UniqueConstraint("code", name="uq_roles_code"),
    )
    op.create_table(
        "role_perms",
        sa.Column("role", Id, nullable=False),
        sa.Column("perm", sa.String(128), nullable=False),
        sa.ForeignKeyConstraint(["role"], ["roles.id"], name="fk_role_perms_role_roles", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("role", "perm", name="pk_role_perms"),
    )
    op.create_table(
        "user_roles",
        sa.Column("user", Id, nullable=False),
        sa.Column("role", Id, nullable=False),
        sa.ForeignKeyConstraint(["user"], ["users.id"], name="fk_user_roles_user_users", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["role"], ["roles.id"], name="fk_user_roles_role_roles", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user", "role", name="pk_user_roles"),
    )
    op.create_index("ix_user_roles_role", "user_roles", ["role"])
    op.create_table(
        "signing_keys",
        sa.Column("kid", sa.String(64), nullable=False),
        sa.Column("public", sa.LargeBinary, nullable=False),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
        sa.Column("created", sa.Float(53), nullable=False),
        sa.Column("retired", sa.Float(53)),
        sa.PrimaryKeyConstraint("kid", name="pk_signing_keys"),
    )
    op.create_table(
        "service_keys",
        sa.Column("id", Id, nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("created", sa.Float(53), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_service_keys"),
        sa.UniqueConstraint("name", name="uq_service_keys_name"),
        sa.UniqueConstraint("digest", name="uq_service_keys_digest"),
    )
    op.create_table(
        "audit_events",
        sa.Column("id", Id, nullable=False),
        sa.Column("at", sa.Float(53), nullable=False),
        sa.Column("event", sa.String(40), nullable=False),
        sa.Column("user", sa.BigInteger),
        sa.Column("session", sa.String(64)),
        sa.Column("address", sa.String(64)),
        sa.Column("request", sa.String(64)),
        sa.Column("reason", sa.String(64)),
        sa.Column("detail", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_audit_events"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_audit_events_at", "audit_events", ["at"])
    op.create_index("ix_audit_events_user_id", "audit_events", ["user", "id"])

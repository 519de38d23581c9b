"""Run by Alembic: applies the versions beside it on the connection that `migrate` hands over."""

from alembic import context

from gatehouse.stores.database.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()

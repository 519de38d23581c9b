"""Commands that `gatehouse directory` and `gatehouse provider` have in common, made for each of the two."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import msgspec
from msgspec import UNSET
from rich.table import Table

from gatehouse.auth.identity.sources import read_config
from gatehouse.cli import output
from gatehouse.cli.by_name import profile_of
from gatehouse.cli.exit_codes import EXIT_REFUSED
from gatehouse.cli.output import Moment, echo, json_option
from gatehouse.cli.prompts import confirm
from gatehouse.cli.source_options import changed_config, config_options, read_secret
from gatehouse.cli.with_service import OPERATOR, with_service
from gatehouse.identity_sources.definitions import SourceKind, config_type
from gatehouse.identity_sources.field_texts import field_types, field_value
from gatehouse.management.identity_sources import SourceDraft, check_config
from gatehouse.messages.quantities import counted
from gatehouse.stores.errors import Missing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from gatehouse.auth.identity.sources import Source
    from gatehouse.composition import Service
    from gatehouse.identity_sources.clients import TestStep
    from gatehouse.identity_sources.definitions import Config
    from gatehouse.stores.database.identity_sources import Identity, StoredSource

    Details = Callable[[Service, str], dict[str, Any]]


class Noun(NamedTuple):
    """What the commands are about."""

    word: str
    plural: str
    kinds: tuple[SourceKind, ...]
    example: str
    where: str  # the field that says where it is

    def help(self, sentence: str, command: str) -> str:
        """The first sentence stands alone: it is what the list of commands shows."""
        first, _, more = sentence.partition(". ")
        paragraphs = [f"{first.removesuffix('.')}.", more, f"\b\nExample:\n  gatehouse {self.word} {command}"]
        return "\n\n".join(filter(None, paragraphs))


DIRECTORY = Noun("directory", "directories", (SourceKind.DIRECTORY,), "corp", "urls")
PROVIDER = Noun(
    "provider", "providers", (SourceKind.OPENID, SourceKind.DINGTALK, SourceKind.FEISHU), "keycloak", "issuer"
)


def shared_commands(noun: Noun, details: Details) -> Iterator[click.Command]:
    """`details` adds to what `show` says of one."""
    yield _edit(noun)
    yield _list(noun)
    yield _show(noun, details)
    yield _switch(noun, "enable", enabled=True)
    yield _switch(noun, "disable", enabled=False)
    yield _remove(noun)
    yield _unlink(noun)


async def row_named(service: Service, noun: Noun, name: str) -> StoredSource:
    found = next((row for row in await service.stores.sources.all() if row.name == name), None)
    if found is None or found.kind not in noun.kinds:
        raise Missing(f"there is no {noun.word} {name!r}")
    return found


@asynccontextmanager
async def opened(service: Service, noun: Noun, name: str) -> AsyncIterator[Source]:
    """Whether it is enabled or not."""
    source = service.identity.sources.open(await row_named(service, noun, name))
    try:
        yield source
    finally:
        await source.client.close()


async def add_source(
    service: Service, name: str, kind: SourceKind, options: dict[str, Any], secret_name: str, *, enabled: bool
) -> None:
    """`secret_name` is what the secret is called when it is asked for; without one there is none."""
    config: Config = changed_config(config_type(kind)(), options) or config_type(kind)()
    check_config(config, kind)
    draft = SourceDraft(
        title=options["title"] or UNSET,
        sort=options["sort"] or 0,
        enabled=enabled,
        config=config,
        secret=read_secret(secret_name, options["secret_file"]) if secret_name else "",
    )
    await service.management.source_changes.add(OPERATOR, name, kind, draft)


def _edit(noun: Noun) -> click.Command:
    example = "edit corp --timeout 3" if noun.word == "directory" else "edit keycloak --title 'Log in with Keycloak'"

    @click.command("edit", help=noun.help(
        f"Change a {noun.word}. An option that may be repeated replaces all of them; an empty value sets it back.",
        example,
    ))  # fmt: skip
    @click.argument("name")
    @config_options(config_type(noun.kinds[0]))
    @click.option("--secret", "ask", is_flag=True, help="Ask for a new secret.")
    @with_service
    async def edit(service: Service, /, name: str, *, ask: bool, secret_file: Path | None, **options: Any) -> None:
        row = await row_named(service, noun, name)
        draft = SourceDraft(
            title=UNSET if options["title"] is None else options["title"],
            sort=UNSET if options["sort"] is None else options["sort"],
            config=changed_config(read_config(row), options),
            secret=read_secret(f"Secret of {name}", secret_file) if ask or secret_file else UNSET,
        )
        changed = [field for field, value in msgspec.structs.asdict(draft).items() if value is not UNSET]
        if not changed:
            raise click.UsageError("nothing to change: give at least one option")
        await service.management.source_changes.edit(OPERATOR, name, draft)
        echo(f"Changed {noun.word} {name}. Try it: gatehouse {noun.word} test {name}")

    return edit


def _list(noun: Noun) -> click.Command:
    columns = {"name": "NAME", "title": "TITLE", "enabled": "STATE", "users": "USERS", "where": "WHERE"}

    @click.command("list", help=noun.help(f"List the {noun.plural}. They are used in this order.", "list"))
    @json_option
    @with_service
    async def list_(service: Service, *, as_json: bool) -> None:
        users = await service.stores.sources.users_by_source()
        rows = [row for row in await service.stores.sources.all() if row.kind in noun.kinds]
        found = [_summary(row) | {"users": users.get(row.id, 0), "where": _where(noun, row)} for row in rows]
        output.records(found, columns, as_json=as_json, nothing=f"No {noun.plural}.")

    return list_


def _where(noun: Noun, row: StoredSource) -> str:
    value = getattr(read_config(row), noun.where)
    return ", ".join(value) if isinstance(value, tuple) else value or row.kind


def _show(noun: Noun, details: Details) -> click.Command:
    @click.command("show", help=noun.help(
        f"Show one {noun.word} and its users. Its secret is never shown.",
        f"show {noun.example}",
    ))  # fmt: skip
    @click.argument("name")
    @json_option
    @with_service
    async def show(service: Service, name: str, *, as_json: bool) -> None:
        row = await row_named(service, noun, name)
        linked = await service.stores.sources.at_source(row.id)
        facts = _summary(row) | {
            "secret": row.sealed is not None,
            "users": len(linked),
            "gone": sum(each.gone is not None for each in linked),
            "created": Moment(row.created),
            "changed": Moment(row.changed),
            **details(service, name),
        }
        config = read_config(row)
        fields = {field: field_value(config, field) for field in field_types(type(config))}
        if as_json:
            return output.record(facts | {"config": fields}, as_json=True)
        set_fields = {field: _readable(value) for field, value in fields.items() if value or value is False}
        return output.record(facts | set_fields, as_json=False)

    return show


def _readable(value: Any) -> Any:
    if isinstance(value, dict):
        return [
            f"{key}={', '.join(map(str, some)) if isinstance(some, tuple) else some};" for key, some in value.items()
        ]
    return value


def _switch(noun: Noun, command: str, *, enabled: bool) -> click.Command:
    sentence = (
        f"Enable a {noun.word}. Its people can log in."
        if enabled
        else f"Disable a {noun.word}. Its people cannot log in until it is enabled again; their sessions go on."
    )

    @click.command(command, help=noun.help(sentence, f"{command} {noun.example}"))
    @click.argument("name")
    @with_service
    async def switch(service: Service, name: str) -> None:
        await row_named(service, noun, name)
        await service.management.source_changes.edit(OPERATOR, name, SourceDraft(enabled=enabled))
        echo(f"{command.capitalize()}d {noun.word} {name}. Every worker knows within five seconds.")

    return switch


def _remove(noun: Noun) -> click.Command:
    sentence = (
        f"Remove a {noun.word}. The links of its users and the roles that it decided go with it. The users stay; those"
        " without a password of their own need one."
    )

    @click.command("remove", help=noun.help(sentence, f"remove {noun.example} --yes"))
    @click.argument("name")
    @click.option("--yes", is_flag=True, help="Do not ask.")
    @with_service
    async def remove(service: Service, name: str, *, yes: bool) -> None:
        row = await row_named(service, noun, name)
        users = len(await service.stores.sources.at_source(row.id))
        confirm(f"Remove {noun.word} {name}, which {counted(users, 'user')} can log in with?", yes=yes)
        await service.management.source_changes.remove(OPERATOR, name)
        echo(f"Removed {noun.word} {name}.")

    return remove


def _unlink(noun: Noun) -> click.Command:
    sentence = f"Unlink a user from a {noun.word}. The roles that it decided go as well."

    @click.command("unlink", help=noun.help(sentence, "unlink ann"))
    @click.argument("user")
    @click.argument("name", required=False)
    @click.option("--yes", is_flag=True, help="Do not ask.")
    @with_service
    async def unlink(service: Service, user: str, name: str | None, *, yes: bool) -> None:
        who = (await profile_of(service, user)).user
        row, identity = await _only_link(service, noun, who.id, name)
        confirm(f"{who.username} is {identity.name} at {row.name}. Unlink the two?", yes=yes)
        await service.management.source_changes.unlink(OPERATOR, who.id, identity.id)
        echo(f"User {who.username} is no longer linked to {row.name}.")
        if not who.password_hash and len(await service.stores.sources.identities_of(who.id)) == 0:
            echo(f"There is no way to log in as {who.username} now: gatehouse user password {who.username}")

    return unlink


async def _only_link(service: Service, noun: Noun, user: int, name: str | None) -> tuple[StoredSource, Identity]:
    rows = {row.id: row for row in await service.stores.sources.all() if row.kind in noun.kinds}
    linked = [
        (rows[each.source], each)
        for each in await service.stores.sources.identities_of(user)
        if each.source in rows and name in {None, rows[each.source].name}
    ]
    if not linked:
        raise Missing(f"the user is not linked to {name or f'a {noun.word}'}")
    if len(linked) > 1:
        raise click.UsageError(f"linked to several, say which: {', '.join(row.name for row, _ in linked)}")
    return linked[0]


def _summary(row: StoredSource) -> dict[str, Any]:
    return {
        "name": row.name,
        "kind": row.kind,
        "title": row.title,
        "enabled": output.enabled(row.enabled),
        "sort": row.sort,
        "origin": row.origin,
    }


# Tests


async def show_steps(steps: AsyncIterator[TestStep], *, as_json: bool) -> list[dict[str, Any]]:
    """Print each as it is known; the exit code is 1 if the last one does not work."""
    found: list[dict[str, Any]] = []
    async for each in steps:
        found.append({"step": each.step, "works": each.works, "seen": each.seen})
        if not as_json:
            _print_step(each)
    if found and found[-1]["works"]:
        return found
    if as_json:
        output.as_document({"steps": found})
    raise click.exceptions.Exit(EXIT_REFUSED)


def _print_step(step: TestStep) -> None:
    line = Table(box=None, show_header=False, pad_edge=False)
    line.add_column(width=4, style="green" if step.works else "bold red")
    line.add_column(width=9)
    line.add_column(overflow="fold")
    line.add_row("ok" if step.works else "fail", step.step, output.printable(step.seen))
    output.show(line)

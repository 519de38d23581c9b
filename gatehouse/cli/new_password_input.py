"""Where a new password comes from: asked for twice, read from standard input, or generated. Never an argument.

An argument can be read in the history of the shell and in the list of processes.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import click

from gatehouse.auth.passwords.password_policy import validate_new_password
from gatehouse.cli.output import echo
from gatehouse.management.bootstrap import random_password

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., object]")


class NewPassword(NamedTuple):
    password: str
    generated: bool  # and therefore shown, once


def password_options(command: F) -> F:
    stdin = click.option("--password-stdin", is_flag=True, help="Read the password from standard input (one line).")
    random = click.option("--random-password", is_flag=True, help="Generate a password and show it once.")
    return stdin(random(command))


def read_password(username: str, *, password_stdin: bool, random: bool) -> NewPassword:
    """A password that the policy accepts; `ValueError` says why not."""
    if password_stdin and random:
        raise click.UsageError("--password-stdin and --random-password exclude each other")
    given = random_password() if random else _from_stdin() if password_stdin else _prompt(username)
    validate_new_password(given, username)
    return NewPassword(given, generated=random)


def _from_stdin() -> str:
    try:
        return sys.stdin.buffer.readline().decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise ValueError("the password on standard input is not UTF-8") from None


def _prompt(username: str) -> str:
    if not sys.stdin.isatty():
        raise click.UsageError("no terminal to ask for a password on: use --password-stdin or --random-password")
    prompt = f"New password of {username}"
    return str(click.prompt(prompt, hide_input=True, confirmation_prompt="Once more", err=True))


def show_once(password: str) -> None:
    echo(f"Its password, shown this once: {password}")

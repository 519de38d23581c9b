"""`gatehouse completion`: the completion script of a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    Examples:
      gatehouse completion bash > /etc/bash_completion.d/gatehouse
      gatehouse completion zsh > ~/.zfunc/_gatehouse
      gatehouse completion fish > ~/.config/fish/completions/gatehouse.fish
    """
    root = click.get_current_context().find_root().command
    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"there is no completion for {shell}")
    click.echo(script(root, {}, "gatehouse", "_GATEHOUSE_COMPLETE").source())

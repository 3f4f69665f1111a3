"""``htppower completion``: the script that lets a shell complete ``htppower``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from htppower.tools.cli.help import Command
from htppower.tools.cli.terminal import echo

SHELLS = ("bash", "zsh", "fish")
# The environment variable that the script sets to ask for completions. ``main`` finds it by the name of the program.
_VARIABLE = "_HTPPOWER_COMPLETE"


@click.command(name="completion", cls=Command, example='eval "$(htppower completion bash)"')
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the script that completes commands, profiles, fields, rules and SoCs in a shell.

    Bash, in ~/.bashrc: eval "$(htppower completion bash)"

    Zsh, in ~/.zshrc, after compinit: eval "$(htppower completion zsh)"

    Fish, once: htppower completion fish > ~/.config/fish/completions/htppower.fish
    """
    made = get_completion_class(shell)
    if made is None:
        raise click.UsageError(f"click has no completion for {shell}")
    # Only the text of the script: ``source`` would also run bash to find its version.
    template = made(click.get_current_context().find_root().command, {}, "htppower", _VARIABLE)
    echo(template.source_template % template.source_vars())

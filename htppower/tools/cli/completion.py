"""``htppower completion``, and the completions: profiles, fields, rules, SoCs. A wrong file silently gives none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem, get_completion_class

from htppower.errors import HtpPowerError
from htppower.profiles.discovery import DEVICES, Folders, yaml_files
from htppower.profiles.names import LISTED_FIRST, SHIPPED_PROFILES
from htppower.profiles.paths import joined, stem_of
from htppower.tools.cli.help import Command
from htppower.tools.cli.terminal import echo

if TYPE_CHECKING:
    from collections.abc import Iterable

# Click's type for a value that the shell completes as a file.
_FILE = "file"
SHELLS = ("bash", "zsh", "fish", "powershell")
# The environment variable that the script sets to ask for completions. ``main`` finds it by the name of the program.
_VARIABLE = "_HTPPOWER_COMPLETE"


def profiles(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return matching profiles from ``--profiles`` and the shipped folder; files if none matches.

    The records of runtimes' votes are offered only if no other profile matches.
    """
    return _or_files(_with_records(ctx, _profile_names(ctx), incomplete), incomplete)


def profiles_and_states(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return matching profiles and power states in the same way."""
    return _or_files(_with_records(ctx, (*_profile_names(ctx), *_state_names(ctx)), incomplete), incomplete)


def subjects(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return what can be explained: profiles, power states and rules; all else only if some text is typed."""
    from htppower.tools.review.explain.subjects import other_names, rule_ids  # noqa: PLC0415 - only to complete

    names = (*_profile_names(ctx), *_state_names(ctx), *(other_names() if incomplete else rule_ids()))
    return _or_files(names, incomplete)


def fields(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the fields of the profile or power state before it on the command line, in short and in full.

    Fields that most profiles leave out, and those in a learnt time, are offered by their words, such as ``then``.
    """
    from htppower.errors import HtpPowerError  # noqa: PLC0415 - as above
    from htppower.profiles.discovery import Folders  # noqa: PLC0415
    from htppower.tools.review.explain.explained import explained_by_name  # noqa: PLC0415 - only to complete
    from htppower.tools.review.explain.relax_words import is_word  # noqa: PLC0415

    try:
        found = explained_by_name(ctx.params.get("name") or "", Folders.of(_folders(ctx)))
    except HtpPowerError:
        return []
    whole = [each.field for each in found if not each.part]
    ends = [field.rpartition(".")[2] for field in whole]
    words = [key for each in found for key in each.field.split(".") if is_word(key)]
    return _beginning(dict.fromkeys((*ends, *words, *whole)), incomplete)


def devices(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return matching device models from ``--profiles`` and the shipped folder; files if none matches."""
    return _or_files(_names_in(ctx, DEVICES), incomplete)


def files(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete files."""
    return _or_files((), incomplete)


def socs(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the SoCs, by part number."""
    from htppower.rules.socs import SOCS  # noqa: PLC0415 - only to complete

    return _beginning((name for soc in SOCS for name in soc.names), incomplete.upper())


def architectures(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the Hexagon architectures."""
    from htppower.rules.platforms import ARCHITECTURES  # noqa: PLC0415 - only to complete

    return _beginning((f"V{arch}" for arch in ARCHITECTURES), incomplete.upper())


def _profile_names(ctx: click.Context) -> tuple[str, ...]:
    return _searched(ctx).names(LISTED_FIRST)


def _with_records(ctx: click.Context, names: tuple[str, ...], incomplete: str) -> tuple[str, ...]:
    if not incomplete or any(name.startswith(incomplete) for name in names):
        return names
    return _searched(ctx).record_names(SHIPPED_PROFILES)


def _state_names(ctx: click.Context) -> tuple[str, ...]:
    return _names_in(ctx, "states")


def _names_in(ctx: click.Context, folder: str) -> tuple[str, ...]:
    """Return the names of the files in a folder of each folder of profiles."""
    paths = _searched(ctx).paths
    return tuple(dict.fromkeys(stem_of(file) for path in paths for file in yaml_files(joined(path, folder))))


def _searched(ctx: click.Context) -> Folders:
    """Return the folders of ``--profiles`` and the shipped one; only the shipped one if another can't be read."""
    try:
        return Folders.of(_folders(ctx))
    except HtpPowerError:
        return Folders.of(())


def _folders(ctx: click.Context) -> tuple[str, ...]:
    return tuple(ctx.params.get("folders") or ())


def _beginning(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _or_files(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Return the names that match; if none does, let the shell complete files."""
    return _beginning(names, incomplete) or [CompletionItem(incomplete, type=_FILE)]


@click.command(name="completion", cls=Command, example='eval "$(htppower completion bash)"')
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> None:
    """Print the script that completes commands, profiles, fields, rules and SoCs in a shell.

    Bash, in ~/.bashrc: eval "$(htppower completion bash)"

    Zsh, in ~/.zshrc, after compinit: eval "$(htppower completion zsh)"

    Fish, once: htppower completion fish > ~/.config/fish/completions/htppower.fish

    PowerShell, in the file $PROFILE, with click 8.5 or later: htppower completion powershell | Out-String |
    Invoke-Expression
    """
    made = get_completion_class(shell)
    if made is None:
        # PowerShell came last.
        raise click.UsageError(f"this click has no completion for {shell}: pip install 'click>=8.5'")
    # Only the text of the script: ``source`` would also run bash to find its version.
    template = made(click.get_current_context().find_root().command, {}, "htppower", _VARIABLE)
    echo(template.source_template % template.source_vars())

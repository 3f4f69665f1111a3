"""Change the output of sphinx-click, so that the page shows the same as ``--help``.

sphinx-click lists the options of a command in one list. Ours are in groups, and a command has an example
(``htppower.tools.cli.help``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from htppower.tools.cli import main as entry
from htppower.tools.cli.help import GROUPS, OTHERS, Command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx

_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
# Every command has these options; the page describes them once.
_EVERYWHERE = frozenset({"help", "version"})


def setup(app: Sphinx) -> None:
    """Connect the functions below to the events of sphinx-click."""
    app.connect("sphinx-click-process-description", _description)
    app.connect("sphinx-click-process-usage", _usage)
    app.connect("sphinx-click-process-options", _options)
    app.connect("sphinx-click-process-arguments", _arguments)
    app.connect("sphinx-click-process-epilog", _epilog)


def _description(_app: Sphinx, _ctx: click.Context, lines: list[str]) -> None:
    """Escape the help: it is plain text for a terminal, not reStructuredText."""
    lines[:] = [_plain(line) for line in lines]


def _usage(_app: Sphinx, ctx: click.Context, lines: list[str]) -> None:
    said = " ".join((ctx.command_path, *ctx.command.collect_usage_pieces(ctx)))
    lines[:] = [".. code-block:: text", "", f"   {said}", ""]


def _options(_app: Sphinx, ctx: click.Context, lines: list[str]) -> None:
    lines[:] = list(_grouped(ctx))


def _grouped(ctx: click.Context) -> Iterator[str]:
    """Yield the options of a command, group by group."""
    groups: dict[str, list[click.Option]] = {name: [] for name in GROUPS}
    for parameter in ctx.command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden and parameter.name not in _EVERYWHERE:
            groups[getattr(parameter, "group", OTHERS)].append(parameter)
    for name, options in groups.items():
        if options:
            yield from ("", f"**{name}**", "")
        for option in options:
            # click's own record of the option: its name and its meaning, as on a terminal.
            names, meaning = option.get_help_record(ctx) or ("", "")
            yield from (f".. option:: {names}", "", f"   {_plain(' '.join(meaning.split()))}", "")


def _arguments(_app: Sphinx, _ctx: click.Context, lines: list[str]) -> None:
    """Leave the arguments out: the usage has them, and the help explains them."""
    lines.clear()


def _epilog(_app: Sphinx, ctx: click.Context, lines: list[str]) -> None:
    example = ctx.command.example if isinstance(ctx.command, Command) else entry.EXAMPLE
    lines[:] = ["", "**Example**", "", ".. code-block:: text", "", f"   {example}", ""]


def _plain(text: str) -> str:
    """Return a text with the markup of reStructuredText escaped, and options as code."""
    for mark in ("\\", "*", "`", "|", "_"):
        text = text.replace(mark, f"\\{mark}")
    return _OPTION.sub(r"``\g<0>``", text)

"""The parts of every command: its exit codes, and its help with options in groups and an example.

Man pages are made from the same texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from htppower.tools.report.layout import wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]

# A rule refuses. All other failures have the code 2, like a usage error.
REFUSED = 1
INVALID = 2
# The code of a shell after Ctrl-C.
INTERRUPTED = 130
# The groups of options, in the order of the help. Options without a group are last.
WHAT = "Main options"
DRY_RUN = "Dry run"
DEVICE = "Device"
OUTPUT = "Output"
OTHERS = "Other options"
FLEET = "Fleet"
GROUPS = (WHAT, FLEET, DEVICE, DRY_RUN, OUTPUT, OTHERS)
# Longer lines are hard to read, even on a wide terminal.
WIDEST = 100


class HelpFormatter(click.HelpFormatter):
    """Writes help like all other text: wrapped between words, not at hyphens, so that options stay whole."""

    def write_text(self, text: str) -> None:
        """Write paragraphs."""
        lead = " " * self.current_indent
        paragraphs = (" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
        told = (wrapped(f"{lead}{paragraph}", self.width) for paragraph in paragraphs)
        self.write("\n\n".join("\n".join(lines) for lines in told) + "\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write names with their meanings next to them, or below a name that is too long."""
        rows = tuple(rows)
        widest = max((len(name) for name, _ in rows if len(name) <= col_max), default=0)
        margin = self.current_indent + widest + col_spacing
        for name, meaning in rows:
            lines = wrapped(" ".join(meaning.split()), self.width - margin)
            lead = " " * self.current_indent + name
            if len(name) > widest:
                self.write(f"{lead}\n")
                lead = ""
            for place, line in enumerate(lines):
                self.write(f"{'' if place else lead:<{margin}}{line}".rstrip() + "\n")


class Context(click.Context):
    """The context of every command."""

    formatter_class = HelpFormatter


class GroupedOption(click.Option):
    """An option with its group in the help."""

    def __init__(self, *args: Any, group: str = OTHERS, **more: Any) -> None:
        super().__init__(*args, **more)
        self.group = group


class Command(click.Command):
    """A command whose help has its options in groups, and an example.

    Attributes:
        example: one line to type.
    """

    context_class = Context

    def __init__(self, *args: Any, example: str, **more: Any) -> None:
        super().__init__(*args, **more)
        self.example = example

    def option_groups(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Return the options of each group, each with its meaning."""
        groups: dict[str, list[tuple[str, str]]] = {name: [] for name in GROUPS}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                groups[getattr(parameter, "group", OTHERS)].append(record)
        return {name: records for name, records in groups.items() if records}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of each group."""
        for name, records in self.option_groups(ctx).items():
            with formatter.section(name):
                formatter.write_dl(records)

    def format_epilog(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example."""
        write_example(self.example, formatter)


def option(*names: str, group: str = OTHERS, **more: Any) -> Decorator:
    """Return an option of a group; otherwise as ``click.option``."""
    return click.option(*names, cls=GroupedOption, group=group, **more)


def write_example(example: str, formatter: click.HelpFormatter) -> None:
    """Write an example to type."""
    with formatter.section("Example"):
        formatter.write_text(example)


def write_commands(sections: Iterable[tuple[str, list[tuple[str, str]]]], formatter: click.HelpFormatter) -> None:
    """Write the commands of each section, each with its meaning."""
    for title, records in sections:
        with formatter.section(title):
            formatter.write_dl(records)

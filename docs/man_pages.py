"""The man pages, from the texts of ``--help``: one for ``htppower``, and one for each of its commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.cli.commands import COMMANDS, SECTIONS
from htppower.tools.cli.help import Command, Context
from htppower.tools.cli.main import EXAMPLE, main

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import click

_NAME = "htppower"
_ALSO = "The reference of rules, codes and corners is in the command itself: htppower explain RULE, CODE or CORNER."


def man_pages() -> dict[str, str]:
    """Return the text of each page, in troff, by its file: ``htppower.1``, ``htppower-list.1`` and so on."""
    root = Context(main, info_name=_NAME, terminal_width=10_000, **main.context_settings)
    pages = {f"{_NAME}.1": _page_of_all()}
    for name in main.list_commands(root):
        command = main.get_command(root, name)
        if isinstance(command, Command):
            pages[f"{_NAME}-{name}.1"] = _page(command, Context(command, root, name, terminal_width=10_000))
    return pages


def _page_of_all() -> str:
    lines = [*_head(_NAME, main.help or ""), ".SH SYNOPSIS", f".B {_NAME}", "COMMAND [ARGS...]"]
    for title, entries in SECTIONS.items():
        lines += [f".SH {title.upper()}", *_terms((f"{_NAME} {name}", each.does) for name, each in entries.items())]
    lines += [".SH EXAMPLE", ".nf", _text(EXAMPLE), ".fi"]
    others = [f".BR {_NAME}-{_text(name)} (1)" for name in COMMANDS]
    return "\n".join((*lines, ".SH SEE ALSO", *others, ".PP", _text(_ALSO))) + "\n"


def _page(command: Command, ctx: click.Context) -> str:
    pieces = command.collect_usage_pieces(ctx)
    title = f"{_NAME}-{command.name}"
    lines = [
        *_head(title, command.help or ""),
        ".SH SYNOPSIS",
        f".B {_NAME} {_text(command.name or '')}",
        _text(" ".join(pieces)),
    ]
    lines += [".SH DESCRIPTION", *_paragraphs(command.help or "")]
    for name, records in command.option_groups(ctx).items():
        lines += [f".SH {name.upper()}", *_terms(records)]
    lines += [".SH EXAMPLE", ".nf", _text(command.example), ".fi", ".SH SEE ALSO", f".BR {_NAME} (1)"]
    return "\n".join((*lines, ".PP", _text(_ALSO))) + "\n"


def _head(title: str, meaning: str) -> list[str]:
    summary = " ".join(meaning.partition("\n\n")[0].split()).rstrip(".")
    return [f'.TH "{title.upper()}" 1 "" "{_NAME}" "{_NAME}"', ".SH NAME", f"{_text(title)} \\- {_text(summary)}"]


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(text.split("\n\n")):
        if number:
            yield ".PP"
        yield _text(" ".join(paragraph.split()))


def _terms(records: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, meaning in records:
        yield ".TP"
        yield f".B {_text(name)}"
        yield _text(" ".join(meaning.split()))


def _text(text: str) -> str:
    """Return a text for troff: hyphens that can be copied, and no line that troff reads as a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return f"\\&{escaped}" if escaped.startswith((".", "\\(aq")) else escaped

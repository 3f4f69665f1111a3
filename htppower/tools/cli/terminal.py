"""The output to a terminal: the only place where the command line prints, and which decides on colours.

Every text goes through ``echo``, or ``echo_markup`` for HTML, SVG and XML. They make sure that a name, a summary or a
path can't act on the terminal. A renderer styles its own words with ``styled`` (in ``report/styled.py``), never with
escape sequences, which would be escaped.

``NO_COLOR`` forbids colours and bold, ``FORCE_COLOR`` uses them even if the output is not a terminal, and ``TERM=dumb``
has none. The first of these that is set decides. An empty variable counts as not set (https://no-color.org,
https://force-color.org).
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from typing import TYPE_CHECKING

import click

from htppower.tools.report.layout import columns_said, terminal_width, wrapped
from htppower.tools.report.styled import coloured, plain, safe_markup

if TYPE_CHECKING:
    from collections.abc import Iterator

_DUMB = ("dumb", "unknown")
# A step of GitHub Actions reads a line that begins like this as a command. A path that begins so is the same as with ./
# before it.
_COMMAND = r"(?m)^([ \t]*)::"
_STDIN, _STDOUT, _STDERR = 0, 1, 2


def wants_colour() -> bool | None:
    """Return whether the environment asks for colours; None: only on a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return False if os.environ.get("TERM", "").lower() in _DUMB else None


def in_colour(*, err: bool = False) -> bool:
    """Return whether the standard output, or the standard error, is written in colour."""
    wanted = wants_colour()
    return is_terminal(err=err) if wanted is None else wanted


def is_screen(*, err: bool = False) -> bool:
    """Return whether the standard output, or the standard error, is a terminal that can move its cursor."""
    return is_terminal(err=err) and os.environ.get("TERM", "").lower() not in _DUMB


def shown(text: str, *, err: bool = False) -> str:
    """Return a text as ``echo`` prints it."""
    text = coloured(text) if in_colour(err=err) else plain(text)
    return re.sub(_COMMAND, r"\1./::", text) if "::" in text else text


def fitted(text: str, indent: str, *, err: bool = False) -> str:
    """Return a text whose lines fit the terminal that it is printed on, or ``COLUMNS``.

    A pipe gets every line whole, so that a program can read a message from one line.
    """
    if not columns_said() and not is_terminal(err=err):
        return text
    return "\n".join(part for line in text.split("\n") for part in wrapped(line, terminal_width(), indent))


def echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text on the standard output; with ``err``, a message without styles on the standard error."""
    text = fitted(text, "  ", err=True) if err else text
    click.echo(shown(text, err=err), err=err, nl=nl, color=in_colour(err=err))


def echo_commands(text: str, *, nl: bool = True) -> None:
    """Print commands for a step of GitHub Actions. Their parts are escaped already."""
    click.echo(plain(text), nl=nl)


def draw(text: str, *, err: bool = False) -> None:
    """Write our own escape sequences on a screen, and texts that ``shown`` has made safe."""
    click.echo(text, nl=False, err=err, color=True)


def echo_markup(text: str, *, nl: bool = True) -> None:
    """Print HTML, SVG or XML in UTF-8, which it declares, whatever the encoding of the terminal."""
    click.echo(safe_markup(text).encode(), nl=nl)


def is_terminal(*, err: bool = False) -> bool:
    """Return whether the standard output, or the standard error, is a terminal."""
    stream = sys.stderr if err else sys.stdout
    return stream is not None and stream.isatty()


@contextlib.contextmanager
def kept_off_stdout() -> Iterator[int]:
    """Redirect the standard output of C code to the standard error; yield the standard output's descriptor.

    The library prints a line when it is loaded, into C's buffer, which reaches a pipe only at the end. Until then
    Python must print nothing.
    """
    import ctypes  # noqa: PLC0415 - only commands that load the vendor's library need it

    _open_what_is_closed()
    if sys.stdout is not None:
        sys.stdout.flush()
    ours = os.dup(_STDOUT)
    try:
        os.dup2(_STDERR, _STDOUT)
        yield ours
    finally:
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).fflush(None)
        os.dup2(ours, _STDOUT)
        os.close(ours)


def _open_what_is_closed() -> None:
    """Open closed standard descriptors on the null device, so that no other file gets their numbers."""
    for descriptor in (_STDIN, _STDOUT, _STDERR):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)

"""``htppower status``: the votes of another process, since when and why."""

from __future__ import annotations

import datetime
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from htppower.cli.help import WHAT, Command, option
from htppower.cli.options import format_option
from htppower.cli.status.as_text import as_text
from htppower.cli.status.document import StatusUnreadable, read_status, seen, stamp
from htppower.cli.terminal import draw, echo, is_screen, shown
from htppower.review.layout import terminal_height, terminal_width

if TYPE_CHECKING:
    from typing import Any

    from htppower.cli.status.document import Seen

_POLL_S = 0.25
# A terminal is redrawn this often, since ages grow while the file stays the same.
_DRAWN_AGAIN_S = 1.0
_CLEAR, _HOME, _TO_LINE_END, _TO_END = "\x1b[2J", "\x1b[H", "\x1b[K", "\x1b[J"


@click.command(name="status", cls=Command, example="htppower status --watch")
@click.argument("path", type=click.Path(path_type=Path))
@option("--watch", is_flag=True, group=WHAT, help="Show it again whenever it changes, until Ctrl-C.")
@format_option(("text", "json"))
def command(path: Path, watch: bool, form: str) -> None:
    """Show what a host has voted: PATH is the file that it writes with controller.serve_status(PATH)."""
    document = read_status(path)
    if not watch:
        echo(_shown(_seen_now(document), form, indent=2))
        return
    watch_of = Watch(path, document, form, terminal=form == "text" and is_screen())
    while True:
        watch_of.look(time.monotonic())
        time.sleep(_POLL_S)


class Watch:
    """Watches a file that held this document. It waits while the file is gone or holds no status.

    On a terminal it draws in place; elsewhere it prints each change below the last.
    """

    def __init__(self, path: Path, document: dict[str, Any], form: str, *, terminal: bool) -> None:
        self._path = path
        self._document = document
        self._form = form
        self._terminal = terminal
        self._stamp: object = None
        self._shown: object = None
        self._trouble: str | None = None
        self._drawn_s: float | None = None

    def look(self, now_s: float) -> None:
        """Read the file if it is another, and show what changed."""
        held = stamp(self._path)
        if held is None or held != self._stamp:
            try:
                self._document, self._trouble = read_status(self._path), None
            except StatusUnreadable as error:
                self._trouble = str(error)
            self._stamp = held
        view = _seen_now(self._document)
        news = (view.document["written"], view.process, self._trouble)
        if self._terminal:
            if news != self._shown or self._drawn_s is None or now_s - self._drawn_s >= _DRAWN_AGAIN_S:
                self._draw(view)
                self._drawn_s = now_s
        elif news != self._shown:
            self._print(view)
        self._shown = news

    def _print(self, view: Seen) -> None:
        if self._trouble is not None:
            echo(f"htppower: {self._trouble}; waiting for it", err=True)
            return
        if self._shown is not None and self._form == "text":
            echo("")
        echo(_shown(view, self._form, indent=None))

    def _draw(self, view: Seen) -> None:
        width, height = terminal_width(), terminal_height()
        lines = as_text(view, width).splitlines()
        if self._trouble is not None:
            lines.insert(0, f"waiting: {self._trouble}"[:width])
        if len(lines) > height - 1:
            below = len(lines) - (height - 2)
            lines = [*lines[: height - 2], f"... {below} lines more: see it without --watch"]
        start = _CLEAR + _HOME if self._drawn_s is None else _HOME
        draw(start + "".join(f"{shown(line)}{_TO_LINE_END}\n" for line in lines) + _TO_END)


def _seen_now(document: dict[str, Any]) -> Seen:
    return seen(document, datetime.datetime.now(datetime.timezone.utc))


def _shown(view: Seen, form: str, indent: int | None) -> str:
    if form == "text":
        return as_text(view, terminal_width())
    told = {"age_us": view.age_us, "process": view.process.value}
    return json.dumps({**view.document, "seen": told}, indent=indent)

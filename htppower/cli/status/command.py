"""``htppower status``: the votes of another process, since when and why."""

from __future__ import annotations

import datetime
import json
import time
from typing import TYPE_CHECKING

import click

from htppower.cli.completion import values as completion
from htppower.cli.help import WHAT, Command, option
from htppower.cli.options import format_option
from htppower.cli.status.as_text import as_text
from htppower.cli.status.document import StatusUnreadable, read_status, seen, stamp
from htppower.cli.status.history import Histories, now_of
from htppower.cli.status.served import file_of, find_served, overview
from htppower.cli.terminal import draw, echo, is_screen, shown
from htppower.review.layout import terminal_height, terminal_width, wrapped

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, NoReturn

    from htppower.cli.status.document import Seen
    from htppower.cli.status.served import Served

FORMAT_VERSION = 1
_POLL_S = 0.25
# A terminal is redrawn this often, since ages grow while the file stays the same.
_DRAWN_AGAIN_S = 1.0
_CLEAR, _HOME, _TO_LINE_END, _TO_END = "\x1b[2J", "\x1b[H", "\x1b[K", "\x1b[J"


@click.command(name="status", cls=Command, example="htppower status --watch")
@click.argument("path", required=False, metavar="[PATH|PID]", shell_complete=completion.files)
@option("--watch", is_flag=True, group=WHAT, help="Show it again whenever it changes, until Ctrl-C.")
@format_option(("text", "json"))
def command(path: str | None, watch: bool, form: str) -> None:
    """Show what hosts have voted, since when and why.

    Without PATH, every controller of this user that serves its status in the runtime folder is listed, as
    controller.serve_status() does, and htppower profile NAME -- COMMAND. PATH is the file of one, of which everything
    is shown; so does the process id of one that is listed.
    """
    terminal = form == "text" and is_screen()
    if path is None:
        _list(Overview(form, terminal=terminal), watch=watch)
        return
    file = file_of(path)
    document = read_status(file)
    if not watch:
        echo(_shown(_seen_now(document), form, indent=2))
        return
    _look_for_good(Watch(file, document, form, terminal=terminal))


def _list(overview_of: Overview, *, watch: bool) -> None:
    if watch:
        _look_for_good(overview_of)
    overview_of.look(time.monotonic())


def _look_for_good(watch: Watch | Overview) -> NoReturn:
    while True:
        watch.look(time.monotonic())
        time.sleep(_POLL_S)


class Overview:
    """Lists every status in the folders of this user, at each look where it is another or a second has passed."""

    def __init__(self, form: str, *, terminal: bool) -> None:
        self._form = form
        self._terminal = terminal
        self._shown: object = None
        self._drawn_s: float | None = None
        self._histories = Histories()

    def look(self, now_s: float) -> None:
        """Read the statuses, and show what changed."""
        found = find_served(datetime.datetime.now(datetime.timezone.utc))
        for each in found:
            if each.seen is not None:
                self._histories.see(str(each.path), each.seen)
        news = [_news(each) for each in found]
        if self._terminal and (news != self._shown or self._drawn_s is None or now_s - self._drawn_s >= _DRAWN_AGAIN_S):
            draw_screen(overview(found, terminal_width(), self._histories), first=self._drawn_s is None)
            self._drawn_s = now_s
        elif not self._terminal and news != self._shown:
            if self._shown is not None and self._form == "text":
                echo("")
            echo(_listed(found) if self._form == "json" else overview(found, terminal_width()))
        self._shown = news


def _news(served: Served) -> object:
    """Return a value that is another where there is something new to show."""
    view = served.seen
    return served.path, served.problem, view and (view.document["written"], view.process)


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
        self._histories = Histories()
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
        path = str(self._path)
        self._histories.see(path, view)
        numbers = [session["number"] for session in view.document["sessions"]]
        width = terminal_width()
        strips = {number: self._histories.strip((path, number), now_of(view), width) for number in numbers}
        text = as_text(view, width, strips)
        if self._trouble is not None:
            text = "\n".join((*wrapped(f"waiting: {self._trouble}", width), text))
        draw_screen(text, first=self._drawn_s is None)


def draw_screen(text: str, *, first: bool) -> None:
    """Draw a text in place of what was drawn before, as far as the terminal is high enough."""
    lines, height = text.splitlines(), terminal_height()
    if len(lines) > height - 1:
        below = len(lines) - (height - 2)
        lines = [*lines[: height - 2], f"... {below} lines more: see it without --watch"]
    start = _CLEAR + _HOME if first else _HOME
    draw(start + "".join(f"{shown(line)}{_TO_LINE_END}\n" for line in lines) + _TO_END)


def _seen_now(document: dict[str, Any]) -> Seen:
    return seen(document, datetime.datetime.now(datetime.timezone.utc))


def _shown(view: Seen, form: str, indent: int | None) -> str:
    return as_text(view, terminal_width()) if form == "text" else json.dumps(_with_seen(view), indent=indent)


def _with_seen(view: Seen) -> dict[str, Any]:
    return {**view.document, "seen": {"age_us": view.age_us, "process": view.process.value}}


def _listed(found: tuple[Served, ...]) -> str:
    """Return the statuses of a list as one line of JSON."""
    listed = [
        {"path": str(each.path), "problem": each.problem or None, "status": each.seen and _with_seen(each.seen)}
        for each in found
    ]
    return json.dumps({"format_version": FORMAT_VERSION, "statuses": listed})

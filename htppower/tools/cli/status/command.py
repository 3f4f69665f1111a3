"""``htppower status``: the votes of another process, since when and why."""

from __future__ import annotations

import datetime
import json
import time
from typing import TYPE_CHECKING

import click

from htppower.tools.cli import completion
from htppower.tools.cli.help import WHAT, Command, option
from htppower.tools.cli.options import format_option
from htppower.tools.cli.status.as_text import as_text
from htppower.tools.cli.status.document import StatusUnreadable, read_status, seen, stamp, user_name
from htppower.tools.cli.status.history import Histories, now_of
from htppower.tools.cli.status.screen import QUIT, REDRAW, Screen
from htppower.tools.cli.status.served import file_of, find_served, listed, overview
from htppower.tools.cli.status.table import COLUMNS, table
from htppower.tools.cli.terminal import echo, is_screen
from htppower.tools.report.layout import terminal_height, terminal_width, wrapped

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from htppower.tools.cli.status.document import Seen
    from htppower.tools.cli.status.served import Served

FORMAT_VERSION = 1
_POLL_S = 0.25
# A terminal is redrawn this often, since ages grow even if the file does not change.
_DRAWN_AGAIN_S = 1.0
_SORTS = {"s": 1, ">": 1, ".": 1, "S": -1, "<": -1, ",": -1}


@click.command(name="status", cls=Command, example="htppower status --watch")
@click.argument("path", required=False, metavar="[PATH|PID]", shell_complete=completion.files)
@option(
    "--watch",
    is_flag=True,
    group=WHAT,
    help="Show it again whenever it changes. On a terminal q quits, the arrows and PgUp and PgDn scroll, and s sorts by"
    " the next column.",
)
@option("--all", "everything", is_flag=True, group=WHAT, help="Also list processes that are gone and left no vote up.")
@format_option(("text", "json"))
def command(path: str | None, watch: bool, everything: bool, form: str) -> None:
    """Show the votes of hosts, since when and why.

    Without PATH, it lists every controller of this user whose status is in the runtime folder. Hosts write it there
    with controller.serve_status(), and so does htppower profile NAME -- COMMAND. Root sees the controllers of all
    users. With the PATH of a file, or the process id of a listed host, it shows everything in that file.
    """
    terminal = form == "text" and is_screen()
    if path is None:
        shown_of = Overview(form, terminal=terminal and watch, everything=everything)
        if watch:
            _look_for_good(shown_of)
        else:
            shown_of.look(time.monotonic())
        return
    found = file_of(path)
    file, uid = found.path, found.uid
    document = read_status(file, uid)
    if not watch:
        echo(_shown(_seen_now(document, uid), form, indent=2))
        return
    _look_for_good(Watch(file, document, form, terminal=terminal, uid=uid))


def _look_for_good(watch: Watch | Overview) -> None:
    """Show changes until Ctrl-C, or on a terminal until q is pressed."""
    if not watch.terminal:
        while True:
            watch.look(time.monotonic())
            time.sleep(_POLL_S)
    with watch.screen as screen:
        while True:
            watch.look(time.monotonic())
            for key in screen.keys(_POLL_S):
                if key == QUIT:
                    return
                watch.press(key)


class _Watched:
    """A view that is drawn in place on a terminal. Otherwise each change is printed below the last one."""

    def __init__(self, form: str, *, terminal: bool) -> None:
        self.terminal = terminal
        self.screen = Screen()
        self._form = form
        self._shown: object = None
        self._drawn_s: float | None = None
        self._histories = Histories()

    def press(self, key: str) -> None:
        """Handle a key."""
        if key == REDRAW:
            self._drawn_s = None

    def _is_due(self, news: object, now_s: float) -> bool:
        """Return whether to draw again: after a change, with another size, or after a second. Note the time."""
        news = (news, terminal_width(), terminal_height())
        due = news != self._shown or self._drawn_s is None or now_s - self._drawn_s >= _DRAWN_AGAIN_S
        if due:
            self._shown, self._drawn_s = news, now_s
        return due


class Overview(_Watched):
    """Lists every served status, again whenever one changes or a second has passed."""

    def __init__(self, form: str, *, terminal: bool, everything: bool = False) -> None:
        super().__init__(form, terminal=terminal)
        self._everything = everything
        self._sorted_by = 0

    def look(self, now_s: float) -> None:
        """Read the statuses, and show changes."""
        found = find_served(datetime.datetime.now(datetime.timezone.utc))
        news = [_news(each) for each in found]
        if self.terminal:
            for each in found:
                if each.seen is not None:
                    self._histories.see(str(each.path), each.seen)
            if self._is_due(news, now_s):
                self._draw(found)
        elif news != self._shown:
            if self._shown is not None and self._form == "text":
                echo("")
            as_json, width = self._form == "json", terminal_width()
            echo(_listed(found) if as_json else overview(found, width, everything=self._everything))
            self._shown = news

    def press(self, key: str) -> None:
        """Handle a key: sort by another column."""
        step = _SORTS.get(key, 0)
        if step:
            self._sorted_by = (self._sorted_by + step) % len(COLUMNS)
            key = REDRAW
        super().press(key)

    def _draw(self, found: tuple[Served, ...]) -> None:
        kept, left_out = listed(found, everything=self._everything)
        head, body = table(kept, self._histories, terminal_width(), self._sorted_by)
        foot = ("q quit", f"s sort: {COLUMNS[self._sorted_by].title}", f"{left_out} gone: --all" if left_out else "")
        self.screen.show(head, body, (*foot, "arrows, PgUp, PgDn scroll"))


def _news(served: Served) -> object:
    """Return a value that changes whenever there is something new to show."""
    view = served.seen
    return served.path, served.problem, view and (view.document["written"], view.process)


class Watch(_Watched):
    """Watches the status file that a document was read from, and waits while the file has no status or is gone."""

    def __init__(
        self, path: Path, document: dict[str, Any], form: str, *, terminal: bool, uid: int | None = None
    ) -> None:
        super().__init__(form, terminal=terminal)
        self._path = path
        self._document = document
        self._uid = uid
        self._stamp: object = None
        self._trouble: str | None = None

    def look(self, now_s: float) -> None:
        """Read the file if it has changed, and show the changes."""
        held = stamp(self._path)
        if held is None or held != self._stamp:
            try:
                self._document, self._trouble = read_status(self._path, self._uid), None
            except StatusUnreadable as error:
                self._trouble = str(error)
            self._stamp = held
        view = _seen_now(self._document, self._uid)
        news = (view.document["written"], view.process, self._trouble)
        if self.terminal:
            self._histories.see(str(self._path), view)
            if self._is_due(news, now_s):
                self._draw(view)
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
        path, width = str(self._path), terminal_width()
        strips, rates = {}, {}
        for session in view.document["sessions"]:
            number = session["number"]
            strips[number] = self._histories.strip((path, number), now_of(view), width)
            rates[number] = self._histories.rate((path, number))
        head = [] if self._trouble is None else wrapped(f"waiting: {self._trouble}", width)
        body = as_text(view, width, strips, rates).splitlines()
        self.screen.show(head, body, ("q quit", "arrows, PgUp, PgDn scroll"))


def _seen_now(document: dict[str, Any], uid: int | None) -> Seen:
    return seen(document, datetime.datetime.now(datetime.timezone.utc), uid)


def _shown(view: Seen, form: str, indent: int | None) -> str:
    return as_text(view, terminal_width()) if form == "text" else json.dumps(_with_seen(view), indent=indent)


def _with_seen(view: Seen) -> dict[str, Any]:
    told = {"age_us": view.age_us, "process": view.process.value, "holds": view.holds, "until_us": view.until_us}
    return {**view.document, "seen": told}


def _listed(found: tuple[Served, ...]) -> str:
    """Return the statuses of a list as one line of JSON, including those of processes that are gone."""
    listed_ones = [
        {
            "path": str(each.path),
            "user": None if each.uid is None else user_name(each.uid),
            "problem": each.problem or None,
            "status": each.seen and _with_seen(each.seen),
        }
        for each in found
    ]
    return json.dumps({"format_version": FORMAT_VERSION, "statuses": listed_ones})

"""A progress line for commands that take long, on standard error.

The line appears after a second and is cleared at the end. Nothing is written if standard error is not a terminal, or
can't return to the start of a line. The line has no colours.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from typing import TYPE_CHECKING

from htppower.errors import printable
from htppower.tools.cli.terminal import draw, is_screen

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIRST_S = 1.0
_EACH_S = 0.2
_NO_WIDTH = 80
# The least room for the name. After it come its share or count, and the time.
_LEAST_NAME = 8


class Progress:
    """The present step of a command, and how much of it is done. The methods are cheap."""

    def __init__(self) -> None:
        self._what = ""
        self._done = 0.0
        self._of: float | None = None
        self._unit = ""

    def begin(self, what: str, of: float | None = None, unit: str = "") -> None:
        """Begin a step; ``of`` is how much there is to do, if known. Without a unit the line shows a percentage."""
        self._what, self._done, self._of, self._unit = printable(what), 0.0, of, unit

    def add(self, count: float) -> None:
        """Note that this much more is done."""
        self._done += count

    def at(self, done: float) -> None:
        """Note how much is done in total."""
        self._done = done

    def done_of(self, done: int, of: int) -> None:
        """Note how much is done in total, and how much there is to do."""
        self._done, self._of = done, of

    def line(self, since_s: float, width: int) -> str:
        """Return the line after so many seconds, not longer than the width."""
        told = f"{since_s:.0f} s"
        if self._of and self._unit:
            told = f"{self._done:.0f} of {self._of:.0f} {self._unit}, {told}"
        elif self._of:
            told = f"{min(1.0, self._done / self._of):.0%}, {told}"
        what = self._what
        room = max(_LEAST_NAME, width - len(told) - 2)
        if len(what) > room:
            what = f"{what[: room // 2 - 1]}...{what[len(what) - (room - room // 2 - 2) :]}"
        return f"{what}: {told}"[:width]


@contextlib.contextmanager
def shown_progress() -> Iterator[Progress]:
    """Yield the progress of the body. On a terminal it is drawn until the body ends."""
    progress = Progress()
    if not is_screen(err=True):
        yield progress
        return
    ended = threading.Event()
    drawing = threading.Thread(target=_draw, args=(progress, ended), daemon=True)
    drawing.start()
    try:
        yield progress
    finally:
        ended.set()
        drawing.join()


def _draw(progress: Progress, ended: threading.Event) -> None:
    began_s = time.monotonic()
    drawn = 0
    wait_s = _FIRST_S
    with contextlib.suppress(OSError, ValueError):  # the terminal is gone
        while not ended.wait(wait_s):
            line = progress.line(time.monotonic() - began_s, _width() - 1)
            draw(f"\r{line}{' ' * (drawn - len(line))}", err=True)
            drawn, wait_s = len(line), _EACH_S
        if drawn:
            draw(f"\r{' ' * drawn}\r", err=True)


def _width() -> int:
    """Return the width of standard error's terminal, since the standard output may be a file."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or _NO_WIDTH
    except (AttributeError, OSError, ValueError):
        return _NO_WIDTH


def size_of(path: str) -> int | None:
    """Return how many bytes a file has; None if that is not known."""
    try:
        return os.stat(path).st_size or None
    except (OSError, ValueError):
        return None

"""The terminal of a watched status: drawing in place, keys, scrolling, and restoring the terminal at the end."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

from htppower.tools.cli.terminal import draw, shown
from htppower.tools.report.layout import terminal_height, terminal_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

try:
    import termios
except ImportError:  # Windows
    termios = None  # type: ignore[assignment]

_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_HOME, _TO_LINE_END, _TO_END = "\x1b[H", "\x1b[K", "\x1b[J"
QUIT, REDRAW = "q", "redraw"
_SEQUENCES = {
    "\x1b[A": "up", "\x1bOA": "up", "k": "up", "\x1b[B": "down", "\x1bOB": "down", "j": "down", "\n": "down",
    "\x1b[5~": "page up", "b": "page up", "\x1b[6~": "page down", " ": "page down",
    "\x1b[H": "home", "\x1bOH": "home", "\x1b[1~": "home", "g": "home",
    "\x1b[F": "end", "\x1bOF": "end", "\x1b[4~": "end", "G": "end", "Q": QUIT, "\x0c": REDRAW,
}  # fmt: skip
# The second character from msvcrt.getwch, after "\x00" or "\xe0".
_WINDOWS = {"H": "up", "P": "down", "I": "page up", "Q": "page down", "G": "home", "O": "end"}
_KEY = re.compile(r"\x1b[\[O][0-9;]*[A-Za-z~]|[\s\S]")
_ENDED_BY_SIGTERM = 143


class Screen:
    """The terminal of a watched status. As a context manager it reads keys, and restores the terminal at the end.

    Attributes:
        has_keys: whether there is a keyboard.
    """

    def __init__(self) -> None:
        self.has_keys = False
        self._first = 0
        self._most = 0
        self._page = 1
        self._before: Any = None
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> Screen:  # noqa: PYI034 - Self needs Python 3.11
        stdin = sys.stdin
        self.has_keys = stdin is not None and stdin.isatty() and (termios is not None or os.name == "nt")
        for name, handler in (("SIGTSTP", self._stop), ("SIGTERM", _end)):
            if hasattr(signal, name):
                number = getattr(signal, name)
                self._handlers[number] = signal.signal(number, handler)
        self._take()
        return self

    def __exit__(self, *_error: object) -> None:
        self._give_back()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def keys(self, timeout_s: float) -> Iterator[str]:
        """Yield the names of keys that are pressed within a time. Scroll keys scroll."""
        for key in self._pressed(timeout_s):
            name = _SEQUENCES.get(key, key)
            steps = {"up": -1, "down": 1, "page up": -self._page, "page down": self._page}
            steps |= {"home": -self._most, "end": self._most}
            if name in steps:
                self._first = min(max(0, self._first + steps[name]), self._most)
                name = REDRAW
            yield name

    def show(self, head: Sequence[str], body: Sequence[str], foot: Sequence[str]) -> None:
        """Draw a fixed head, the visible part of the body, and a foot with the position and the keys."""
        height, width = terminal_height(), terminal_width()
        room = max(1, height - len(head) - 1)
        self._page, self._most = max(1, room - 1), max(0, len(body) - room)
        self._first = min(self._first, self._most)
        part = body[self._first : self._first + room]
        where = f"{self._first + 1}-{self._first + len(part)} of {len(body)}" if len(body) > room else ""
        said = ""
        for each in filter(None, (where, *(foot if self.has_keys else ("Ctrl-C quits",)))):
            longer = f"{said}{'  ' if said else ''}{each}"
            said = longer if len(longer) < width else said
        lines = [*map(shown, head), *map(shown, part), said]
        draw(_HOME + "\n".join(f"{line}{_TO_LINE_END}" for line in lines[:height]) + _TO_END)

    def _pressed(self, timeout_s: float) -> list[str]:
        if not self.has_keys:
            time.sleep(timeout_s)
            return []
        if os.name == "nt":
            return _pressed_on_windows(timeout_s)
        stdin = sys.stdin.fileno()
        if not select.select([stdin], [], [], timeout_s)[0]:
            return []
        held = os.read(stdin, 1024)
        # The terminal is gone.
        self.has_keys = bool(held)
        return _KEY.findall(held.decode("utf-8", "replace"))

    def _take(self) -> None:
        if self.has_keys and termios is not None:
            self._before = termios.tcgetattr(sys.stdin)
            own = termios.tcgetattr(sys.stdin)
            # Keys are read one by one and not shown; Ctrl-C and Ctrl-Z still send signals.
            own[3] &= ~(termios.ICANON | termios.ECHO)
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, own)
        draw(_ENTER)

    def _give_back(self) -> None:
        # A closed terminal can't be restored.
        with contextlib.suppress(OSError):
            draw(_LEAVE)
        if self._before is not None:
            with contextlib.suppress(OSError, termios.error):
                termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._before)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        """Stop like Ctrl-Z, and go on here when the shell continues the process."""
        self._give_back()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._take()


def _end(_number: int, _frame: FrameType | None) -> None:
    """End as by SIGTERM, after restoring the terminal."""
    sys.exit(_ENDED_BY_SIGTERM)


def _pressed_on_windows(timeout_s: float) -> list[str]:
    import msvcrt  # noqa: PLC0415 - only on Windows

    end_s = time.monotonic() + timeout_s
    keys: list[str] = []
    while not keys and time.monotonic() < end_s:
        while msvcrt.kbhit():  # type: ignore[attr-defined]
            key = msvcrt.getwch()  # type: ignore[attr-defined]
            keys.append(_WINDOWS.get(msvcrt.getwch(), "") if key in "\x00\xe0" else key)  # type: ignore[attr-defined]
        time.sleep(0.02)
    return keys

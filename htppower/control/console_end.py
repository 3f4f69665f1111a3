"""The ends that a console of Windows announces: Ctrl-Break, a closed window, a shutdown."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# The numbers of the events, from Windows' headers. Python handles Ctrl-C, 0. Services receive a logoff, 5, for each
# user, and must not end then.
CTRL_BREAK, CLOSED, SHUTDOWN = 1, 2, 6


class ConsoleEnd:
    """Calls a function when the console ends the process, on a thread that Windows makes for it.

    Windows ends the process when the function returns, or 5 s after a window was closed. The handler stays
    until the process ends, since removing it while it runs is not safe.

    Args:
        ends: the function.
    """

    def __init__(self, ends: Callable[[], None]) -> None:
        self._ends = ends
        self._handler: Any = None

    def begin(self) -> None:
        """Begin; on other systems do nothing."""
        if sys.platform == "win32" and self._handler is None:
            import ctypes  # noqa: PLC0415 - only Windows needs it

            self._handler = ctypes.WINFUNCTYPE(ctypes.c_int, ctypes.c_uint32)(self.handle)
            ctypes.WinDLL("kernel32").SetConsoleCtrlHandler(self._handler, 1)

    def handle(self, event: int) -> int:
        """Handle an event of the console; return 0, so that the next handler gets it, too."""
        is_hosts = event == CTRL_BREAK and signal.getsignal(getattr(signal, "SIGBREAK", event)) != signal.SIG_DFL
        if event in (CTRL_BREAK, CLOSED, SHUTDOWN) and not is_hosts:
            self._ends()
        return 0

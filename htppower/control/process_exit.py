"""The ends of a process: interpreter exit and SIGTERM close a controller, a fork disowns it in the child.

SIGKILL is the driver's to clean up: it removes the votes of a process that is gone.
"""

from __future__ import annotations

import _thread
import atexit
import logging
import os
import signal
import threading
import time
import weakref
from typing import TYPE_CHECKING

from htppower.backends.forks import call_in_forked_children
from htppower.errors import CloseTimedOut, HtpPowerError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_LOGGER = logging.getLogger("htppower")

# How long a process waits at its end for native calls, for each controller: shorter than the 10 s and more after which
# supervisors kill it (Docker 10 s, Kubernetes 30 s, systemd 90 s), so that the log still says which call hangs.
EXIT_TIMEOUT_S = 5.0
# Two signals no further apart than this are one.
TOGETHER_S = 2.0


class ProcessExit:
    """Binds a controller to its process, from ``begin`` until ``end``.

    Args:
        close: lowers and destroys everything within a time in seconds; called at interpreter exit.
        end_process: likewise, on SIGTERM.
        disown: forgets everything without a native call; called in a forked child.
    """

    def __init__(
        self,
        close: Callable[[float], None],
        end_process: Callable[[float], None],
        disown: Callable[[], None],
    ) -> None:
        self._close = close
        self._disown = disown
        self.end_process = end_process

    def begin(self, *, handle_sigterm: bool) -> None:
        """Bind; on SIGTERM, too, if asked for and where the process has no handler of its own."""
        atexit.register(self._close_at_exit)
        call_in_forked_children(ProcessExit._forked, self)
        if handle_sigterm:
            SigtermHandler.add(self)

    def end(self) -> None:
        """Unbind: the controller is closed."""
        atexit.unregister(self._close_at_exit)

    def _close_at_exit(self) -> None:
        # What failed is logged; raised here, it would only be printed with a traceback.
        try:
            self._close(EXIT_TIMEOUT_S)
        except CloseTimedOut as error:
            _LOGGER.error("votes may stay up: %s", error)  # noqa: TRY400 - the frames say nothing of the call
        except HtpPowerError:
            pass

    def _forked(self) -> None:
        self._disown()


class SigtermHandler:
    """The process's SIGTERM handler: closes every controller, then lets the process die of the signal.

    It works on a thread of its own, since the main thread, in which Python runs signal handlers, may hold a lock that
    closing needs; and with ``_thread``, since ``threading`` has such locks itself.
    """

    def __init__(self) -> None:
        # Replaced, and never changed, since the thread that ends the process goes through it.
        self._bound: tuple[weakref.ref[ProcessExit], ...] = ()

    @classmethod
    def add(cls, bound: ProcessExit) -> None:
        """Close its controller, too, on SIGTERM; a handler of the process's own is left as it is."""
        if threading.current_thread() is not threading.main_thread():
            return
        handler = signal.getsignal(signal.SIGTERM)
        if handler is signal.SIG_DFL:
            handler = cls()
            try:
                signal.signal(signal.SIGTERM, handler)
            except ValueError:
                # A subinterpreter: only the main one has signals.
                return
        if isinstance(handler, cls):
            handler._bound = (*(other for other in handler._bound if other() is not None), weakref.ref(bound))

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        """Handle the signal; another one kills at once, unless it comes with it."""
        # A supervisor that ends a whole group, and a wrapper that passes signals on, send the same one twice. A handler
        # that does nothing, and not SIG_IGN, which processes that are started meanwhile would inherit.
        signal.signal(number, signal.SIG_DFL if os.name == "nt" else _do_nothing)
        try:
            _thread.start_new_thread(self._end, (number,))
            if os.name != "nt":
                _thread.start_new_thread(_handle_by_default, (number, TOGETHER_S))
        except RuntimeError:
            # No thread can be started, as at the very end of a process: the controllers are closed at exit.
            signal.signal(number, signal.SIG_DFL)
            raise SystemExit(128 + number) from None

    def _end(self, number: int) -> None:
        try:
            for reference in self._bound:
                bound = reference()
                if bound is None:
                    continue
                try:
                    bound.end_process(EXIT_TIMEOUT_S)
                except CloseTimedOut as error:
                    _LOGGER.error("votes may stay up: %s", error)  # noqa: TRY400 - the frames say nothing of the call
                except Exception:
                    # It must not keep the others from being closed.
                    _LOGGER.exception("closing on signal %d", number)
        finally:
            if os.name != "nt":
                _handle_by_default(number, 0)
            os.kill(os.getpid(), number)


def _do_nothing(_number: int, _frame: FrameType | None) -> None:
    """Handle a signal that comes together with the first."""


def _end_by_sigterm() -> None:
    """In a child that was forked while the parent is being ended: nobody else gives the signal back to the system."""
    if signal.getsignal(signal.SIGTERM) is _do_nothing:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_end_by_sigterm)


def _handle_by_default(number: int, after_s: float) -> None:
    """Give a signal back to the system; Python can do that in its main thread only, which may be waiting for a lock."""
    time.sleep(after_s)
    import ctypes  # noqa: PLC0415 - at the end of a process only

    c_signal = ctypes.CDLL(None).signal
    c_signal.argtypes, c_signal.restype = (ctypes.c_int, ctypes.c_void_p), ctypes.c_void_p
    c_signal(number, None)

"""The ends of a process: interpreter exit, SIGTERM, SIGHUP and a console of Windows close the controllers.

A forked child forgets them.

After SIGKILL the driver removes the votes of the process.

The signal handler here replaces only the default action. A handler of the host stays, and an ignored signal stays
ignored. But a host may restore the default action later: a server that has shut down often does, and raises the signal
again, which would kill the process with its votes up. So while a controller is open, ``signal.signal`` is replaced by a
function that sets this handler instead of the default action. Other packages replace ``signal.signal``, too, and
restore what they found, in any order. So this module sets its handler by the C function ``_signal.signal``, and each
new controller replaces ``signal.signal`` again if necessary.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # the C part of signal; typeshed does not have it
import _thread
import atexit
import contextlib
import functools
import logging
import os
import signal
import threading
import time
import warnings
import weakref
from typing import TYPE_CHECKING, Any

import attrs

from htppower.backends.forks import call_in_forked_children
from htppower.backends.whole_lock import whole_lock
from htppower.control.console_end import ConsoleEnd
from htppower.errors import CloseTimedOut, HtpPowerError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_LOGGER = logging.getLogger("htppower")

SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
# How long an ending process waits for native calls, for each controller. Supervisors kill the process later than that
# (Docker after 10 s, Kubernetes after 30 s, systemd after 90 s), so the log still names the call that hangs.
EXIT_TIMEOUT_S = 5.0
# Two signals within this time count as one.
TOGETHER_S = 2.0
# Shells show 128 + N as the exit code of a process that was killed by signal N.
_SIGNALED = 128
_NOT_TAKEN = (
    "SIGTERM will kill this process with its votes up: Python handles signals in the main thread only. Make the"
    " controller there, or close it yourself before the process ends and pass handle_sigterm=False"
)


class Termination:
    """The signal handler for all controllers of the process.

    It closes them on a thread: Python runs signal handlers in the main thread, which may hold a lock that the close
    needs. Starting a thread by ``threading`` takes such a lock, so ``_thread`` starts it.
    """

    def __init__(self) -> None:
        self._bound: dict[int, weakref.ref[ProcessExit]] = {}
        # Held while controllers are added and removed. The handler never takes it.
        self._lock = whole_lock()
        # The function that replaces ``signal.signal`` now, and all functions that have replaced it so far.
        self._replacement: Any = None
        self._made: weakref.WeakSet[Any] = weakref.WeakSet()
        # Whether a thread is closing the controllers; whether they are being closed at exit; the signal that must end
        # the process after that, or 0.
        self._ending = self._exiting = False
        self._put_off = 0
        self._console = ConsoleEnd(self._close_each)

    def add(self, bound: ProcessExit) -> bool:
        """Add a controller; return False if the default action of SIGTERM can't be replaced.

        It can't outside the main thread, in a subinterpreter, and if a C function handles the signal.
        """
        with self._lock:
            self._bound[id(bound)] = weakref.ref(bound)
            self._begin()
            taken = [self._take(number) for number in SIGNALS]
        return taken[0]

    def remove(self, bound: ProcessExit) -> None:
        """Remove a controller; if it was the last, restore the default actions."""
        with self._lock:
            self._bound.pop(id(bound), None)
            if not self._ending and not self._put_off and not self._all():
                self._end()

    def exit_begins(self) -> None:
        """Record that the controllers are being closed at interpreter exit."""
        self._exiting = True

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        """Handle a signal. A second signal within 2 s is ignored; a later one kills the process at once."""
        if self._ending or (self._put_off and self._exiting):
            return
        if self._put_off or not self._all():
            _signal.signal(number, _signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        self._ending = True
        try:
            _thread.start_new_thread(self._close_all, (number,))
        except RuntimeError:
            # The interpreter is exiting, and starts no thread. The exit closes the controllers, and must not be
            # interrupted; after the exit has closed them, the signal ends the process.
            self._ending, self._put_off = False, number
            if not self._exiting:
                raise SystemExit(_SIGNALED + number) from None
            return
        # The same signal may come twice: from a supervisor that ends the whole process group, and from a wrapper that
        # forwards it.
        with contextlib.suppress(RuntimeError):
            _thread.start_new_thread(self._give_back_later, ())

    def _all(self) -> list[ProcessExit]:
        # Copying into a list happens in one step, also on a free-threaded CPython.
        return [bound for reference in list(self._bound.values()) if (bound := reference()) is not None]

    def _take(self, number: int) -> bool:
        handler = signal.getsignal(number)
        if handler != signal.SIG_DFL:
            return handler is not None
        try:
            _signal.signal(number, self)
        except ValueError:
            return False
        return True

    def _begin(self) -> None:
        before: Any = signal.signal
        if before is self._replacement:
            return
        # Another package may have restored an older replacement of ours, which must then do nothing.
        while before in self._made:
            before = before.__wrapped__

        @functools.wraps(before)
        def replacement(signalnum: int, handler: Any) -> Any:
            default = signalnum in SIGNALS and handler == signal.SIG_DFL
            return before(signalnum, self if default and (self._ending or self._all()) else handler)

        if self._replacement is None:
            # At exit the function that was registered first runs last, after the controllers are closed.
            atexit.register(self._die)
            self._console.begin()
        self._made.add(replacement)
        signal.signal = replacement
        self._replacement = replacement

    def _end(self) -> None:
        atexit.unregister(self._die)
        # A package that has replaced ``signal.signal`` later still calls this replacement, which only passes calls on.
        if signal.signal is self._replacement:
            signal.signal = self._replacement.__wrapped__  # type: ignore[attr-defined]
        for number in SIGNALS:
            handler: object = signal.getsignal(number)
            if handler is self and threading.current_thread() is threading.main_thread():
                _signal.signal(number, _signal.SIG_DFL)
        self._replacement = None

    def _close_all(self, number: int) -> None:
        try:
            self._close_each()
        finally:
            _die_of(number)

    def _close_each(self) -> None:
        for bound in self._all():
            _close(bound.end_process)

    def _give_back_later(self) -> None:
        time.sleep(TOGETHER_S)
        for number in SIGNALS:
            if signal.getsignal(number) is self:
                _give_back(number)

    def _die(self) -> None:
        """At exit, wait for the thread that ends the process.

        If no thread does and a signal is pending, end the process here.
        """
        while self._ending:
            time.sleep(1)
        if self._put_off:
            _die_of(self._put_off)

    def _forked(self) -> None:
        """In a forked child: forget the controllers, and restore the default actions."""
        self._lock = whole_lock()
        self._bound, self._ending, self._put_off, self._exiting = {}, False, 0, False
        if self._replacement is not None:
            self._end()


def _close(close: Callable[[float], None]) -> None:
    """Close a controller as the process ends; raise no error, since the other controllers must be closed, too."""
    try:
        close(EXIT_TIMEOUT_S)
    except CloseTimedOut as error:
        _LOGGER.error("votes may stay up: %s", error)  # noqa: TRY400 - the frames do not show the call
    except HtpPowerError:
        # A failed call is already logged.
        pass
    except Exception:
        _LOGGER.exception("a controller can't be closed at the end of the process")


def _die_of(number: int) -> None:
    _give_back(number)
    os.kill(os.getpid(), number)
    # The kernel does not let this signal kill the first process of a container, so exit instead.
    os._exit(_SIGNALED + number)


def _give_back(number: int) -> None:
    """Restore the default action in C: Python restores it only in the main thread, which may be waiting for a lock."""
    if os.name == "nt":
        return
    import ctypes  # noqa: PLC0415 - only needed at the end of a process

    c_signal = ctypes.CDLL(None).signal
    c_signal.argtypes, c_signal.restype = (ctypes.c_int, ctypes.c_void_p), ctypes.c_void_p
    c_signal(number, None)


# This is module state, since signal handlers belong to the process.
TERMINATION = Termination()
call_in_forked_children(Termination._forked, TERMINATION)  # noqa: SLF001


@attrs.define(eq=False, repr=False)
class ProcessExit:
    """Binds a controller to its process, from ``begin`` until ``end``.

    Args:
        close: closes the controller within a timeout in seconds; called at interpreter exit.
        end_process: does the same; called on SIGTERM and SIGHUP.
        disown: drops all resources without a native call; called in a forked child.
    """

    _close: Callable[[float], None]
    end_process: Callable[[float], None]
    _disown: Callable[[], None]

    def begin(self, *, handle_sigterm: bool) -> None:
        """Bind the controller; if SIGTERM should be handled and can't be, warn the caller that makes the controller."""
        taken = not handle_sigterm or TERMINATION.add(self)
        atexit.register(self._close_at_exit)
        call_in_forked_children(ProcessExit._forked, self)
        if not taken and os.name != "nt":
            # The warning comes last, since a filter may turn it into an error.
            warnings.warn(_NOT_TAKEN, RuntimeWarning, stacklevel=4)

    def end(self) -> None:
        """Unbind the controller, which is closed."""
        atexit.unregister(self._close_at_exit)
        TERMINATION.remove(self)

    def _close_at_exit(self) -> None:
        TERMINATION.exit_begins()
        _close(self._close)

    def _forked(self) -> None:
        self._disown()

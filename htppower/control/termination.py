"""The ends of a process: interpreter exit, SIGTERM and SIGHUP close the controllers, a fork disowns them in the child.

After SIGKILL the driver removes the votes of the process.

The handler of the signals replaces only the default action: a handler of the host's own is left alone, and so is a
signal that is ignored. A host may come to the default action later: a server that has shut down gives the signal back
to the system and raises it again, which would kill the process with its votes up. So while a controller is open,
``signal.signal`` is replaced by a function that sets the handler if it is told to set the default action of these
signals. Other packages replace that function, too, and put back what they found, in any order. So the handler itself is
set by the C function beneath (``_signal``), and each new controller replaces ``signal.signal`` again if it has to.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # signal's own part in C, of which typeshed does not know
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
from htppower.errors import CloseTimedOut, HtpPowerError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_LOGGER = logging.getLogger("htppower")

SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
# How long an ending process waits for native calls, for each controller. Supervisors kill it later (Docker after 10 s,
# Kubernetes after 30 s, systemd after 90 s), so the log still says which call hangs.
EXIT_TIMEOUT_S = 5.0
# Two signals no further apart than this are one.
TOGETHER_S = 2.0
# The exit code of a process that died of signal N is 128 + N, as shells say it.
_SIGNALED = 128
_NOT_TAKEN = (
    "SIGTERM will kill this process with its votes up: Python takes a signal in the main thread only. Make the"
    " controller there, or close it yourself before the process ends and say so by handle_sigterm=False"
)


class Termination:
    """The handler of the signals, for all controllers of the process.

    It closes them on a thread: Python runs signal handlers in the main thread, which may hold a lock that closing
    needs. ``threading`` has such locks itself, so the thread is started by ``_thread``.
    """

    def __init__(self) -> None:
        self._bound: dict[int, weakref.ref[ProcessExit]] = {}
        # Taken to add and remove controllers, never by the handler.
        self._lock = whole_lock()
        # The function that replaces signal.signal, and all replacements so far.
        self._replacement: Any = None
        self._made: weakref.WeakSet[Any] = weakref.WeakSet()
        # Whether a thread is closing the controllers, and whether they are being closed at exit; the signal of which
        # the process is to die after that, or 0.
        self._ending = self._exiting = False
        self._put_off = 0

    def add(self, bound: ProcessExit) -> bool:
        """Close this, too, from now on; return False if the default action of SIGTERM can't be replaced.

        That is so outside the main thread, in a subinterpreter, and if the handler is not Python's.
        """
        with self._lock:
            self._bound[id(bound)] = weakref.ref(bound)
            self._begin()
            taken = [self._take(number) for number in SIGNALS]
        return taken[0]

    def remove(self, bound: ProcessExit) -> None:
        """Leave this alone; give the signals back to the system if it was the last."""
        with self._lock:
            self._bound.pop(id(bound), None)
            if not self._ending and not self._put_off and not self._all():
                self._end()

    def exit_begins(self) -> None:
        """Note that the controllers are being closed at interpreter exit."""
        self._exiting = True

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        """Handle a signal. Another signal together with it changes nothing; a later one kills at once."""
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
            # The interpreter has begun to exit, and starts no thread. The exit closes the controllers, and must not be
            # interrupted; after that the process dies of the signal.
            self._ending, self._put_off = False, number
            if not self._exiting:
                raise SystemExit(_SIGNALED + number) from None
            return
        # A supervisor that ends a whole group, and a wrapper that passes signals on, send the same signal twice.
        with contextlib.suppress(RuntimeError):
            _thread.start_new_thread(self._give_back_later, ())

    def _all(self) -> list[ProcessExit]:
        # Making a list is one step, also without the interpreter's lock.
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
        # Another package may have put back one of these, which has ended since.
        while before in self._made:
            before = before.__wrapped__

        @functools.wraps(before)
        def replacement(signalnum: int, handler: Any) -> Any:
            default = signalnum in SIGNALS and handler == signal.SIG_DFL
            return before(signalnum, self if default and (self._ending or self._all()) else handler)

        if self._replacement is None:
            # The first function to be registered runs last at exit: the controllers are closed by then.
            atexit.register(self._die)
        self._made.add(replacement)
        signal.signal = replacement
        self._replacement = replacement

    def _end(self) -> None:
        atexit.unregister(self._die)
        # A package that has replaced the function since keeps calling this one, which does nothing of its own any more.
        if signal.signal is self._replacement:
            signal.signal = self._replacement.__wrapped__  # type: ignore[attr-defined]
        for number in SIGNALS:
            handler: object = signal.getsignal(number)
            if handler is self and threading.current_thread() is threading.main_thread():
                _signal.signal(number, _signal.SIG_DFL)
        self._replacement = None

    def _close_all(self, number: int) -> None:
        try:
            for bound in self._all():
                _close(bound.end_process)
        finally:
            _die_of(number)

    def _give_back_later(self) -> None:
        time.sleep(TOGETHER_S)
        for number in SIGNALS:
            if signal.getsignal(number) is self:
                _give_back(number)

    def _die(self) -> None:
        """At exit: wait for the thread that closes the controllers and ends the process, or end it without one."""
        while self._ending:
            time.sleep(1)
        if self._put_off:
            _die_of(self._put_off)

    def _forked(self) -> None:
        """In a forked child: it has no controllers, and dies of the signals by default."""
        self._lock = whole_lock()
        self._bound, self._ending, self._put_off, self._exiting = {}, False, 0, False
        if self._replacement is not None:
            self._end()


def _close(close: Callable[[float], None]) -> None:
    """Close a controller as the process ends, and raise nothing: the others are closed all the same."""
    try:
        close(EXIT_TIMEOUT_S)
    except CloseTimedOut as error:
        _LOGGER.error("votes may stay up: %s", error)  # noqa: TRY400 - the frames say nothing of the call
    except HtpPowerError:
        # A failed call is logged where it fails.
        pass
    except Exception:
        _LOGGER.exception("a controller can't be closed at the end of the process")


def _die_of(number: int) -> None:
    """End the process by a signal."""
    _give_back(number)
    os.kill(os.getpid(), number)
    # The kernel spares the first process of a container.
    os._exit(_SIGNALED + number)


def _give_back(number: int) -> None:
    """Give a signal back to the system. Python can do so in the main thread only, which may be waiting for a lock."""
    if os.name == "nt":
        return
    import ctypes  # noqa: PLC0415 - at the end of a process only

    c_signal = ctypes.CDLL(None).signal
    c_signal.argtypes, c_signal.restype = (ctypes.c_int, ctypes.c_void_p), ctypes.c_void_p
    c_signal(number, None)


# State of the module, since handlers are the process's.
TERMINATION = Termination()
call_in_forked_children(Termination._forked, TERMINATION)  # noqa: SLF001


@attrs.define(eq=False, repr=False)
class ProcessExit:
    """Binds a controller to its process, from ``begin`` until ``end``.

    Args:
        close: closes it within a time in seconds; called at interpreter exit.
        end_process: likewise, on SIGTERM and SIGHUP.
        disown: forgets everything without a native call; called in a forked child.
    """

    _close: Callable[[float], None]
    end_process: Callable[[float], None]
    _disown: Callable[[], None]

    def begin(self, *, handle_sigterm: bool) -> None:
        """Bind; warn the caller that makes the controller if SIGTERM can't be handled and should be."""
        taken = not handle_sigterm or TERMINATION.add(self)
        atexit.register(self._close_at_exit)
        call_in_forked_children(ProcessExit._forked, self)
        if not taken and os.name != "nt":
            # Last: a filter may turn warnings into errors.
            warnings.warn(_NOT_TAKEN, RuntimeWarning, stacklevel=4)

    def end(self) -> None:
        """Unbind: the controller is closed."""
        atexit.unregister(self._close_at_exit)
        TERMINATION.remove(self)

    def _close_at_exit(self) -> None:
        TERMINATION.exit_begins()
        _close(self._close)

    def _forked(self) -> None:
        self._disown()

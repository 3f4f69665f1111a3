"""The ends of a process: interpreter exit, SIGTERM and SIGHUP close a controller, a fork disowns it in the child.

SIGKILL is the driver's to clean up: it removes the votes of a process that is gone.
"""

from __future__ import annotations

import atexit
import logging
import os
import warnings
from typing import TYPE_CHECKING

from htppower.backends.forks import call_in_forked_children
from htppower.control import termination
from htppower.errors import CloseTimedOut, HtpPowerError

if TYPE_CHECKING:
    from collections.abc import Callable

_LOGGER = logging.getLogger("htppower")

_NOT_TAKEN = (
    "SIGTERM will kill this process with its votes up: Python takes a signal in the main thread only. Make the"
    " controller there, or close it yourself before the process ends and say so by handle_sigterm=False"
)


class ProcessExit:
    """Binds a controller to its process, from ``begin`` until ``end``.

    Args:
        close: lowers and destroys everything within a time in seconds; called at interpreter exit.
        end_process: likewise, on SIGTERM and SIGHUP.
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
        """Bind, and warn whoever makes the controller where SIGTERM should be handled and can't be."""
        taken = not handle_sigterm or termination.TERMINATION.add(self)
        atexit.register(self._close_at_exit)
        call_in_forked_children(ProcessExit._forked, self)
        if not taken and os.name != "nt":
            # Last, since a filter of warnings may make an error of it.
            warnings.warn(_NOT_TAKEN, RuntimeWarning, stacklevel=4)

    def end(self) -> None:
        """Unbind: the controller is closed."""
        atexit.unregister(self._close_at_exit)
        termination.TERMINATION.remove(self)

    def _close_at_exit(self) -> None:
        termination.TERMINATION.exit_begins()
        # What failed is logged; raised here, it would only be printed with a traceback.
        try:
            self._close(termination.EXIT_TIMEOUT_S)
        except CloseTimedOut as error:
            _LOGGER.error("votes may stay up: %s", error)  # noqa: TRY400 - the frames say nothing of the call
        except HtpPowerError:
            pass

    def _forked(self) -> None:
        self._disown()

"""Interrupts: an exception from outside, such as Ctrl-C, may come between any two steps of a change.

A change of a gate, a claim or a plan is followed by settling its sessions. So it is made by ``run_watched``: where an
exception passes, they are settled on another thread. Settling compares what should be with what is, so it does not
matter how far the change had come. What an interrupted call has done, ``NativeCalls`` notes.

A handler of such an exception first posts what makes up for it, by one call of a function in C with an action that is
ready: another exception comes before that handler begins, or once it is posted. Whatever else the handler does is only
sooner. What is posted, and what an alarm runs, is run again where an exception from outside comes in it.
"""

from __future__ import annotations

import functools
import signal
from typing import TYPE_CHECKING, Any, TypeVar

from htppower.errors import HtpPowerError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

_T = TypeVar("_T")


def is_from_outside(error: BaseException) -> bool:
    """Return whether a signal handler of the host's, such as a time limit, has raised an error.

    So has ``PyThreadState_SetAsyncExc``, where the error has passed no function below the one that handles it. What a
    function in C raises has passed none either, but says what it is about: that one is given a class, and no words.
    """
    below = error.__traceback__ and error.__traceback__.tb_next
    if below is None:
        return not error.args
    handlers = {_code(signal.getsignal(number)) for number in signal.valid_signals()}
    while below is not None:
        if below.tb_frame.f_code in handlers:
            return True
        below = below.tb_next
    return False


def _code(handler: Any) -> CodeType | None:
    """Return the code that runs as a signal is handled; None for what is no function of Python."""
    while isinstance(handler, functools.partial):
        handler = handler.func
    if callable(handler) and not hasattr(handler, "__code__"):
        handler = type(handler).__call__
    return getattr(handler, "__code__", None)


def run_watched(action: Callable[[], _T], make_up_soon: Callable[[], object]) -> _T:
    """Run an action, and return what it returns.

    Args:
        action: what may be interrupted.
        make_up_soon: called where an exception passes that is none of ours: a partial of ``Time.call_soon``.
    """
    try:
        return action()
    except HtpPowerError:
        raise
    except BaseException:
        make_up_soon()
        raise

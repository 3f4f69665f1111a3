"""Exceptions that come from outside, in the middle of what else may raise one."""

from __future__ import annotations

import signal


def is_from_outside(error: BaseException) -> bool:
    """Return whether a signal handler of the host's, such as a time limit, has raised an error.

    So has ``PyThreadState_SetAsyncExc``, where the error has passed no function below the one that handles it.
    """
    below = error.__traceback__ and error.__traceback__.tb_next
    if below is None:
        return True
    handlers = {getattr(signal.getsignal(number), "__code__", None) for number in signal.valid_signals()}
    while below is not None:
        if below.tb_frame.f_code in handlers:
            return True
        below = below.tb_next
    return False

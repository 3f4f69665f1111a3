"""The vendor's log lines, handed to the logger ``htppower.qnn`` with their level.

The callback stays in memory for the life of the process: the library is shared with whoever else uses it, and which of
its lines go to which log is its own affair.
"""

from __future__ import annotations

import _thread
import ctypes
import functools
import logging
import sys
from typing import Any

from htppower.backends.qnn.abi import LogCallback

LOGGER = logging.getLogger("htppower.qnn")
LOGGER.addHandler(logging.NullHandler())

_LONGEST_LINE = 4096

# QnnLog_Level_t, most urgent first, and the level of each in Python. VERBOSE comes before DEBUG there.
_LEVELS = {1: logging.ERROR, 2: logging.WARNING, 3: logging.INFO, 4: logging.DEBUG, 5: logging.DEBUG // 2}
_ERROR = 1


def wanted_level() -> int:
    """Return the vendor's level that shows what the logger is enabled for, now; at least its errors.

    Errors that the library has no log for, it prints on the standard output.
    """
    effective = LOGGER.getEffectiveLevel()
    return max((level for level, python in _LEVELS.items() if python >= effective), default=_ERROR)


@functools.cache
def log_callback() -> Any:
    """Return the callback for logCreate: one for the process.

    Ctrl-C that Python takes in while it enters the callback is lost: C code can't pass an exception on.
    """
    vsnprintf = _vsnprintf()

    def line(form: bytes, level: int, _timestamp: int, arguments: int) -> None:
        try:
            python_level = _LEVELS.get(level, logging.DEBUG)
            if LOGGER.isEnabledFor(python_level):
                buffer = ctypes.create_string_buffer(_LONGEST_LINE)
                vsnprintf(buffer, _LONGEST_LINE, form, arguments)
                LOGGER.log(python_level, "%s", _text(buffer.value))
        except KeyboardInterrupt:
            # C code can't pass an exception on. Another thread, which gets to run once this one is back in C, raises it
            # again in the main thread.
            _thread.start_new_thread(_thread.interrupt_main, ())

    callback = LogCallback(line)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(callback))
    return callback


def _vsnprintf() -> Any:
    # A va_list is passed on as a pointer, which is how these ABIs pass one: x86-64 and AArch64 of System V, Windows.
    function = ctypes.CDLL("msvcrt")._vsnprintf if sys.platform == "win32" else ctypes.CDLL(None).vsnprintf  # noqa: SLF001
    function.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_void_p)
    return function


def _text(line: bytes) -> str:
    """Return a line without its end and the mark of its level, such as `` <V> ``."""
    text = line.decode("utf-8", "replace").strip()
    return text[4:] if text[:1] == "<" and text[2:4] == "> " else text

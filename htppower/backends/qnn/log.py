"""The vendor's log lines, handed to the logger ``htppower.qnn`` with their level.

The callback stays in memory for the life of the process: other users share the library, and it may send lines of
theirs to this log.
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

# Python's level for each QnnLog_Level_t, most urgent first; VERBOSE (4) is more urgent than DEBUG (5).
_LEVELS = {1: logging.ERROR, 2: logging.WARNING, 3: logging.INFO, 4: logging.DEBUG, 5: logging.DEBUG // 2}
_ERROR = 1
# Options of ucrtbase.dll: a line that is cut ends with a 0, and numbers are rounded as in C99.
_AS_IN_C99 = 0x26


def wanted_level() -> int:
    """Return the vendor's level that fits the logger's current level; at least the level of errors.

    Without a log, the library prints errors on the standard output.
    """
    effective = LOGGER.getEffectiveLevel()
    return max((level for level, python in _LEVELS.items() if python >= effective), default=_ERROR)


@functools.cache
def log_callback() -> Any:
    """Return the callback for logCreate, the same for the whole process.

    A Ctrl-C is lost if Python notices it while it enters the callback: C code can't pass an exception on.
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
            # Another thread raises it again in the main thread, once this one is back in C.
            _thread.start_new_thread(_thread.interrupt_main, ())

    callback = LogCallback(line)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(callback))
    return callback


def _vsnprintf() -> Any:
    # A va_list is passed as a pointer by these ABIs: System V on x86-64 and AArch64, and Windows.
    arguments = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_void_p)
    if sys.platform != "win32":
        function = ctypes.CDLL(None).vsnprintf
        function.argtypes = arguments
        return function
    # vsnprintf is inline in the headers of Windows, and calls this. msvcrt.dll has it, too, but knows no %zu, which the
    # vendor's library prints.
    common = ctypes.CDLL("ucrtbase")["__stdio_common_vsprintf"]
    common.argtypes = (ctypes.c_uint64, *arguments[:3], ctypes.c_void_p, arguments[3])
    return lambda buffer, size, form, given: common(_AS_IN_C99, buffer, size, form, None, given)


def _text(line: bytes) -> str:
    """Return a line without its line end and without the mark of its level, such as `` <V> ``."""
    text = line.decode("utf-8", "replace").strip()
    return text[4:] if text[:1] == "<" and text[2:4] == "> " else text

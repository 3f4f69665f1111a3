"""Whether a process of Windows runs, and when it was started."""

from __future__ import annotations

import sys

# Whether this is Windows, so that ``started`` can be called.
KNOWN = sys.platform == "win32"

_QUERY_LIMITED_INFORMATION, _SYNCHRONIZE = 0x1000, 0x0010_0000
_INVALID_PARAMETER = 87
_TIMED_OUT = 0x102


def started(pid: int) -> int | None:
    """Return when a process was started, in units of 100 ns since 1601; None if that can't be read.

    Raises:
        ProcessLookupError: the process has ended, or never existed.
    """
    import ctypes  # noqa: PLC0415 - only Windows needs it

    kernel = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined,unused-ignore]
    kernel.OpenProcess.restype = ctypes.c_void_p
    handle = kernel.OpenProcess(_QUERY_LIMITED_INFORMATION | _SYNCHRONIZE, 0, pid & 0xFFFF_FFFF)
    if not handle:
        if ctypes.get_last_error() == _INVALID_PARAMETER:  # type: ignore[attr-defined,unused-ignore]
            raise ProcessLookupError(pid)
        return None
    handle = ctypes.c_void_p(handle)
    try:
        # An ended process is kept as long as another process has a handle of it.
        if kernel.WaitForSingleObject(handle, 0) != _TIMED_OUT:
            raise ProcessLookupError(pid)
        times = [ctypes.c_uint64() for _ in range(4)]
        known = kernel.GetProcessTimes(handle, *map(ctypes.byref, times))
        return times[0].value if known else None
    finally:
        kernel.CloseHandle(handle)

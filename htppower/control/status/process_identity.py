"""Whether the process that wrote a file still runs.

The pid alone is not enough, since a later process may have the same pid.
"""

from __future__ import annotations

import enum
import os
from pathlib import Path

from htppower.control.status import windows_processes

# The fields of /proc/PID/stat after the state, see proc(5). A zombie has no votes any more, so it counts as gone.
_START_TIME = 18
_ENDED = frozenset("ZXx")


class Life(str, enum.Enum):
    """Whether a process still runs, as far as this can be found out."""

    RUNNING = "running"
    GONE = "gone"
    ELSEWHERE = "elsewhere"
    UNKNOWN = "unknown"

    __str__ = str.__str__


def place() -> str | None:
    """Return the boot and the pid namespace of this process; None if the system does not provide them.

    Windows has neither: a process of an earlier boot is told by its start.
    """
    if windows_processes.KNOWN:
        return "windows"
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 - the link is not a path
    except OSError:
        return None


def started(pid: int) -> int | None:
    """Return when a process of this place was started; None if that can't be read.

    It is in the kernel's ticks since boot, and on Windows in units of 100 ns since 1601.

    Raises:
        ProcessLookupError: the process has ended, or never existed.
    """
    if windows_processes.KNOWN:
        return windows_processes.started(pid)
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        # The system may have no /proc, or hide the processes of other users in it.
        _require_signals(pid)
        return None
    # The name of the process is in parentheses, and may contain parentheses and spaces itself.
    state, *fields = text.rpartition(")")[2].split()
    if state in _ENDED:
        raise ProcessLookupError(pid)
    return int(fields[_START_TIME])


def life(pid: int, started_ticks: int | None, its_place: str | None) -> Life:
    """Return whether the process with this pid, start and place still runs."""
    if its_place != place():
        return Life.ELSEWHERE
    try:
        now_ticks = started(pid)
    except ProcessLookupError:
        return Life.GONE
    if now_ticks is None:
        return Life.UNKNOWN
    return Life.RUNNING if now_ticks == started_ticks else Life.GONE


def _require_signals(pid: int) -> None:
    """Raise ProcessLookupError if a signal shows that the process does not exist."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        pass
    except OverflowError:
        raise ProcessLookupError(pid) from None

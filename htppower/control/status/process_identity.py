"""Which process a file is of, and whether it still runs: a pid alone may be another process's by now."""

from __future__ import annotations

import enum
import os
from pathlib import Path

# Of the fields that follow the state in /proc/PID/stat, see proc(5): starttime. A zombie casts no vote any more.
_STARTED = 18
_ENDED = frozenset("ZXx")


class Life(str, enum.Enum):
    """What is known of a process."""

    RUNNING = "running"
    GONE = "gone"
    ELSEWHERE = "elsewhere"
    UNKNOWN = "unknown"

    __str__ = str.__str__


def place() -> str | None:
    """Return the boot and the pid namespace that pids of this process are of; None where the system tells neither."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 - it leads to no path
    except OSError:
        return None


def started(pid: int) -> int | None:
    """Return when a process of this place was started, in the kernel's ticks since boot; None where that can't be read.

    Raises:
        ProcessLookupError: there is no such process, or it has ended.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        # Where there is no /proc, or it hides the processes of others, a signal still tells.
        if not _takes_signals(pid):
            raise ProcessLookupError(pid) from None
        return None
    # The name may hold anything, also parentheses and spaces.
    state, *fields = text.rpartition(")")[2].split()
    if state in _ENDED:
        raise ProcessLookupError(pid)
    return int(fields[_STARTED])


def life(pid: int, started_ticks: int | None, its_place: str | None) -> Life:
    """Return what is known of the process with this pid, that was started then, in that place."""
    if its_place != place():
        return Life.ELSEWHERE
    try:
        now_ticks = started(pid)
    except ProcessLookupError:
        return Life.GONE
    if now_ticks is None:
        return Life.UNKNOWN
    return Life.RUNNING if now_ticks == started_ticks else Life.GONE


def _takes_signals(pid: int) -> bool:
    """Return whether there is a process with this pid, as far as it can be asked: on Windows signal 0 is Ctrl-C."""
    if os.name == "nt":
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True

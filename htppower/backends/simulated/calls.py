"""The native calls of a simulated library: which fail, how long each takes, and that no two overlap.

The device library holds a lock of the process over each remote call, so calls side by side gain nothing. While it
rebuilds its link, a second call spoils the rebuild, and every later call fails (measured). So a simulated library
refuses a call that overlaps another, and counts it for the test, since a controller may take the error for a failed
vote.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

import attrs

from htppower.backends.whole_lock import whole_lock
from htppower.votes.native_codes import SUCCESS

if TYPE_CHECKING:
    from _thread import RLock
    from collections.abc import Callable, Iterator

    from htppower.backends.simulated.link import Link

FUNCTIONS = ("createPowerConfigId", "setPowerConfig", "destroyPowerConfigId")
# The native calls that free the device and create it again.
RENEW = "renew"
_NAMES = (*FUNCTIONS, RENEW)


def check_function(function: str) -> None:
    """Refuse a name that is not a native function.

    Raises:
        ValueError: with the known names.
    """
    if function not in _NAMES:
        raise ValueError(f"no native function {function!r}; one of {', '.join(_NAMES)}")


@attrs.frozen(repr=False, eq=False)
class _Fault:
    """A future failure of the calls of a function whose numbers, counted from 1, are in the range."""

    code: int
    function: str
    calls: range
    applied: int


class Faults:
    """The failures to come, and how many calls of each function were made."""

    def __init__(self) -> None:
        self._faults: list[_Fault] = []
        self._made = dict.fromkeys(_NAMES, 0)

    def add(self, code: int, function: str, nth: int, times: int, applied: int) -> None:
        """Fail calls to come, as ``SimulatedHtp.fail_next`` says.

        Raises:
            ValueError: no such function, or a number out of range.
        """
        check_function(function)
        if code == SUCCESS or nth < 1 or times < 1 or applied < 0:
            raise ValueError(f"code {code}, nth {nth}, times {times}, applied {applied}: not 0, from 1, from 1, from 0")
        first = self._made[function] + nth
        self._faults.append(_Fault(code, function, range(first, first + times), applied))

    def clear(self) -> None:
        """Fail none of the calls to come."""
        self._faults.clear()

    def of_next(self, function: str) -> tuple[int, int]:
        """Count a call; return its code (0 is success), and how many votes are applied before a failure."""
        self._made[function] += 1
        for fault in self._faults:
            if fault.function == function and self._made[function] in fault.calls:
                return fault.code, fault.applied
        return SUCCESS, 0


@attrs.frozen(eq=False)
class _Call:
    """A call in progress, equal only to itself."""

    function: str
    thread: int


class Calls:
    """The native calls of one simulated library.

    Args:
        lock: is held while a call takes effect, but not during its delay.
        link: the link to the DSP, whose rebuild takes time; None if there is none.

    Attributes:
        faults: the failures to come.
        overlaps: how many calls were refused because a call of another thread was in progress.
    """

    def __init__(self, lock: RLock, link: Link | None) -> None:
        self.faults = Faults()
        self.overlaps = 0
        self._lock = lock
        self._link = link
        self._list_lock = whole_lock()
        self._under_way: list[_Call] = []
        self._delays_us: dict[str, int] = {}

    def delay(self, delay_us: int, function: str | None) -> None:
        """Make every call of a native function take this long.

        Raises:
            ValueError: the time is negative, or no function has that name.
        """
        if delay_us < 0:
            raise ValueError(f"a delay of {delay_us} us")
        if function is not None:
            check_function(function)
        for name in FUNCTIONS if function is None else (function,):
            self._delays_us[name] = delay_us

    @contextlib.contextmanager
    def make(self, function: str, sleep: Callable[[float], None]) -> Iterator[None]:
        """Make a call: ``sleep`` for its delay, let it take effect, and ``sleep`` for a rebuild that it causes.

        Raises:
            RuntimeError: a call of another thread is in progress.
        """
        with self.under_way(function):
            _wait(self._delays_us.get(function, 0), sleep)
            with self._lock:
                yield
            _wait(0 if self._link is None else self._link.take_spent_us(), sleep)

    @contextlib.contextmanager
    def under_way(self, function: str) -> Iterator[None]:
        """Mark a call of a function as in progress. A call may begin within another of the same thread.

        Raises:
            RuntimeError: a call of another thread is in progress; the message names both functions.
        """
        call = _Call(function, threading.get_ident())
        try:
            with self._list_lock:
                self._refuse_overlap(call)
                self._under_way.append(call)
            yield
        finally:
            with self._list_lock, contextlib.suppress(ValueError):
                self._under_way.remove(call)

    def _refuse_overlap(self, call: _Call) -> None:
        for other in self._under_way:
            if other.thread != call.thread:
                self.overlaps += 1
                raise RuntimeError(
                    f"{call.function} began while {other.function} of another thread was under way: "
                    "one thread at a time may call a backend"
                )


def _wait(duration_us: int, sleep: Callable[[float], None]) -> None:
    if duration_us:
        sleep(duration_us / 1_000_000)

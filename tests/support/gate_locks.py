"""Gates that record what a thread must not do while it holds one: the rules of ``htppower.control.time.locks``."""

from __future__ import annotations

import contextlib
import functools
import threading
import traceback
from typing import TYPE_CHECKING, Any

import pytest

from htppower.control.core.line import Line
from htppower.control.core.native_calls import NativeCalls
from htppower.control.event_bus import Subscription
from htppower.control.gate import gate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

# A broken rule may be broken in each of thousands of calls.
MOST_BREACHES = 20


class _Mine(threading.local):
    """The gates that a thread holds, in the order it took them."""

    def __init__(self) -> None:
        self.held: list[GateLock] = []


class GateLocks:
    """Makes the locks of gates, and records forbidden actions under them."""

    def __init__(self) -> None:
        self.breaches: list[str] = []
        self.mine = _Mine()

    def make(self) -> GateLock:
        """Return the lock of a new gate."""
        return GateLock(self)

    def check_free(self, action: str) -> None:
        """Record an action if this thread holds a gate."""
        if self.mine.held and len(self.breaches) < MOST_BREACHES:
            frames = [frame for frame in traceback.extract_stack() if frame.filename != __file__][-12:]
            way = " > ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames)
            self.breaches.append(f"{action} under a gate: {way}")

    def check(self) -> None:
        """Assert that nothing was recorded, and that this thread holds no gate; then reset."""
        noted, self.breaches = self.breaches, []
        if self.mine.held:
            noted.append("a gate is held still")
            self.mine.held.clear()
        assert not noted, "\n".join(noted)


class GateLock:
    """The reentrant lock of a gate."""

    __slots__ = ("_held", "_lock", "_locks")

    def __init__(self, locks: GateLocks) -> None:
        self._locks = locks
        self._lock = threading.RLock()

    def __enter__(self) -> bool:
        held = self._locks.mine.held
        if held and self not in held:
            self._locks.check_free("another gate is taken")
        taken = self._lock.acquire()
        held.append(self)
        return taken

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._locks.mine.held.pop()
        self._lock.release()

    def _is_owned(self) -> bool:
        return self in self._locks.mine.held


@contextlib.contextmanager
def checked_gates() -> Iterator[GateLocks]:
    """Give sessions that are opened from now on such gates; assert in the end that no rule was broken.

    What is checked: native calls, waiting for the line, other gates, and events as they are delivered.
    """
    locks = GateLocks()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate, "make_gate_lock", locks.make)
        for owner, name, action in (
            (NativeCalls, "_call", "a native call is made"),
            (Line, "run", "the line is waited for"),
            (Subscription, "_tell", "an event is delivered"),
        ):
            patch.setattr(owner, name, _after(functools.partial(locks.check_free, action), owner, name))
        yield locks
    locks.check()


def _after(check: Callable[[], None], owner: type, name: str) -> Callable[..., Any]:
    """Return a method that checks the rules first."""
    method = getattr(owner, name)

    @functools.wraps(method)
    def checked(*arguments: Any) -> Any:
        check()
        return method(*arguments)

    return checked

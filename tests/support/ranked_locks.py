"""Locks that know their ranks, in the place of the controller's: what a thread may not do while it holds one is noted.

The rules are those of ``htppower.control.time.locks``.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import pkgutil
import threading
import traceback
from typing import TYPE_CHECKING, Any

import pytest

from htppower import control, testing
from htppower.control.core.event_bus import Subscription
from htppower.control.core.native_calls import NativeCalls
from htppower.control.time import locks
from htppower.control.time.locks import Rank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType


# The locks that may be held over a native call.
OVER_CALLS = frozenset({Rank.REMAINS, Rank.TURN, Rank.PROCESS, Rank.CALL})
# How long a lock is waited for that is taken out of order: threads that wait for each other must fail, and not hang.
LONGEST_WAIT_S = 5.0
# What breaks a rule may do so in each of thousands of calls.
MOST_BREACHES = 20
# What takes a lock holds the name: every module is imported, so that none gets hold of it while it is replaced.
HOLDERS = [
    testing,
    locks,
    *(importlib.import_module(found.name) for found in pkgutil.walk_packages(control.__path__, f"{control.__name__}.")),
]


class RankedLock:
    """A reentrant lock that tells before it is taken."""

    __slots__ = ("_lock", "_mine", "_ranks", "rank")

    def __init__(self, rank: Rank, ranks: Ranks) -> None:
        self.rank = rank
        self._ranks = ranks
        self._mine = ranks.mine
        self._lock = threading.RLock()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take it."""
        held = self._mine.held
        if held and not self._ranks.check_order(self) and blocking and timeout < 0:
            taken = self._lock.acquire(timeout=LONGEST_WAIT_S)
            if not taken:
                raise RuntimeError(f"a deadlock: {self} is taken out of order")
        else:
            taken = self._lock.acquire(blocking, timeout)
        if taken:
            held.append(self)
        return taken

    def release(self) -> None:
        """Give it back."""
        self._lock.release()
        held = self._mine.held
        last = held.pop()
        if last is not self:
            held.append(last)
            del held[len(held) - 1 - held[::-1].index(self)]

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()

    def locked(self) -> bool:
        """Return whether a thread holds it; ``threading.Condition`` asks for that since Python 3.14."""
        free = not self._is_owned() and self._lock.acquire(blocking=False)
        if free:
            self._lock.release()
        return not free

    def _is_owned(self) -> bool:
        return self in self._mine.held

    def __repr__(self) -> str:
        return self.rank.name


class Mine(threading.local):
    """What a thread has.

    Attributes:
        held: the locks that it holds, in the order in which it took them.
    """

    def __init__(self) -> None:
        self.held: list[RankedLock] = []


class Ranks:
    """Makes ranked locks, and notes what is done under one that forbids it.

    Attributes:
        breaches: what was done, under which locks, and where; in the order in which it was.
        mine: what each thread has.
    """

    def __init__(self) -> None:
        self.breaches: list[str] = []
        self.mine = Mine()

    @property
    def held(self) -> list[RankedLock]:
        """The locks that this thread holds."""
        return self.mine.held

    def make_lock(self, rank: Rank) -> RankedLock:
        """Return a new lock of a rank."""
        return RankedLock(rank, self)

    def check_order(self, lock: RankedLock) -> bool:
        """Note a lock that is taken under one of its own rank or a higher one, unless the thread holds it already.

        Return whether it may be taken.
        """
        held = self.held
        allowed = not held or lock in held or max(other.rank for other in held) < lock.rank
        if not allowed:
            self._note(f"{lock} is taken")
        return allowed

    def check_call(self, function: str) -> None:
        """Note a native call that is made under a lock that forbids it."""
        held = self.mine.held
        if held and not OVER_CALLS.issuperset(lock.rank for lock in held):
            self._note(f"{function} is called")

    def check_free(self, action: str) -> None:
        """Note what is done under any lock."""
        if self.held:
            self._note(action)

    def check(self) -> None:
        """Assert that nothing was noted, and that this thread holds no lock; begin anew."""
        noted, self.breaches = self.breaches, []
        if self.held:
            noted.append(f"{self.held} is held still")
            self.held.clear()
        assert not noted, "\n".join(noted)

    def _note(self, what: str) -> None:
        if len(self.breaches) >= MOST_BREACHES:
            return
        under = ", ".join(map(repr, self.held))
        frames = [frame for frame in traceback.extract_stack() if frame.filename != __file__][-12:]
        way = " > ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames)
        self.breaches.append(f"{what} under {under}: {way}")


@contextlib.contextmanager
def ranked_locks() -> Iterator[Ranks]:
    """Give controllers that are made from now on ranked locks; assert in the end that no rule was broken.

    What is checked besides the order of locks: native calls, and events as they are delivered.
    """
    ranks = Ranks()
    before = locks.make_lock
    with pytest.MonkeyPatch.context() as patch:
        for module in HOLDERS:
            if getattr(module, "make_lock", None) == before:
                patch.setattr(module, "make_lock", ranks.make_lock)
        for verb in ("create", "set", "destroy"):
            patch.setattr(NativeCalls, verb, _after(functools.partial(ranks.check_call, verb), NativeCalls, verb))
        delivered = functools.partial(ranks.check_free, "an event is delivered")
        patch.setattr(Subscription, "_tell", _after(delivered, Subscription, "_tell"))
        yield ranks
    ranks.check()


def _after(check: Callable[[], None], owner: type, name: str) -> Callable[..., Any]:
    """Return a method that checks first."""
    method = getattr(owner, name)

    @functools.wraps(method)
    def checked(*arguments: Any) -> Any:
        check()
        return method(*arguments)

    return checked

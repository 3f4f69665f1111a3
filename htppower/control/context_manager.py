"""What is given up on leaving a ``with`` block, and by a generator that is garbage collected inside one."""

from __future__ import annotations

import abc
import functools
import sys
from typing import TYPE_CHECKING

from htppower.errors import HtpPowerError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from typing_extensions import Self

    from htppower.control.time.base import Time


def in_closed_generator() -> bool:
    """Return whether a generator is being closed that calls this: then the collector may be what closes it."""
    return isinstance(sys.exc_info()[1], GeneratorExit)


class ContextManager(abc.ABC):
    """A context manager that gives itself up when it is left.

    A generator may be collected anywhere, also where its thread holds a lock that giving up needs: then that is left to
    another thread. So is what an exception from outside, such as Ctrl-C, has interrupted.
    """

    __slots__ = ()

    @abc.abstractmethod
    def _leave(self) -> None:
        """Give up."""

    @property
    @abc.abstractmethod
    def _leave_soon(self) -> Callable[[], object]:
        """What gives up on another thread: it takes no lock, and is one call of a function in C."""

    if TYPE_CHECKING:

        def __enter__(self) -> Self: ...

    else:
        # What ``with`` calls is a partial that returns the object, in C from end to end: before a function in Python
        # begins, an exception such as Ctrl-C may come, and what was just made would be left without a handle.
        __enter__ = property(functools.partial(functools.partial, getattr, None, ""))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is GeneratorExit:
            self._leave_soon()
            return
        # As ``run_watched``, which would be one more function to be interrupted in its begin; the block is over, and
        # nobody would give it up later.
        leave_soon: Callable[[], object] | None = None
        try:
            leave_soon = self._leave_soon
            self._leave()
        except HtpPowerError:
            raise
        except BaseException:
            (leave_soon or self._leave_soon)()
            raise


class Closing(ContextManager):
    """A context manager that is closed when it is left."""

    __slots__ = ()

    # What has other threads.
    _time: Time

    @abc.abstractmethod
    def close(self) -> None:
        """Close it. Closing twice is fine."""

    def _leave(self) -> None:
        self.close()

    @property
    def _leave_soon(self) -> Callable[[], object]:
        return functools.partial(self._time.call_soon, self.close)

"""What is given up on leaving a ``with`` block, and by a generator that is garbage collected inside one."""

from __future__ import annotations

import abc
import functools
import sys
from typing import TYPE_CHECKING

from htppower.errors import HtpPowerError

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from htppower.control.time.base import Time


def in_closed_generator() -> bool:
    """Return whether a generator is being closed that calls this: then the collector may be what closes it."""
    return isinstance(sys.exc_info()[1], GeneratorExit)


class _Entered(property):
    """What ``with`` gets of an object; of a class, as ``contextlib.ExitStack`` asks, a function of an object."""

    def __call__(self, entered: object) -> object:
        return entered


class ContextManager(abc.ABC):
    """A context manager that gives itself up when it is left.

    A generator may be collected anywhere, also where its thread holds a lock that giving up needs: then that is left to
    another thread. So is what an exception from outside, such as Ctrl-C, has interrupted.
    """

    __slots__ = ()

    # What has other threads. Each object has it as an attribute, which no exception from outside comes within.
    _time: Time

    @abc.abstractmethod
    def _leave(self, *, quiet: bool) -> None:
        """Give up, if that was not done before; ``quiet``: the failure of a call need not be raised."""

    def _leave_quietly(self) -> None:
        self._leave(quiet=True)

    if TYPE_CHECKING:

        def __enter__(self) -> Self: ...

    else:
        # What ``with`` calls is a partial that returns the object, in C from end to end: before a function in Python
        # begins, an exception such as Ctrl-C may come, and what was just made would be left without a handle.
        __enter__ = _Entered(functools.partial(functools.partial, getattr, None, ""))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is GeneratorExit:
            self._time.call_soon(self._leave_quietly)
            return
        # As ``run_watched``, which would be one more function to be interrupted in its begin; the block is over, and
        # nobody would give it up later.
        try:
            self._leave(quiet=error is not None)
        except HtpPowerError:
            raise
        except BaseException:
            self._time.call_soon(self._leave_quietly)
            raise


class Closing(ContextManager):
    """A context manager that is closed when it is left."""

    __slots__ = ()

    @abc.abstractmethod
    def close(self) -> None:
        """Close it. Closing twice is fine."""

    def _leave(self, *, quiet: bool) -> None:  # noqa: ARG002 - what closing fails with is raised in any case
        self.close()

"""What is given up on leaving a ``with`` block, and by a generator that is garbage collected inside one."""

from __future__ import annotations

import abc
import sys
from typing import TYPE_CHECKING

from htppower.errors import HtpPowerError

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self


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

    @abc.abstractmethod
    def _leave_soon(self) -> None:
        """Give up on another thread; take no lock."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is GeneratorExit:
            self._leave_soon()
            return
        try:
            self._leave()
        except HtpPowerError:
            raise
        except BaseException:
            # It was interrupted, and the block is over: nobody would give it up.
            self._leave_soon()
            raise

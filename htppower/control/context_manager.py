"""What is given up on leaving a ``with`` block, and by a generator that is garbage collected inside one."""

from __future__ import annotations

import abc
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self


def in_closed_generator() -> bool:
    """Return whether a generator is being closed that calls this: then the collector may be what closes it."""
    return isinstance(sys.exc_info()[1], GeneratorExit)


class ContextManager(abc.ABC):
    """A context manager that gives itself up when it is left."""

    __slots__ = ()

    @abc.abstractmethod
    def _leave(self, *, quiet: bool) -> None:
        """Give up, if that was not done before; ``quiet``: the failure of a call is not raised."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._leave(quiet=error is not None)


class Closing(ContextManager):
    """A context manager that is closed when it is left."""

    __slots__ = ()

    @abc.abstractmethod
    def close(self) -> None:
        """Close it. Closing twice is fine."""

    def _leave(self, *, quiet: bool) -> None:  # noqa: ARG002 - what closing fails with is raised in any case
        self.close()

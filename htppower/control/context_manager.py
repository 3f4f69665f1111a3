"""Context managers that give themselves up when they are left."""

from __future__ import annotations

import abc
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self


def in_closed_generator() -> bool:
    """Return whether a generator that is being closed calls this: the collector may have closed it, anywhere."""
    return isinstance(sys.exc_info()[1], GeneratorExit)


class ContextManager(abc.ABC):
    """A context manager that calls ``_leave``."""

    __slots__ = ()

    @abc.abstractmethod
    def _leave(self, *, quiet: bool) -> None:
        """Give up, if that was not done before; ``quiet`` raises no failed call."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._leave(quiet=kind is not None)


class Closing(ContextManager):
    """A context manager that is closed when it is left."""

    __slots__ = ()

    @abc.abstractmethod
    def close(self) -> None:
        """Close it. Closing twice is fine."""

    def _leave(self, *, quiet: bool) -> None:  # noqa: ARG002 - a failed close raises in any case
        self.close()

"""Context managers that end when their ``with`` block ends."""

from __future__ import annotations

import abc
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self


def in_closed_generator() -> bool:
    """Return whether the caller is a generator that is being closed, perhaps by the garbage collector at any point."""
    return isinstance(sys.exc_info()[1], GeneratorExit)


class ContextManager(abc.ABC):
    """A context manager that calls ``_leave`` at the end of its block."""

    __slots__ = ()

    @abc.abstractmethod
    def _leave(self, *, quiet: bool) -> None:
        """End, unless it has ended already; with ``quiet`` a failed call raises no error."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._leave(quiet=kind is not None)


class Closing(ContextManager):
    """A context manager that is closed when it is left."""

    __slots__ = ()

    @abc.abstractmethod
    def close(self) -> None:
        """Close the object. Closing it twice has no effect."""

    def _leave(self, *, quiet: bool) -> None:  # noqa: ARG002 - a failed close raises in any case
        self.close()

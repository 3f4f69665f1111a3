"""Attempts to find a fact out: one that fails is a line of the report, and the others are still made."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")
_U = TypeVar("_U")


@attrs.define
class Attempts:
    """Makes attempts.

    Attributes:
        failures: the attempts that raised an exception, in sentences.
    """

    failures: list[str] = attrs.field(factory=list)

    def of(self, what: str, attempt: Callable[[], _T], otherwise: _U) -> _T | _U:
        """Return what an attempt returns; if it raises an exception, record that, and return ``otherwise``."""
        try:
            return attempt()
        except Exception as error:  # noqa: BLE001 - the report must be made whatever fails
            self.failures.append(f"{what}: {type(error).__name__}: {error}")
            return otherwise

"""Asking a logger for its level without the lock of ``logging``.

``Logger.isEnabledFor`` takes that lock where the answer is not kept, as after any ``setLevel``. A thread that holds it
may run a finalizer of the host's, which waits for a lock of the controller's, under which the level is asked for.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Adapter = logging.LoggerAdapter[logging.Logger]
else:
    Adapter = logging.LoggerAdapter


def is_enabled_for(logger: logging.Logger, level: int) -> bool:
    """Return whether a logger writes records of a level, as ``Logger.isEnabledFor`` does."""
    return not logger.disabled and level >= logger.getEffectiveLevel() and level > logger.manager.disable


class UnlockedLogger(Adapter):
    """A logger that asks so before each record."""

    def isEnabledFor(self, level: int) -> bool:  # noqa: N802 - overrides that of logging
        """Return whether records of a level are written."""
        return is_enabled_for(self.logger, level)

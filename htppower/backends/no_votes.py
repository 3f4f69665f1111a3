"""A backend without a library: it accepts every call and votes nothing."""

from __future__ import annotations

import itertools
import logging
from typing import TYPE_CHECKING

from htppower.backends.base import Description

if TYPE_CHECKING:
    from htppower.votes.vote_set import VoteSet

_LOGGER = logging.getLogger("htppower")


class NoVotes:
    """Lets a host run without votes, on a machine without the vendor's library.

    Every call succeeds and does nothing: the system alone sets the clocks. It logs one WARNING when it is created,
    and the status of a controller on it says that no vote reaches hardware.

    Args:
        why: the reason for the WARNING and the status.
    """

    def __init__(self, why: str = "the host asked for no votes") -> None:
        self._why = why
        self._numbers = itertools.count(1)
        _LOGGER.warning("nothing is voted: %s", why)

    def create_power_config_id(self, device_id: int, core_id: int) -> int:  # noqa: ARG002 - there are no devices
        """Return a number that no other id of this backend has."""
        return next(self._numbers)

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Vote nothing."""

    def destroy_power_config_id(self, power_config_id: int) -> None:
        """Do nothing."""

    def renew(self) -> None:
        """Do nothing. There is no device, so ids are unaffected."""

    def describe(self) -> Description:
        """Return a description that says that nothing is voted, and why."""
        return Description("none", f"nothing is voted: {self._why}", platform=None, hardware=False)

    def close(self) -> None:
        """Do nothing."""

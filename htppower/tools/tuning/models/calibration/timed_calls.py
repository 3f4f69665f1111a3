"""A backend that passes calls to another backend, and times setPowerConfig."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from htppower.backends.base import Backend, Description
    from htppower.backends.clock import Clock
    from htppower.votes.vote_set import VoteSet


class TimedCalls:
    """Passes every call on, and adds up how long the setPowerConfig calls take.

    Args:
        inner: the backend that receives the calls; it is left open.
        clock: the clock that times the calls.
    """

    def __init__(self, inner: Backend, clock: Clock) -> None:
        self._inner = inner
        self._clock = clock
        self._took_us = 0

    def taken_us(self) -> int:
        """Return how long the calls took since the last time this method was called, in us."""
        taken_us, self._took_us = self._took_us, 0
        return taken_us

    def create_power_config_id(self, device_id: int, core_id: int) -> int:
        """Pass on a createPowerConfigId."""
        return self._inner.create_power_config_id(device_id, core_id)

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Pass on a setPowerConfig, and time it."""
        begun_us = self._clock.now_us
        self._inner.set_power_config(power_config_id, votes)
        self._took_us += self._clock.now_us - begun_us

    def destroy_power_config_id(self, power_config_id: int) -> None:
        """Pass on a destroyPowerConfigId."""
        self._inner.destroy_power_config_id(power_config_id)

    def renew(self) -> None:
        """Pass on a renewal."""
        self._inner.renew()

    def describe(self) -> Description:
        """Return the description of the inner backend."""
        return self._inner.describe()

    def close(self) -> None:
        """Do nothing: the inner backend is closed by the code that opened it."""

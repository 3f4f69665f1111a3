"""A simulated HTP whose calls and inferences take time, and draw power, by the votes in force.

How long a device takes is not public: the maker of a timed HTP gives the numbers. It is for tests of code that
measures.
"""

from __future__ import annotations

import time as system_time
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from htppower.backends.clock import MonotonicClock
from htppower.backends.simulated.calls import RENEW
from htppower.backends.simulated.htp import SimulatedHtp
from htppower.backends.whole_lock import whole_lock
from htppower.votes.corners import ExpandedCorner, as_expanded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from htppower.backends.clock import Clock
    from htppower.backends.simulated.clocks import Effective
    from htppower.backends.simulated.link import FastRpcAnswer
    from htppower.votes.native import NativeConfig

_US = 1_000_000


@attrs.frozen
class Timing:
    """How long calls and inferences take on a simulated HTP, in us, and what it draws, in W.

    Attributes:
        raise_call_us: the time of a setPowerConfig that raises the target of a core clock.
        lower_call_us: the time of any other setPowerConfig.
        inference_us: the time of an inference at speed 1 that directly follows another, without polling.
        after_raise_us: how much longer the first inference takes after the target of its core's clock has risen.
        after_idle_us: how much longer an inference takes that begins at least ``asleep_after_us`` after the last, by
            the sleep latency in force; 0 for a latency that is not listed.
        asleep_after_us: how long the DSP idles before it sleeps.
        polling_saves_us: how much shorter an inference is while RPC polling is in force for that long or longer.
        speeds: the speed of work, by the native number of the core clock's target; 1 for a number that is not listed.
        jitter_us: returns how much longer the next call or inference takes; negative for shorter.
        active_w: the power while an inference runs.
        raised_idle_w: the power while nothing runs and some vote holds clocks (DCVS is off).
        relaxed_idle_w: the power while nothing runs and every vote lets DCVS move the clocks.
        released_idle_w: the power while nothing runs and no vote asks for more than the lowest corner.
    """

    raise_call_us: int = 0
    lower_call_us: int = 0
    inference_us: int = 1000
    after_raise_us: int = 0
    after_idle_us: Mapping[int, int] = MappingProxyType({})
    asleep_after_us: int = 0
    polling_saves_us: int = 0
    speeds: Mapping[int, float] = MappingProxyType({})
    jitter_us: Callable[[], int] = int
    active_w: float = 0.0
    raised_idle_w: float = 0.0
    relaxed_idle_w: float = 0.0
    released_idle_w: float = 0.0


class TimedHtp(SimulatedHtp):
    """A simulated HTP whose calls and inferences take time and draw power.

    Args:
        timing: the times and powers.
        clock: the time of ``sleep``; it counts energy and idle times.
        sleep: waits for a number of seconds, such as ``VirtualTime.sleep``.
        more: arguments of ``SimulatedHtp``.
    """

    def __init__(
        self,
        timing: Timing,
        *,
        clock: Clock | None = None,
        sleep: Callable[[float], None] = system_time.sleep,
        **more: Any,
    ) -> None:
        super().__init__(sleep=sleep, **more)
        self._timing = timing
        self._clock = MonotonicClock() if clock is None else clock
        self._meter = whole_lock()
        self._counted_us = self._clock.now_us
        self._energy_j = 0.0
        # By core: the running inferences, the end of the last one, and whether the clock has risen since.
        self._running: dict[tuple[int, int], int] = {}
        self._ended_us: dict[tuple[int, int], int] = {}
        self._risen: set[tuple[int, int]] = set()

    @property
    def power_w(self) -> float:
        """The power that all cores draw now, in W."""
        with self._meter:
            return sum(map(self._power_of, self._cores_of_all()))

    @property
    def energy_j(self) -> float:
        """The energy that all cores have drawn so far, in J."""
        with self._meter:
            self._count()
            return self._energy_j

    def infer(self, device_id: int = 0, core_id: int = 0, *, work: float = 1.0) -> None:
        """Run an inference; return after the time that it takes with the votes in force at its beginning.

        ``work``: how much it has to do, in times of ``Timing.inference_us``.
        """
        core = (device_id, core_id)
        with self._meter:
            self._count()
            taken_us = self._duration_us(core, work)
            self._risen.discard(core)
            self._running[core] = self._running.get(core, 0) + 1
        try:
            self._sleep(taken_us / _US)
        finally:
            with self._meter:
                self._count()
                self._running[core] -= 1
                self._ended_us[core] = self._clock.now_us

    def native_set(self, power_config_id: int, configs: Sequence[NativeConfig] | None) -> int:
        """Return the code of setPowerConfig, after the time that the call takes; its votes act when it begins."""
        with self._calls.under_way("setPowerConfig"):
            with self._meter:
                self._count()
                before = self._targets()
                code = super().native_set(power_config_id, configs)
                risen = _higher(before, self._targets())
                self._risen |= risen
            taken_us = self._timing.raise_call_us if risen else self._timing.lower_call_us
            if taken_us:
                self._sleep(max(taken_us + self._timing.jitter_us(), 0) / _US)
            return code

    def native_destroy(self, power_config_id: int) -> int:
        """Return the code of destroyPowerConfigId."""
        with self._calls.under_way("destroyPowerConfigId"), self._meter:
            self._count()
            return super().native_destroy(power_config_id)

    def renew(self) -> None:
        """Free the device and create it again, as ``SimulatedHtp`` does."""
        with self._calls.under_way(RENEW), self._meter:
            self._count()
            super().renew()

    def restart_subsystem(
        self, *, fatal: bool = False, forget_ids: bool = False, fastrpc: FastRpcAnswer = "reset", rebuild_us: int = 0
    ) -> None:
        """Restart the DSP subsystem, as ``SimulatedHtp`` does."""
        with self._meter:
            self._count()
            super().restart_subsystem(fatal=fatal, forget_ids=forget_ids, fastrpc=fastrpc, rebuild_us=rebuild_us)

    def _duration_us(self, core: tuple[int, int], work: float) -> int:
        """Return how long an inference takes that begins now."""
        timing, votes = self._timing, self.effective(*core)
        taken_us = work * timing.inference_us / timing.speeds.get(votes.core_target, 1)
        if 0 < taken_us <= votes.rpc_polling_time_us:
            taken_us -= timing.polling_saves_us
        idle_us = self._clock.now_us - self._ended_us.get(core, self._clock.now_us)
        if core in self._risen:
            taken_us += timing.after_raise_us
        elif idle_us and idle_us >= timing.asleep_after_us:
            taken_us += timing.after_idle_us.get(votes.sleep_latency_us, 0)
        return max(round(taken_us) + timing.jitter_us(), 0)

    def _count(self) -> None:
        """Add the energy that was drawn since the last call."""
        now_us = self._clock.now_us
        self._energy_j += self.power_w * (now_us - self._counted_us) / _US
        self._counted_us = now_us

    def _power_of(self, core: tuple[int, int]) -> float:
        timing, votes = self._timing, self.effective(*core)
        if self._running.get(core):
            return timing.active_w
        if _height(votes) <= ExpandedCorner.MIN:
            return timing.released_idle_w
        return timing.relaxed_idle_w if votes.dcvs_enable else timing.raised_idle_w

    def _targets(self) -> dict[tuple[int, int], int]:
        return {core: _height(self.effective(*core)) for core in self._cores_of_all()}

    def _cores_of_all(self) -> list[tuple[int, int]]:
        return [(device, core) for device in range(self._devices) for core in range(self._cores)]


def _higher(before: Mapping[tuple[int, int], int], now: Mapping[tuple[int, int], int]) -> set[tuple[int, int]]:
    """Return the cores whose target is higher than it was."""
    return {core for core, target in now.items() if target > before[core]}


def _height(votes: Effective) -> int:
    """Return the target of the core clock as an expanded number, which rises with the voltage."""
    return as_expanded(votes.core_target)

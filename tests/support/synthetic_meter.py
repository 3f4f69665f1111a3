"""Meters that are wrong in known ways, of a simulated HTP in virtual time."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from support.timed_device import TIMING, Device

from htppower.tools.tuning.models.calibration.meter import Meter

if TYPE_CHECKING:
    from htppower.backends import Timing

_US = 1_000_000


class MeteredDevice(Device):
    """A device with a meter that averages over a period, and shows the average late, with noise and drift.

    Args:
        period_us: the meter averages over this time, and shows a new average this often.
        late_us: it shows an average this long after its end.
        noise: the standard deviation of each average, as a share of it.
        drift_w_s: how much the rail draws more each second, in W.
        base_w: what the rail draws besides the device, in W.
        step_w: the steps of the readings, in W; 0 for none.
        counts: whether the meter counts energy.
        seed: the seed of the noise.
        timing: the times and powers of the device.
    """

    def __init__(
        self,
        *,
        period_us: int,
        late_us: int = 0,
        noise: float = 0.0,
        drift_w_s: float = 0.0,
        base_w: float = 0.0,
        step_w: float = 0.0,
        counts: bool = False,
        seed: int = 0,
        timing: Timing = TIMING,
    ) -> None:
        super().__init__(timing)
        self._period_us, self._late_us = period_us, late_us
        self._noise, self._chance = noise, random.Random(seed)
        self._drift_w_s, self._base_w, self._step_w, self._counts = drift_w_s, base_w, step_w, counts
        # When each reading is shown, and the reading; and the energy at the end of the last average.
        self._shown: list[tuple[int, float]] = [(0, 0.0)]
        self._energy_j = self._counted_j = 0.0
        self.time.call_at(period_us, self._average)

    def meter(self) -> Meter:
        """Return the meter."""
        return Meter(self._read, "J" if self._counts else "W", "rail")

    def _average(self) -> None:
        now_us = self.time.now_us
        added_j = self._base_w * now_us / _US + self._drift_w_s * (now_us / _US) ** 2 / 2
        energy_j = self.htp.energy_j + added_j
        power_w = (energy_j - self._energy_j) * _US / self._period_us * (1 + self._chance.gauss(0, self._noise))
        self._energy_j = energy_j
        if self._step_w:
            power_w = round(power_w / self._step_w) * self._step_w
        self._counted_j += power_w * self._period_us / _US
        self._shown.append((now_us + self._late_us, self._counted_j if self._counts else power_w))
        self.time.call_at(now_us + self._period_us, self._average)

    def _read(self) -> float:
        now_us = self.time.now_us
        while len(self._shown) > 1 and self._shown[1][0] <= now_us:
            self._shown.pop(0)
        return self._shown[0][1]

"""The settings of a calibration, and its errors."""

from __future__ import annotations

import attrs

from htppower.errors import HtpPowerError

# The sleep latencies that the shipped profiles vote for.
SLEEP_LATENCIES_US = (40, 100, 1000)
# Longer than the 300 ms that the vendor's own software keeps votes up.
IDLE_US = 400_000
# A power is the mean of at least this many periods of the meter.
LEAST_PERIODS = 10
# At the begin of a run, readings are left out for this many periods: a meter that averages over a period and shows it
# a period later still shows the state before in the first two.
_LEFT_OUT_PERIODS = 3
# How often a meter is read in one of its periods.
_LOOKS = 4
_SHORTEST_LOOK_US = 1000


@attrs.frozen
class Settings:
    """How often and how long a calibration measures.

    Attributes:
        count: how often each call, delay and speed is measured.
        idle_us: how long the session idles before an inference after idle, in us.
        sleep_latencies_us: the sleep latencies that the inference after idle is measured with, in us.
        power_count: how often each power is measured.
        power_us: how long each measurement of a power takes, in us; 0 for ten periods of the meter.
        period_us: how long the meter averages, its delay included, in us.
        drift_w: the power that idling may change by during the measurement, in W.
        compared: more profiles whose power at work is measured.
        settle_us: how long votes stay unchanged before a power or another call is measured, in us.
        follow_us: how long the clock is read after a raise and after a lowering, in us.
        profile: the profile that is raised; the other measured votes are variants of it.
        device_id, core_id: the device and the core.
    """

    count: int = 20
    idle_us: int = IDLE_US
    sleep_latencies_us: tuple[int, ...] = SLEEP_LATENCIES_US
    power_count: int = 5
    power_us: int = 0
    period_us: int = 1_000_000
    drift_w: float = 0.2
    compared: tuple[str, ...] = ()
    settle_us: int = 20_000
    follow_us: int = 100_000
    profile: str = "burst"
    device_id: int = 0
    core_id: int = 0

    @property
    def window_us(self) -> int:
        """How long readings count in each measurement of a power: whole periods of the meter, in us."""
        return (self.power_us // self.period_us or LEAST_PERIODS) * self.period_us

    @property
    def left_out_us(self) -> int:
        """How long readings do not count after a change of the state, in us."""
        return self.settle_us + _LEFT_OUT_PERIODS * self.period_us

    @property
    def look_us(self) -> int:
        """The time between two readings of the meter, in us."""
        return max(self.period_us // _LOOKS, _SHORTEST_LOOK_US)


class CalibrationFailed(HtpPowerError):  # noqa: N818 - as VoteRejected: reads as what it is
    """The inference, the power rail or the profile can't be used; the message says why, and what to do."""


class PowerRefused(CalibrationFailed):
    """The readings of a meter do not prove the powers that follow from them; the message has each reason."""

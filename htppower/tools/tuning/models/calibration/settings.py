"""The settings of a calibration, and its error."""

from __future__ import annotations

import attrs

from htppower.errors import HtpPowerError

# The sleep latencies that the shipped profiles vote for.
SLEEP_LATENCIES_US = (40, 100, 1000)
# Longer than the 300 ms that the vendor's own software keeps votes up.
IDLE_US = 400_000


@attrs.frozen
class Settings:
    """How often and how long a calibration measures.

    Attributes:
        count: how often each call, delay and speed is measured.
        idle_us: how long the session idles before an inference after idle, in us.
        sleep_latencies_us: the sleep latencies that the inference after idle is measured with, in us.
        power_count: how often each power is measured.
        power_us: how long each measurement of a power takes, in us.
        settle_us: how long votes stay unchanged before a power or another call is measured, in us.
        profile: the profile that is raised; the other measured votes are variants of it.
        device_id, core_id: the device and the core.
    """

    count: int = 20
    idle_us: int = IDLE_US
    sleep_latencies_us: tuple[int, ...] = SLEEP_LATENCIES_US
    power_count: int = 5
    power_us: int = 1_000_000
    settle_us: int = 20_000
    profile: str = "burst"
    device_id: int = 0
    core_id: int = 0


class CalibrationFailed(HtpPowerError):  # noqa: N818 - as VoteRejected: reads as what it is
    """The inference, the power rail or the profile can't be used; the message says why, and what to do."""

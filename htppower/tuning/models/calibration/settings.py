"""What a calibration is told: how often and how long it measures."""

from __future__ import annotations

import attrs

from htppower.votes.field_repr import field_repr

# The sleep latencies that the shipped profiles vote for.
SLEEP_LATENCIES_US = (40, 100, 1000)
# Long enough that every vote of the vendor's own 300 ms would have been lowered, too.
IDLE_US = 400_000


@attrs.frozen
class Settings:
    """How often and how long a calibration measures.

    Attributes:
        count: how often each call, lateness and speed is measured.
        idle_us: how long the session idles before each first inference, in us.
        sleep_latencies_us: at which sleep latencies the first inference after idle is measured, in us.
        power_count: how often each power is measured.
        power_us: how long each time, in us.
        settle_us: how long votes are left alone before a power or another call is measured, in us.
        profile: the profile that is raised, and of which everything else is a change.
        device_id, core_id: where it is raised.
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

    __repr__ = field_repr

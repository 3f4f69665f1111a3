"""The votes that are C structs: the clocks. Also the votes that remove an earlier vote from a power config id.

The names of the C struct fields are in ``options``.
"""

import attrs

from htppower.votes.corners import ClkPerfMode, ExpandedCorner, PowerMode, VoltageCorner, plain_corner

# No `from __future__ import annotations`: the loader reads the field types, and resolving strings slows the start.


@attrs.frozen
class VoltageRange:
    """The corners of one clock, core or bus.

    Attributes:
        min: DCVS never goes below this corner.
        target: the corner in force when the call returns.
        max: DCVS never goes above this corner, as long as no other client is active.
    """

    min: VoltageCorner
    target: VoltageCorner
    max: VoltageCorner

    @classmethod
    def at(cls, corner: VoltageCorner) -> "VoltageRange":
        """Return the range with min = target = max."""
        return cls(corner, corner, corner)


@attrs.frozen(cache_hash=True)
class DcvsV3:
    """The HVX vote: core and bus clocks. None leaves the field unchanged on the id (its set flag stays 0).

    Attributes:
        dcvs_enable: True lets DCVS move the clocks between min and max, False holds them at target.
        power_mode: how DCVS moves the clocks; this field has no set flag.
        sleep_latency_us: tolerated wake-up latency, 10 to 65535 us; 65535 tolerates any latency.
        sleep_disable: True keeps the DSP from sleeping until a later vote says False.
        bus: corners of the bus clock.
        core: corners of the core clock.
    """

    dcvs_enable: bool | None
    power_mode: PowerMode
    sleep_latency_us: int | None
    sleep_disable: bool | None
    bus: VoltageRange | None
    core: VoltageRange | None

    @property
    def active(self) -> bool:
        """Whether the DSP counts the client as active, which needs a core target other than DISABLE."""
        return self.core is not None and self.core.target is not VoltageCorner.DISABLE


@attrs.frozen
class ExpandedRange:
    """The expanded corners of one clock, core or bus.

    Attributes:
        min, target, max: as in ``VoltageRange``.
    """

    min: ExpandedCorner
    target: ExpandedCorner
    max: ExpandedCorner

    @classmethod
    def at(cls, corner: ExpandedCorner) -> "ExpandedRange":
        """Return the range with min = target = max."""
        return cls(corner, corner, corner)


@attrs.frozen(cache_hash=True)
class DcvsV3Exp:
    """The HVX vote in expanded corners (Hexagon V85 and later), with DCVS on. None leaves a field unchanged on the id.

    Attributes:
        power_mode, sleep_latency_us, sleep_disable, bus, core: as in ``DcvsV3``.
        core_perf_mode, bus_perf_mode: which frequency each clock gets at its corner.
    """

    power_mode: PowerMode
    sleep_latency_us: int | None
    sleep_disable: bool | None
    bus: ExpandedRange | None
    core: ExpandedRange | None
    core_perf_mode: ClkPerfMode
    bus_perf_mode: ClkPerfMode

    @property
    def active(self) -> bool:
        """Whether the DSP counts the client as active, which needs a core target other than DISABLE."""
        return self.core is not None and self.core.target is not ExpandedCorner.DISABLE

    @property
    def dcvs_enable(self) -> bool:
        """Always true, since a vote in expanded corners lets DCVS move the clocks."""
        return True


@attrs.frozen(cache_hash=True)
class HmxV2:
    """The HMX vote (Hexagon V75 and later).

    Attributes:
        min, target, max: expanded corners of the HMX clock.
        perf_mode: which frequency the clock gets at its corner.
        pick_default: True lets the HMX clock follow the same client's core vote; the corners are then ignored.
    """

    min: ExpandedCorner
    target: ExpandedCorner
    max: ExpandedCorner
    perf_mode: ClkPerfMode
    pick_default: bool = False


@attrs.frozen
class Ceng:
    """The vote on the clock of the compression engine (Hexagon V75 and later).

    Attributes:
        min, target, max: corners of its clock.
        perf_mode: which frequency the clock gets at its corner.
    """

    min: VoltageCorner
    target: VoltageCorner
    max: VoltageCorner
    perf_mode: ClkPerfMode


@attrs.frozen
class CengExp:
    """The vote on the clock of the compression engine in expanded corners (Hexagon V85 and later).

    Attributes:
        min, target, max: expanded corners of its clock.
        perf_mode: which frequency the clock gets at its corner.
    """

    min: ExpandedCorner
    target: ExpandedCorner
    max: ExpandedCorner
    perf_mode: ClkPerfMode


def as_plain(vote: DcvsV3Exp) -> DcvsV3:
    """Return the nearest HVX vote without expanded corners: no corner is lower, and the perf modes are dropped."""
    bus, core = (
        None if clock is None else VoltageRange(*map(plain_corner, (clock.min, clock.target, clock.max)))
        for clock in (vote.bus, vote.core)
    )
    return DcvsV3(
        dcvs_enable=vote.dcvs_enable,
        power_mode=vote.power_mode,
        sleep_latency_us=vote.sleep_latency_us,
        sleep_disable=vote.sleep_disable,
        bus=bus,
        core=core,
    )


# The library refuses legacy corners (1..0xFF) here, even with pick default, which ignores corners. So 0 is expanded.
_DISABLE = ExpandedCorner.DISABLE
HMX_DEFAULT = HmxV2(_DISABLE, _DISABLE, _DISABLE, ClkPerfMode.HIGH, pick_default=True)

# Removes an HVX vote from an id that still exists (HAP_power: sleep latency 65535 and all corners DISABLE). If a later
# HVX vote leaves a field unset that an earlier one has set, it sends the field's value from here.
HVX_REMOVED = DcvsV3(
    dcvs_enable=True,
    power_mode=PowerMode.POWER_SAVER,
    sleep_latency_us=65535,
    sleep_disable=False,
    bus=VoltageRange.at(VoltageCorner.DISABLE),
    core=VoltageRange.at(VoltageCorner.DISABLE),
)
HVX_EXP_REMOVED = DcvsV3Exp(
    power_mode=PowerMode.POWER_SAVER,
    sleep_latency_us=65535,
    sleep_disable=False,
    bus=ExpandedRange.at(_DISABLE),
    core=ExpandedRange.at(_DISABLE),
    core_perf_mode=ClkPerfMode.HIGH,
    bus_perf_mode=ClkPerfMode.HIGH,
)

# The state without any CENG vote (vendor, "CENG Power Settings", note 5); CENG has no pick default.
_LOWEST = VoltageCorner.MIN_VOLTAGE_CORNER
CENG_DEFAULT = Ceng(_LOWEST, _LOWEST, _LOWEST, ClkPerfMode.HIGH)
CENG_EXP_DEFAULT = CengExp(ExpandedCorner.MIN, ExpandedCorner.MIN, ExpandedCorner.MIN, ClkPerfMode.HIGH)

"""The votes that are more than a number: the clocks, and what removes such a vote from an id.

They know no numbers of the C structs: ``options`` has these.
"""

import attrs

from htppower.votes.corners import ClkPerfMode, ExpandedCorner, PowerMode, VoltageCorner, plain_corner
from htppower.votes.field_repr import field_repr

# No postponed annotations here: the loader reads the types of the fields, and resolving them would cost it start-up.


@attrs.frozen
class VoltageRange:
    """The corners of one clock, core or bus.

    Attributes:
        min: DCVS goes no lower.
        target: in force when the call returns.
        max: DCVS goes no higher; it holds only while no other client is active.
    """

    min: VoltageCorner
    target: VoltageCorner
    max: VoltageCorner

    __repr__ = field_repr

    @classmethod
    def at(cls, corner: VoltageCorner) -> "VoltageRange":
        """Return the range with min = target = max."""
        return cls(corner, corner, corner)


@attrs.frozen(cache_hash=True)
class DcvsV3:
    """The HVX vote: core and bus clocks. None leaves a field as it is on the id (its set flag stays 0).

    Attributes:
        dcvs_enable: True lets DCVS move the clocks between min and max, False holds them at target.
        power_mode: how DCVS moves them; it has no set flag of its own.
        sleep_latency_us: tolerated wake-up latency, 10 to 65535 us; 65535 is no wish.
        sleep_disable: True keeps the DSP from sleeping until a vote says False.
        bus: corners of the bus clock.
        core: corners of the core clock.
    """

    dcvs_enable: bool | None
    power_mode: PowerMode
    sleep_latency_us: int | None
    sleep_disable: bool | None
    bus: VoltageRange | None
    core: VoltageRange | None

    __repr__ = field_repr

    @property
    def active(self) -> bool:
        """Whether the DSP counts the client as active, which takes a core target other than DISABLE."""
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

    __repr__ = field_repr

    @classmethod
    def at(cls, corner: ExpandedCorner) -> "ExpandedRange":
        """Return the range with min = target = max."""
        return cls(corner, corner, corner)


@attrs.frozen(cache_hash=True)
class DcvsV3Exp:
    """The HVX vote in expanded corners (Hexagon V85 and later), with DCVS on. None leaves a field as it is on the id.

    Attributes:
        power_mode, sleep_latency_us, sleep_disable, bus, core: as in ``DcvsV3``.
        core_perf_mode, bus_perf_mode: which frequency at the corner of each clock.
    """

    power_mode: PowerMode
    sleep_latency_us: int | None
    sleep_disable: bool | None
    bus: ExpandedRange | None
    core: ExpandedRange | None
    core_perf_mode: ClkPerfMode
    bus_perf_mode: ClkPerfMode

    __repr__ = field_repr

    @property
    def active(self) -> bool:
        """Whether the DSP counts the client as active, which takes a core target other than DISABLE."""
        return self.core is not None and self.core.target is not ExpandedCorner.DISABLE

    @property
    def dcvs_enable(self) -> bool:
        """Whether DCVS may move the clocks, which a vote in expanded corners implies."""
        return True


@attrs.frozen(cache_hash=True)
class HmxV2:
    """The HMX vote (Hexagon V75 and later).

    Attributes:
        min, target, max: expanded corners of the HMX clock.
        perf_mode: which frequency at the corner.
        pick_default: the HMX clock follows the same client's core vote, and the corners say nothing.
    """

    min: ExpandedCorner
    target: ExpandedCorner
    max: ExpandedCorner
    perf_mode: ClkPerfMode
    pick_default: bool = False

    __repr__ = field_repr


@attrs.frozen
class Ceng:
    """The vote on the clock of the compression engine (Hexagon V75 and later).

    Attributes:
        min, target, max: corners of its clock.
        perf_mode: which frequency at the corner.
    """

    min: VoltageCorner
    target: VoltageCorner
    max: VoltageCorner
    perf_mode: ClkPerfMode

    __repr__ = field_repr


@attrs.frozen
class CengExp:
    """The vote on the clock of the compression engine in expanded corners (Hexagon V85 and later).

    Attributes:
        min, target, max: expanded corners of its clock.
        perf_mode: which frequency at the corner.
    """

    min: ExpandedCorner
    target: ExpandedCorner
    max: ExpandedCorner
    perf_mode: ClkPerfMode

    __repr__ = field_repr


def as_plain(vote: DcvsV3Exp) -> DcvsV3:
    """Return the nearest HVX vote for a platform without expanded corners: no corner is lower, the perf modes go."""
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


# Expanded corners of 0 with pick default: the library refuses legacy corners (1..0xFF) here even when it ignores them.
_DISABLE = ExpandedCorner.DISABLE
HMX_DEFAULT = HmxV2(_DISABLE, _DISABLE, _DISABLE, ClkPerfMode.HIGH, pick_default=True)

# What removes an HVX vote from an id that lives on (HAP_power: sleep latency 65535 and all corners DISABLE), and, field
# by field, what an HVX vote must say of a field that it leaves unset and an earlier one has set.
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

# What holds where no CENG vote is cast (vendor, "CENG Power Settings", note 5); there is no pick default.
_LOWEST = VoltageCorner.MIN_VOLTAGE_CORNER
CENG_DEFAULT = Ceng(_LOWEST, _LOWEST, _LOWEST, ClkPerfMode.HIGH)
CENG_EXP_DEFAULT = CengExp(ExpandedCorner.MIN, ExpandedCorner.MIN, ExpandedCorner.MIN, ClkPerfMode.HIGH)

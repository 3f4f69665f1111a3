"""Votes: frozen values that know the order in which they are sent and their native form.

A vote is one power config option set on one power config id; a vote set is the ordered list of one setPowerConfig
call. The values check nothing: the rules do (``htppower.rules``).
"""

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from htppower.votes.corners import ClkPerfMode, ExpandedCorner, PowerMode, VoltageCorner
from htppower.votes.native import NativeConfig, Option

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

    @property
    def active(self) -> bool:
        """Whether the DSP counts the client as active, which takes a core target other than DISABLE."""
        return self.core is not None and self.core.target is not VoltageCorner.DISABLE

    def native(self, power_config_id: int) -> NativeConfig:
        """Return the native form; contextId is always the id of the call."""
        fields: dict[str, int] = {
            "contextId": power_config_id,
            "setDcvsEnable": int(self.dcvs_enable is not None),
            "dcvsEnable": int(bool(self.dcvs_enable)),
            "powerMode": self.power_mode.value,
            "setSleepLatency": int(self.sleep_latency_us is not None),
            "sleepLatency": self.sleep_latency_us or 0,
            "setSleepDisable": int(self.sleep_disable is not None),
            "sleepDisable": int(bool(self.sleep_disable)),
        }
        symbols = {"powerMode": self.power_mode.enumerator}
        for clock, corners in (("bus", self.bus), ("core", self.core)):
            fields[f"set{clock.capitalize()}Params"] = int(corners is not None)
            for limit in ("Min", "Target", "Max"):
                name = f"{clock}VoltageCorner{limit}"
                corner = None if corners is None else getattr(corners, limit.lower())
                fields[name] = 0 if corner is None else corner.value
                if corner is not None:
                    symbols[name] = corner.enumerator
        return NativeConfig(Option.DCVS_V3.name, fields, symbols)


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

    def native(self) -> NativeConfig:
        """Return the native form."""
        fields = {
            "hmxPickDefault": int(self.pick_default),
            "hmxVoltageCornerMin": self.min.value,
            "hmxVoltageCornerTarget": self.target.value,
            "hmxVoltageCornerMax": self.max.value,
            "hmxPerfMode": self.perf_mode.value,
        }
        symbols = {
            "hmxVoltageCornerMin": self.min.enumerator,
            "hmxVoltageCornerTarget": self.target.enumerator,
            "hmxVoltageCornerMax": self.max.enumerator,
            "hmxPerfMode": self.perf_mode.enumerator,
        }
        return NativeConfig(Option.HMX_V2.name, fields, symbols)


# Expanded corners of 0 with pick default: the library refuses legacy corners (1..0xFF) here even when it ignores them.
HMX_DEFAULT = HmxV2(
    ExpandedCorner.DISABLE,
    ExpandedCorner.DISABLE,
    ExpandedCorner.DISABLE,
    ClkPerfMode.HIGH,
    pick_default=True,
)

# The vendor's tools keep the HMX on for this long where nobody votes (backend extensions, hmx_timeout_us).
DEFAULT_HMX_TIMEOUT_US = 300_000

# The name of each vote, in the order in which a set is sent: the library refuses HMX_V2 before DCVS_V3.
SEND_ORDER: Mapping[Option, str] = {
    Option.DCVS_V3: "dcvs_v3",
    Option.HMX_V2: "hmx_v2",
    Option.RPC_CONTROL_LATENCY: "rpc_control_latency_us",
    Option.RPC_POLLING_TIME: "rpc_polling_time_us",
    Option.ADAPTIVE_POLLING_TIME: "adaptive_polling_time_us",
    Option.HMX_TIMEOUT_INTERVAL_US: "hmx_timeout_us",
    Option.DDR_PERF_MODE: "ddr_perf_mode",
}

_SCALAR_FIELDS: Mapping[Option, str] = {
    Option.RPC_CONTROL_LATENCY: "rpcControlLatencyConfig",
    Option.RPC_POLLING_TIME: "rpcPollingTimeConfig",
    Option.ADAPTIVE_POLLING_TIME: "adaptivePollingTimeConfig",
    Option.HMX_TIMEOUT_INTERVAL_US: "hmxTimeoutIntervalUsConfig",
    Option.DDR_PERF_MODE: "ddrPerfModeConfig",
}

# The RPC options act on the whole process, whichever id they are set with (Hexagon SDK, FastRPC).
PROCESS_WIDE = frozenset({Option.RPC_CONTROL_LATENCY, Option.RPC_POLLING_TIME, Option.ADAPTIVE_POLLING_TIME})


@attrs.frozen
class VoteSet:
    """The votes of one setPowerConfig call. None: no vote on that option.

    Attributes:
        dcvs_v3: the HVX vote.
        hmx_v2: the HMX vote.
        rpc_control_latency_us: tolerated CPU wake-up latency of a remote call; 0 is no vote.
        rpc_polling_time_us: how long the CPU polls for an answer, 0 to 9999 us; 0 is off. Process-wide.
        adaptive_polling_time_us: inference time above which polling turns adaptive; 0 is off. Process-wide.
        hmx_timeout_us: how long the HMX stays powered when idle, 100 to 1000000 us.
        ddr_perf_mode: True asks for the DDR's performance mode (V81 and later).
    """

    dcvs_v3: DcvsV3 | None = None
    hmx_v2: HmxV2 | None = None
    rpc_control_latency_us: int | None = None
    rpc_polling_time_us: int | None = None
    adaptive_polling_time_us: int | None = None
    hmx_timeout_us: int | None = None
    ddr_perf_mode: bool | None = None

    @classmethod
    def of(cls, votes: Mapping[Option, Any]) -> "VoteSet":
        """Return the set of the given votes."""
        return cls(**{SEND_ORDER[option]: value for option, value in votes.items()})

    def get(self, option: Option) -> Any:
        """Return the vote on an option, None where there is none."""
        return getattr(self, SEND_ORDER[option])

    def items(self) -> Iterator[tuple[Option, Any]]:
        """Yield the votes in the order in which they are sent."""
        for option, name in SEND_ORDER.items():
            value = getattr(self, name)
            if value is not None:
                yield option, value

    @property
    def options(self) -> tuple[Option, ...]:
        """The options that are voted on, in the order in which they are sent."""
        return tuple(option for option, _ in self.items())

    def without(self, *options: Option) -> "VoteSet":
        """Return the set without the votes on these options."""
        if not options:
            return self
        return attrs.evolve(self, **{SEND_ORDER[option]: None for option in options})

    def native(self, power_config_id: int) -> tuple[NativeConfig, ...]:
        """Return the native list for a call on this id."""
        configs = []
        for option, value in self.items():
            if isinstance(value, DcvsV3):
                configs.append(value.native(power_config_id))
            elif isinstance(value, HmxV2):
                configs.append(value.native())
            else:
                configs.append(NativeConfig(option.name, {_SCALAR_FIELDS[option]: int(value)}))
        return tuple(configs)

    def __bool__(self) -> bool:
        """Return whether there is any vote."""
        return any(getattr(self, name) is not None for name in SEND_ORDER.values())

    def __str__(self) -> str:
        """Return the votes in the order in which they are sent: the options, and the values of the simple ones."""
        parts = [
            f"{option.name} {int(value)}" if isinstance(value, int) else option.name for option, value in self.items()
        ]
        return ", ".join(parts) or "no votes"

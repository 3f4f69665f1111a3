"""The vote options: the number of each, and its record in a field of ``Votes``, in sending order.

To add an option:

- Write its number and its field here. ``optional=True`` lets the existing files omit the field. ``since`` is the first
  version of the library that knows it.
- If its vote is a struct, write a class in ``clock_votes``.
- Write its cost in ``_COSTS`` of ``rules.power_order``; if it makes votes higher, also in ``_heat``.
- Write its rules in a module of ``rules.table``, and name the rule of a platform without it in ``rule_if_missing``.
- The simulated library accepts it from the version in ``since`` on. Write in ``backends.simulated.answers`` which
  values are refused, and in ``backends.simulated.clocks`` what it does to the clocks or the process.

Source of numbers and names: QnnHtpPerfInfrastructure.h, SDK 2.48.
"""

import enum
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

import attrs

from htppower.votes.clock_votes import (
    CENG_DEFAULT,
    CENG_EXP_DEFAULT,
    HMX_DEFAULT,
    HVX_EXP_REMOVED,
    HVX_REMOVED,
    Ceng,
    CengExp,
    DcvsV3,
    DcvsV3Exp,
    HmxV2,
)
from htppower.votes.option import Limits, VoteField, VoteOption, corners_of, one_clock

# No `from __future__ import annotations`: the loader reads the field types.


class Option(enum.IntEnum):
    """A power config option."""

    DCVS_V3 = 1
    RPC_CONTROL_LATENCY = 2
    RPC_POLLING_TIME = 3
    HMX_TIMEOUT_INTERVAL_US = 4
    HMX_V2 = 5
    ADAPTIVE_POLLING_TIME = 6
    DDR_PERF_MODE = 7
    CENG = 8
    DCVS_V3_EXP = 9
    CENG_EXP = 10


LARGEST_UINT32 = 2**32 - 1
# Without a vote, the vendor's tools keep the HMX on for this long (backend extensions, hmx_timeout_us).
DEFAULT_HMX_TIMEOUT_US = 300_000

_INFRASTRUCTURE = 'QNN HTP backend, "QNN HTP Performance Infrastructure API"'
_HMX = 'QNN HTP backend, "HMX Power Settings"'
_POLLING = 'QNN HTP backend, "RPC Polling and Latency Settings"'
_ADAPTIVE = 'QNN HTP backend, "Adaptive Polling Time"'
_TIMEOUT = 'QNN HTP backend, "QNN HTP Backend Extensions", hmx_timeout_us'
_CENG = 'QNN HTP backend, "CENG Power Settings"'
_EXPANDED = 'QNN HTP backend, "Expanded Voltage Corners (V85+)"'
_HEADER = "QnnHtpPerfInfrastructure.h, SDK 2.48"


def _smallest_wish(latencies_us: Collection[int]) -> int:
    """Return the smallest latency other than 0, since 0 is not a vote (rule RPC-5)."""
    return min((latency_us for latency_us in latencies_us if latency_us), default=0)


_SLEEP = (
    VoteField(
        "sleep_latency_us",
        ("sleepLatency",),
        "setSleepLatency",
        "The longest tolerated wake-up time, in us. With a smaller value the DSP sleeps less deeply and draws more "
        "power when idle; 65535 tolerates any latency.",
        Limits(10, 65535, "DCVS-1"),
    ),
    VoteField(
        "sleep_disable",
        ("sleepDisable",),
        "setSleepDisable",
        "true keeps the DSP from sleeping until a vote says false.",
    ),
)
_CLOCKS = (
    corners_of("bus", "The clock between the DSP and memory: never below min, at target when the call returns."),
    corners_of(
        "core",
        "The DSP's own clock: never below min, at target when the call returns; while no other client is "
        "active, never above max.",
    ),
)
_DCVS_V3 = (
    VoteField(
        "dcvs_enable",
        ("dcvsEnable",),
        "setDcvsEnable",
        "true lets DCVS move the clocks between min and max with the load; false keeps them at target.",
    ),
    VoteField(
        "power_mode",
        ("powerMode",),
        does="How eagerly DCVS moves the clocks; it does nothing while dcvs_enable is false.",
    ),
    *_SLEEP,
    *_CLOCKS,
)
_DCVS_V3_EXP = (
    VoteField("power_mode", ("powerMode",), does="How eagerly DCVS moves the clocks."),
    *_SLEEP,
    *_CLOCKS,
    VoteField(
        "core_perf_mode",
        ("corePerfMode",),
        does="Which frequency of the core's corner: HIGH the highest, LOW the lowest, HIGH_D1 one below HIGH.",
    ),
    VoteField(
        "bus_perf_mode",
        ("busPerfMode",),
        does="Which frequency of the bus's corner: HIGH the highest, LOW the lowest, HIGH_D1 one below HIGH.",
    ),
)
# Measured on QAIRT 2.51: V89 answers 13004 to votes on the HMX and the compression engine.
_V89 = frozenset({89})
# RPC latency and polling do not exist on QNX (vendor documentation, "RPC Polling and Latency Settings"); adaptive
# polling needs polling.
_QNX = frozenset({"qnx"})


def _record(option: Option, member: str, does: str, section: str, **more: Any) -> dict[str, Any]:
    """Return the attributes of a ``VoteOption`` except its field."""
    return {"option": option, "member": member, "does": does, "section": section, **more}


@attrs.frozen(slots=False)
class Votes:
    """The fields of a vote set. None means no vote on that option."""

    dcvs_v3: DcvsV3 | None = attrs.field(
        default=None,
        metadata=_record(
            Option.DCVS_V3,
            "dcvsV3Config",
            "The HVX vote: core and bus clocks, and how they move.",
            _INFRASTRUCTURE,
            fields=_DCVS_V3,
            has_context_id=True,
            taken_back=HVX_REMOVED,
            other_form=Option.DCVS_V3_EXP,
        ),
    )
    dcvs_v3_exp: DcvsV3Exp | None = attrs.field(
        default=None,
        kw_only=True,
        metadata=_record(
            Option.DCVS_V3_EXP,
            "dcvsV3ExpConfig",
            "The HVX vote in expanded corners, instead of dcvs_v3; Hexagon V85 and later. DCVS is on.",
            _EXPANDED,
            fields=_DCVS_V3_EXP,
            has_context_id=True,
            taken_back=HVX_EXP_REMOVED,
            first_arch=85,
            rule_if_missing="DCVS-6",
            other_form=Option.DCVS_V3,
            optional=True,
            since="2.48",
        ),
    )
    hmx_v2: HmxV2 | None = attrs.field(
        default=None,
        metadata=_record(
            # The library refuses it before DCVS_V3 (measured: 13001).
            Option.HMX_V2,
            "hmxV2Config",
            "The matrix unit's clock. default: it follows the core vote of the same id. Corners set it separately; "
            "Hexagon V75 and later.",
            _HMX,
            fields=(VoteField("pick_default", ("hmxPickDefault",)), *one_clock("hmx")),
            taken_back=HMX_DEFAULT,
            default=HMX_DEFAULT,
            # Vendor, "HMX Power Settings".
            first_arch=75,
            not_on_archs=_V89,
            rule_if_missing="HMX-1",
            needs_hvx=True,
        ),
    )
    ceng: Ceng | None = attrs.field(
        default=None,
        kw_only=True,
        metadata=_record(
            Option.CENG,
            "cengConfig",
            "The clock of the compression engine, which compresses and decompresses weights and activations; Hexagon "
            "V75 and later.",
            _CENG,
            fields=one_clock("ceng"),
            taken_back=CENG_DEFAULT,
            first_arch=75,
            not_on_archs=_V89,
            rule_if_missing="CENG-1",
            other_form=Option.CENG_EXP,
            needs_hvx=True,
            optional=True,
        ),
    )
    ceng_exp: CengExp | None = attrs.field(
        default=None,
        kw_only=True,
        metadata=_record(
            Option.CENG_EXP,
            "cengExpConfig",
            "The clock of the compression engine in expanded corners, instead of ceng; Hexagon V85 and later.",
            _EXPANDED,
            fields=one_clock("ceng"),
            taken_back=CENG_EXP_DEFAULT,
            first_arch=85,
            not_on_archs=_V89,
            rule_if_missing="CENG-1",
            other_form=Option.CENG,
            needs_hvx=True,
            optional=True,
            since="2.48",
        ),
    )
    rpc_control_latency_us: int | None = attrs.field(
        default=None,
        metadata=_record(
            Option.RPC_CONTROL_LATENCY,
            "rpcControlLatencyConfig",
            "The CPU wake-up latency that a remote call tolerates, in us, for the whole process. 0 is not a vote and "
            "does not cancel an earlier one.",
            _POLLING,
            aggregate=_smallest_wish,
            limits=Limits(0, LARGEST_UINT32),
            not_on_systems=_QNX,
            rule_if_missing="RPC-4",
        ),
    )
    rpc_polling_time_us: int | None = attrs.field(
        default=None,
        metadata=_record(
            Option.RPC_POLLING_TIME,
            "rpcPollingTimeConfig",
            "How long the CPU polls for an answer before it sleeps, in us, for the whole process. Answers come sooner,"
            " but polling uses CPU time. 0 is off.",
            _POLLING,
            taken_back=0,
            aggregate=max,
            limits=Limits(0, 9999, "RPC-1"),
            not_on_systems=_QNX,
            rule_if_missing="RPC-4",
        ),
    )
    adaptive_polling_time_us: int | None = attrs.field(
        default=None,
        metadata=_record(
            Option.ADAPTIVE_POLLING_TIME,
            "adaptivePollingTimeConfig",
            "During inferences of at least this length, in us, the CPU sleeps first and polls only near the end; 0 is "
            "off.",
            _ADAPTIVE,
            taken_back=0,
            # With several thresholds, the largest affects the fewest inferences of the other sessions.
            aggregate=max,
            limits=Limits(0, LARGEST_UINT32),
            not_on_systems=_QNX,
            rule_if_missing="RPC-4",
            needs=Option.RPC_POLLING_TIME,
        ),
    )
    hmx_timeout_us: int | None = attrs.field(
        default=None,
        metadata=_record(
            Option.HMX_TIMEOUT_INTERVAL_US,
            "hmxTimeoutIntervalUsConfig",
            "How long the matrix unit stays powered when idle, in us.",
            _TIMEOUT,
            taken_back=DEFAULT_HMX_TIMEOUT_US,
            limits=Limits(100, 1_000_000, "TMR-1"),
            rule_if_missing="TMR-1",
        ),
    )
    ddr_perf_mode: bool | None = attrs.field(
        default=None,
        metadata=_record(
            Option.DDR_PERF_MODE,
            "ddrPerfModeConfig",
            "true asks for the memory's performance mode; Hexagon V81 and later.",
            _HEADER,
            taken_back=False,
            first_arch=81,
            rule_if_missing="DDR-1",
            needs_hvx=True,
        ),
    )


_TABLE = tuple(VoteOption(field=each.name, **each.metadata) for each in attrs.fields(Votes))
VOTE_OPTIONS: Mapping[Option, VoteOption] = MappingProxyType({each.option: each for each in _TABLE})
BY_FIELD: Mapping[str, VoteOption] = MappingProxyType({each.field: each for each in _TABLE})
# The options whose votes are structs, by the class of the vote.
BY_CLASS: Mapping[type[Any], VoteOption] = MappingProxyType(
    {type(each.taken_back): each for each in _TABLE if each.fields}
)
# The RPC options act on the whole process, whichever id carries them (Hexagon SDK, FastRPC).
PROCESS_WIDE = frozenset(each.option for each in _TABLE if each.process_wide)


def needing(option: Option) -> tuple[Option, ...]:
    """Return the options that have no effect without a vote on this one."""
    return tuple(about.option for about in _TABLE if about.needs is option)

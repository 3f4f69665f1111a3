"""What each field does, in a sentence, with the rules on it and the section of the vendor's documentation behind it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.rules.case import Path

_INFRASTRUCTURE = 'QNN HTP backend, "QNN HTP Performance Infrastructure API"'
_HMX = 'QNN HTP backend, "HMX Power Settings"'
_POLLING = 'QNN HTP backend, "RPC Polling and Latency Settings"'
_ADAPTIVE = 'QNN HTP backend, "Adaptive Polling Time"'
_PROFILES = 'QNN HTP backend, "QNN HTP Backend Extensions", perf_profile'
_TIMEOUT = 'QNN HTP backend, "QNN HTP Backend Extensions", hmx_timeout_us'
_HEADER = "QnnHtpPerfInfrastructure.h, SDK 2.48"
_OURS = "htppower's own; the vendor's documentation names no such field"


@attrs.frozen(repr=False, eq=False)
class Meaning:
    """What a field means.

    Attributes:
        does: what it does, in a sentence.
        section: where the vendor documents it.
        rules: the ids of the rules on it.
        native: the fields of the C struct that it becomes; empty for one that is no vote.
    """

    does: str
    section: str
    rules: tuple[str, ...] = ()
    native: tuple[str, ...] = ()


def _corners(clock: str, does: str, *rules: str) -> Meaning:
    fields = tuple(f"{clock}VoltageCorner{limit}" for limit in ("Min", "Target", "Max"))
    return Meaning(does, _INFRASTRUCTURE, ("DCVS-2", *rules), (f"set{clock.capitalize()}Params", *fields))


_MEANINGS: Mapping[Path, Meaning] = MappingProxyType(
    {
        ("profile",): Meaning("The profile's name, by which hosts ask for it.", _PROFILES, ("REV-6",)),
        ("state",): Meaning("The power state's name, by which profiles relax to it.", _PROFILES, ("REV-6",)),
        ("summary",): Meaning("What the profile is for; it is shown, and changes no vote.", _OURS),
        ("votes",): Meaning("The votes; unset casts none, creates no power config id and makes no call.", _PROFILES),
        ("votes", "dcvs_v3"): Meaning(
            "The HVX vote: core and bus clocks, and how they move.", _INFRASTRUCTURE, ("HMX-2", "HMX-3")
        ),
        ("votes", "dcvs_v3", "dcvs_enable"): Meaning(
            "true lets DCVS move the clocks between min and max as the load says; false holds them at target.",
            _INFRASTRUCTURE,
            ("DCVS-3",),
            ("setDcvsEnable", "dcvsEnable"),
        ),
        ("votes", "dcvs_v3", "power_mode"): Meaning(
            "How eagerly DCVS moves the clocks; it does nothing while dcvs_enable is false.",
            _INFRASTRUCTURE,
            ("DCVS-3",),
            ("powerMode",),
        ),
        ("votes", "dcvs_v3", "sleep_latency_us"): Meaning(
            "The longest wake-up that is tolerated, in us: the smaller, the lighter the DSP sleeps, and the more it "
            "draws when idle; 65535 is no wish.",
            _INFRASTRUCTURE,
            ("DCVS-1",),
            ("setSleepLatency", "sleepLatency"),
        ),
        ("votes", "dcvs_v3", "sleep_disable"): Meaning(
            "true keeps the DSP from sleeping until a vote says false.",
            _INFRASTRUCTURE,
            ("DCVS-4",),
            ("setSleepDisable", "sleepDisable"),
        ),
        ("votes", "dcvs_v3", "bus"): _corners(
            "bus", "The clock between the DSP and memory: no lower than min, at target when the call returns.", "DDR-1"
        ),
        ("votes", "dcvs_v3", "core"): _corners(
            "core", "The DSP's own clock: no lower than min, at target when the call returns, capped at max alone."
        ),
        ("votes", "hmx_v2"): Meaning(
            "The matrix unit's clock: default follows the core vote of the same id; corners set it apart from Hexagon "
            "V75 on.",
            _HMX,
            ("HMX-1", "HMX-2", "HMX-3", "HMX-4", "HMX-5", "HMX-6", "HMX-7", "HMX-8"),
            (
                "hmxPickDefault",
                "hmxVoltageCornerMin",
                "hmxVoltageCornerTarget",
                "hmxVoltageCornerMax",
                "hmxPerfMode",
            ),
        ),
        ("votes", "rpc_control_latency_us"): Meaning(
            "The CPU wake-up latency that a remote call tolerates, in us, for the whole process; 0 is no vote and "
            "takes none back.",
            _POLLING,
            ("RPC-4", "RPC-5"),
            ("rpcControlLatencyConfig",),
        ),
        ("votes", "rpc_polling_time_us"): Meaning(
            "How long the CPU polls for an answer before it sleeps, in us, for the whole process: quicker answers, "
            "paid with CPU time; 0 is off.",
            _POLLING,
            ("RPC-1", "RPC-2", "RPC-4", "RPC-6", "REV-2", "REV-4"),
            ("rpcPollingTimeConfig",),
        ),
        ("votes", "adaptive_polling_time_us"): Meaning(
            "From inferences of this length on, in us, the CPU sleeps first and polls only towards the end; 0 is off.",
            _ADAPTIVE,
            ("RPC-2", "RPC-3", "RPC-4", "REV-2", "REV-4"),
            ("adaptivePollingTimeConfig",),
        ),
        ("votes", "hmx_timeout_us"): Meaning(
            "How long the matrix unit stays powered when idle, in us.",
            _TIMEOUT,
            ("TMR-1",),
            ("hmxTimeoutIntervalUsConfig",),
        ),
        ("votes", "ddr_perf_mode"): Meaning(
            "true asks for the memory's performance mode, on Hexagon V81 and later.",
            _HEADER,
            ("DDR-1",),
            ("ddrPerfModeConfig",),
        ),
        ("relax",): Meaning(
            "What is voted between the phases; unset only where nothing is voted.", _PROFILES, ("SUS-2",)
        ),
        ("relax", "to"): Meaning(
            "The power state to which the votes are lowered between the phases.",
            _PROFILES,
            ("SUS-2", "DCVS-4", "REV-3"),
        ),
        ("relax", "after_init_us"): Meaning(
            "How long the votes stay up after INIT, in us; 0 lowers at once.",
            _PROFILES,
            ("SUS-1", "REV-8"),
        ),
        ("relax", "after_inference_us"): Meaning(
            "The sustain time: how long the votes stay up after the last inference, in us; 0 lowers at once.",
            _PROFILES,
            ("SUS-1", "SUS-3", "REV-8"),
        ),
        ("relax", "lowering"): Meaning(
            "foreground: without a sustain time the inference returns once the votes are lowered; background: they are "
            "lowered soon after, off the caller's thread, which a failure then can't reach.",
            _OURS,
            ("SUS-3",),
        ),
    }
)

_LIMITS: Mapping[str, str] = MappingProxyType(
    {
        "min": "The clock goes no lower.",
        "target": "The clock is here when the call returns.",
        "max": "The clock goes no higher, as long as no other client is active.",
        "perf_mode": "Which frequency of the corner: HIGH the highest, LOW the lowest.",
    }
)


def meaning_of(at: Path) -> Meaning:
    """Return what a field means, by the keys that lead to it in a file."""
    if at in _MEANINGS:
        return _MEANINGS[at]
    whole = _MEANINGS[at[:-1]]
    suffix = "PerfMode" if at[-1] == "perf_mode" else at[-1].capitalize()
    native = tuple(name for name in whole.native if name.endswith(suffix))
    return attrs.evolve(whole, does=f"{_LIMITS[at[-1]]} {whole.does}", native=native)

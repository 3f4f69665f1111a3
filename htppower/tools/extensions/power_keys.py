"""The keys that affect votes: of devices and cores, and the profile of a graph."""

from __future__ import annotations

from htppower.profiles.names import LLM_DECODE_PROFILES
from htppower.tools.extensions.keys import UINT32, Key, Section, Source, Type
from htppower.votes.option import Limits

PLAIN_PROFILES = (
    "low_balanced",
    "balanced",
    "default",
    "high_performance",
    "sustained_high_performance",
    "burst",
    "low_power_saver",
    "power_saver",
    "high_power_saver",
    "extreme_power_saver",
    "system_settings",
    "custom",
)
# From 2.48 on, and only for Hexagon V79 and later.
LLM_DECODE = "llm_decode_"
PERF_PROFILES = (*PLAIN_PROFILES, *LLM_DECODE_PROFILES)
DSP_ARCHS = ("v66", "v68", "v69", "v73", "v75", "v77", "v79", "v81", "v85", "v89")

_DEVICE, _CORE = Section.DEVICE, Section.CORE
_MEASURED = Source.MEASURED
_SINCE_2_48 = (2, 48)

POWER_KEYS = (
    Key(
        Section.GRAPH,
        "perf_profile",
        Type.WORD,
        "The profile for the inferences of these graphs, instead of the core's.",
        words=PERF_PROFILES,
        source=_MEASURED,
        power=True,
        note="INIT and DE-INIT keep the core's profile.",
    ),
    Key(
        _DEVICE,
        "device_id",
        Type.INTEGER,
        "The device that this object is for.",
        default=0,
        limits=UINT32,
        power=True,
        note="If there are several devices, only the first is read.",
    ),
    Key(_DEVICE, "core_id", Type.INTEGERS, "Which cores of the device are used.", default=0, limits=UINT32, power=True),
    Key(
        _DEVICE,
        "core_type",
        Type.INTEGER,
        "The kind of core: 0 is the NSP, 1 the HPASS.",
        default=0,
        limits=UINT32,
        useful=Limits(0, 1),
        power=True,
    ),
    Key(
        _DEVICE,
        "soc_id",
        Type.INTEGER,
        "The SoC, by its old number.",
        default=0,
        limits=UINT32,
        power=True,
        note="It is going to be removed; soc_model replaces it.",
    ),
    Key(_DEVICE, "soc_model", Type.INTEGER, "The SoC, by its model number.", default=0, limits=UINT32, power=True),
    Key(
        _DEVICE,
        "dsp_arch",
        Type.WORD,
        "The Hexagon architecture.",
        words=DSP_ARCHS,
        power=True,
        note="In lower case: V79 and 79 refuse the file.",
    ),
    Key(
        _DEVICE,
        "use_client_context",
        Type.BOOL,
        "Whether the client votes on its own id, instead of the id that all clients share.",
        power=True,
        note="It is not for V68 and later, and had no visible effect on x86.",
    ),
    Key(
        _DEVICE,
        "async_voting",
        Type.BOOL,
        "By its name, whether votes are sent without waiting for them.",
        since=_SINCE_2_48,
        source=_MEASURED,
        power=True,
        note="It had no visible effect on x86.",
    ),
    Key(
        _CORE,
        "core_id",
        Type.INTEGER,
        "The core that this object is for.",
        default=0,
        limits=UINT32,
        power=True,
        note="A core that the device lacks fails the creation of the device with 13001.",
    ),
    Key(
        _CORE,
        "perf_profile",
        Type.WORD,
        "The profile of the core: the votes in INIT, INFERENCE and DE-INIT.",
        default="high_performance",
        words=PERF_PROFILES,
        power=True,
        note="custom needs the key custom in the same core. llm_decode profiles exist from 2.48 on, for V79 and later.",
    ),
    Key(
        _CORE,
        "rpc_control_latency",
        Type.INTEGER,
        "The CPU wake-up latency that a remote call tolerates, in us.",
        default=100,
        limits=UINT32,
        power=True,
        note="It is voted for every profile, even system_settings.",
    ),
    Key(
        _CORE,
        "rpc_polling_time",
        Type.INTEGER,
        "How long the CPU polls for an answer before it sleeps, in us.",
        limits=UINT32,
        useful=Limits(0, 9999),
        power=True,
        note="If it is missing: 9999 for burst, sustained_high_performance, high_performance and their llm_decode "
        "forms, and not voted for the others. 20000 is voted unchanged.",
    ),
    Key(
        _CORE,
        "adaptive_polling_time",
        Type.INTEGER,
        "During inferences of at least this length, in us, the CPU sleeps first and polls only near the end.",
        default=0,
        limits=UINT32,
        power=True,
    ),
    Key(
        _CORE,
        "hmx_timeout_us",
        Type.INTEGER,
        "How long the matrix unit stays powered when idle, in us.",
        default=300_000,
        limits=UINT32,
        useful=Limits(100, 1_000_000),
        power=True,
        note="Outside of its range the library answers 13001, and the run goes on without the vote.",
    ),
    Key(
        _CORE,
        "ddr_perf_mode",
        Type.BOOL,
        "Whether to ask for the memory's performance mode.",
        source=_MEASURED,
        power=True,
        note="If the chip lacks it, the library answers 13004, and the raised votes are lost, too.",
    ),
    Key(
        _CORE,
        "hmxControl",
        Type.OBJECT,
        "The vote on the matrix unit in addition to the profile.",
        since=_SINCE_2_48,
        source=_MEASURED,
        power=True,
    ),
    Key(
        _CORE,
        "custom",
        Type.OBJECT_OR_OBJECTS,
        "The votes of the profile custom: a list of items, each for some graph states, or an object as in older SDKs.",
        source=_MEASURED,
        power=True,
        note="It is accepted only together with perf_profile custom.",
    ),
)

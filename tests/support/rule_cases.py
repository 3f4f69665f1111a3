"""Cases that break a rule, with the places of the findings, and cases that keep it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
from support.helpers import ceng, ceng_exp, corners, expanded, hmx, hvx, hvx_exp, nothing_set

from htppower.rules.case import Case, Stay
from htppower.rules.platforms import platform_of
from htppower.votes.clock_votes import CENG_DEFAULT, HMX_DEFAULT, HmxV2
from htppower.votes.corners import ClkPerfMode, VoltageCorner
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from htppower.errors import KeyPath

DCVS = ("votes", "dcvs_v3")
HMX = ("votes", "hmx_v2")
SLEEP = (*DCVS, "sleep_latency_us")
LATENCY = ("votes", "rpc_control_latency_us")
POLLING = ("votes", "rpc_polling_time_us")
ADAPTIVE = ("votes", "adaptive_polling_time_us")
TIMEOUT = ("votes", "hmx_timeout_us")
DDR = ("votes", "ddr_perf_mode")
EXP = ("votes", "dcvs_v3_exp")
SUSTAIN = ("relax", "after_inference_us")
LEARNT = (*SUSTAIN, "adaptive")
THEN_TO = ("relax", "then", "to")
THEN_AFTER = ("relax", "then", "after_us")
CENG = ("votes", "ceng")
CENG_EXP = ("votes", "ceng_exp")

OFF = VoltageCorner.DISABLE
MAX = VoltageCorner.MAX_VOLTAGE_CORNER
LEGACY: Any = VoltageCorner.TURBO  # a corner of the wrong kind, as code without a type checker can pass it
LEGACY_HMX = HmxV2(LEGACY, LEGACY, LEGACY, ClkPerfMode.HIGH)

CALM = VoteSet(hvx(sleep_disable=False))
EXPLICIT = VoteSet(hvx(), hmx())
ASLEEP = VoteSet(hvx(OFF), HMX_DEFAULT)
POLLS = VoteSet(hvx(), rpc_polling_time_us=1)
RPC = VoteSet(rpc_control_latency_us=1, rpc_polling_time_us=1, adaptive_polling_time_us=1)


def on(arch: int, os: str = "linux", **votes: Any) -> Case:
    """Return the case of these votes on an architecture."""
    return Case(VoteSet(**votes), platform_of(arch=arch, os=os))


def voting(**votes: Any) -> Case:
    """Return a case with only these votes."""
    return Case(VoteSet(**votes))


def lowering(*states: VoteSet) -> tuple[tuple[KeyPath, VoteSet], ...]:
    """Return the votes of the power states between the phases and after DE-INIT."""
    return tuple(zip((("relax", "to"), ("relax", "after_deinit_to")), states, strict=False))


def fixed(us: int) -> Stay:
    """Return a fixed sustain time."""
    return Stay(SUSTAIN, us, us)


def learnt(break_even_us: int = 100_000, *, least_us: int = 0, most_us: int = 200_000, at: KeyPath = SUSTAIN) -> Stay:
    """Return a time that is learnt by a break-even time."""
    return Stay(at, least_us, most_us, break_even_us, is_learnt=True)


BROKEN: list[tuple[str, Case, list[KeyPath]]] = [
    ("DCVS-1", voting(dcvs_v3=hvx(sleep_latency_us=9)), [SLEEP]),
    ("DCVS-1", voting(dcvs_v3=hvx(sleep_latency_us=65536)), [SLEEP]),
    ("DCVS-1", voting(dcvs_v3=hvx(sleep_latency_us=0)), [SLEEP]),
    ("DCVS-2", voting(dcvs_v3=hvx(bus=corners("SVS", "SVS2", "NOM"))), [(*DCVS, "bus")]),
    ("DCVS-2", voting(dcvs_v3=hvx(core=corners("SVS", "TURBO_L2", "TURBO_PLUS"))), [(*DCVS, "core")]),
    ("DCVS-2", voting(dcvs_v3=hvx(core=corners("SVS", "DISABLE", "MIN_VOLTAGE_CORNER"))), [(*DCVS, "core")]),
    (
        "DCVS-2",
        voting(dcvs_v3=hvx(core=corners("NOM", "SVS", "NOM"), bus=corners("NOM", "NOM", "SVS"))),
        [(*DCVS, "bus"), (*DCVS, "core")],
    ),
    ("DCVS-3", voting(dcvs_v3=hvx(dcvs_enable=False)), [(*DCVS, "power_mode")]),
    ("DCVS-4", Case(VoteSet(hvx(sleep_disable=True)), lowered=lowering(VoteSet(hvx()))), [("relax", "to")]),
    ("DCVS-4", Case(VoteSet(hvx(sleep_disable=True)), lowered=lowering(VoteSet())), [("relax", "to")]),
    (
        "DCVS-4",
        Case(VoteSet(hvx(sleep_disable=True)), lowered=lowering(VoteSet(hvx(sleep_disable=True)))),
        [("relax", "to")],
    ),
    ("DCVS-1", voting(dcvs_v3_exp=hvx_exp(sleep_latency_us=9)), [(*EXP, "sleep_latency_us")]),
    ("DCVS-2", voting(dcvs_v3_exp=hvx_exp(core=expanded("NOM", "SVS_L2", "NOM"))), [(*EXP, "core")]),
    (
        "DCVS-4",
        Case(VoteSet(dcvs_v3_exp=hvx_exp(sleep_disable=True)), lowered=lowering(VoteSet(hvx()))),
        [("relax", "to")],
    ),
    (
        "DCVS-4",
        Case(VoteSet(hvx(sleep_disable=True)), lowered=lowering(CALM, VoteSet(hvx()))),
        [("relax", "after_deinit_to")],
    ),
    ("DCVS-5", voting(dcvs_v3=hvx(), dcvs_v3_exp=hvx_exp()), [EXP]),
    ("DCVS-6", on(81, dcvs_v3_exp=hvx_exp()), [EXP]),
    ("HMX-1", on(68, dcvs_v3=hvx(), hmx_v2=hmx()), [HMX]),
    ("HMX-1", on(73, dcvs_v3=hvx(), hmx_v2=hmx()), [HMX]),
    ("HMX-1", on(89, dcvs_v3=hvx(), hmx_v2=hmx()), [HMX]),
    ("HMX-3", voting(hmx_v2=HMX_DEFAULT), [HMX]),
    ("HMX-3", voting(hmx_v2=hmx()), [HMX]),
    ("HMX-3", voting(dcvs_v3=hvx(OFF), hmx_v2=hmx()), [HMX]),
    ("HMX-3", Case(VoteSet(hmx_v2=hmx()), in_force=VoteSet(hvx(OFF))), [HMX]),
    ("HMX-5", Case(VoteSet(hvx()), in_force=EXPLICIT), [HMX]),
    ("HMX-6", Case(VoteSet(hmx_v2=HMX_DEFAULT), in_force=VoteSet(hvx(OFF), hmx())), [HMX]),
    ("HMX-6", Case(VoteSet(hmx_v2=hmx("NOM")), in_force=VoteSet(hvx(OFF), hmx())), [HMX]),
    ("HMX-6", Case(VoteSet(hmx_v2=hmx("NOM")), in_force=VoteSet(hmx_v2=hmx())), [HMX]),
    ("HMX-8", voting(hmx_v2=hmx("NOM", "SVS", "TUR")), [HMX]),
    ("HMX-8", voting(hmx_v2=hmx("NOM", "TUR", "NOM_L2")), [HMX]),
    ("HMX-8", voting(dcvs_v3=hvx(), hmx_v2=LEGACY_HMX), [HMX]),
    ("HMX-8", voting(dcvs_v3=hvx(), hmx_v2=attrs.evolve(LEGACY_HMX, pick_default=True)), [HMX]),
    ("HMX-3", voting(dcvs_v3_exp=hvx_exp("DISABLE"), hmx_v2=hmx()), [HMX]),
    ("CENG-1", on(73, dcvs_v3=hvx(), ceng=ceng()), [CENG]),
    ("CENG-1", on(89, dcvs_v3=hvx(), ceng=ceng()), [CENG]),
    ("CENG-1", on(81, dcvs_v3=hvx(), ceng_exp=ceng_exp()), [CENG_EXP]),
    ("CENG-1", on(89, dcvs_v3=hvx(), ceng_exp=ceng_exp()), [CENG_EXP]),
    ("CENG-2", voting(ceng=ceng()), [CENG]),
    ("CENG-2", voting(ceng_exp=ceng_exp()), [CENG_EXP]),
    ("CENG-2", voting(dcvs_v3=hvx(OFF), ceng=ceng()), [CENG]),
    ("CENG-2", Case(VoteSet(ceng=ceng()), in_force=VoteSet(dcvs_v3_exp=hvx_exp("DISABLE"))), [CENG]),
    ("CENG-3", voting(dcvs_v3=hvx(), ceng=ceng(), ceng_exp=ceng_exp()), [CENG_EXP]),
    ("CENG-4", voting(dcvs_v3=hvx(), ceng=ceng("NOM", "SVS", "NOM")), [CENG]),
    ("CENG-4", voting(dcvs_v3=hvx(), ceng_exp=ceng_exp("NOM", "NOM", "SVS")), [CENG_EXP]),
    ("DDR-1", on(85, dcvs_v3_exp=hvx_exp("TUR"), ddr_perf_mode=True), [DDR]),
    ("RPC-1", voting(rpc_polling_time_us=10000), [POLLING]),
    ("RPC-1", voting(rpc_polling_time_us=-1), [POLLING]),
    ("RPC-2", voting(adaptive_polling_time_us=1000), [ADAPTIVE]),
    ("RPC-2", voting(adaptive_polling_time_us=1000, rpc_polling_time_us=0), [ADAPTIVE]),
    ("RPC-3", voting(adaptive_polling_time_us=999), [ADAPTIVE]),
    ("RPC-3", voting(adaptive_polling_time_us=1), [ADAPTIVE]),
    ("RPC-4", Case(RPC, platform_of(arch=75, os="qnx")), [LATENCY, POLLING, ADAPTIVE]),
    ("RPC-5", voting(rpc_control_latency_us=0), [LATENCY]),
    ("RPC-5", voting(rpc_control_latency_us=199), [LATENCY]),
    ("RPC-6", Case(POLLS, lineage=("balanced",)), [POLLING]),
    ("RPC-6", Case(POLLS, lineage=("camera", "balanced")), [POLLING]),
    ("TMR-1", voting(hmx_timeout_us=99), [TIMEOUT]),
    ("TMR-1", voting(hmx_timeout_us=1_000_001), [TIMEOUT]),
    ("DDR-1", on(79, dcvs_v3=hvx(MAX), ddr_perf_mode=True), [DDR]),
    ("DDR-1", on(81, dcvs_v3=hvx(MAX, bus=corners("TURBO", *[MAX.name] * 2)), ddr_perf_mode=True), [DDR]),
    ("DDR-1", on(81, dcvs_v3=hvx(MAX, bus=None), ddr_perf_mode=True), [DDR]),
    ("DDR-1", on(81, ddr_perf_mode=True), [DDR]),
    ("DDR-1", on(75, dcvs_v3=hvx(), ddr_perf_mode=True), [DDR, DDR]),
    ("DDR-2", attrs.evolve(on(79, ddr_perf_mode=True), lineage=("mine", "llm_decode_burst")), [DDR]),
    ("DDR-3", on(81, dcvs_v3=hvx(MAX), ddr_perf_mode=True), [DDR]),
    ("DDR-3", on(81, dcvs_v3=hvx(MAX), ddr_perf_mode=True, rpc_polling_time_us=0), [DDR]),
    ("RPC-8", on(75, rpc_polling_time_us=1, rpc_control_latency_us=1), [POLLING, LATENCY]),
    ("SUS-1", Case(CALM, after_inference=fixed(1)), [SUSTAIN]),
    ("SUS-1", Case(CALM, after_inference=fixed(19_999)), [SUSTAIN]),
    ("SUS-1", Case(CALM, after_init=Stay(("relax", "after_init_us"), 1, 1)), [("relax", "after_init_us")]),
    ("SUS-1", Case(CALM, then_after=Stay(THEN_AFTER, 1, 1)), [THEN_AFTER]),
    ("SUS-1", Case(CALM, after_inference=learnt(least_us=1)), [(*LEARNT, "least_us")]),
    ("SUS-1", Case(CALM, after_inference=learnt(most_us=1)), [(*LEARNT, "most_us")]),
    ("SUS-2", Case(CALM, lineage=("camera",)), [("relax",)]),
    ("SUS-3", Case(CALM, after_inference=fixed(20_000), in_background=True), [("relax", "lowering")]),
    ("SUS-3", Case(CALM, after_inference=learnt(least_us=20_000), in_background=True), [("relax", "lowering")]),
    ("SUS-4", Case(CALM, after_inference=learnt(19_999)), [(*LEARNT, "break_even_us")]),
    ("SUS-4", Case(CALM, then_after=learnt(1, at=THEN_AFTER)), [(*THEN_AFTER, "adaptive", "break_even_us")]),
    ("SUS-5", Case(CALM, after_inference=learnt(least_us=200_001)), [(*LEARNT, "least_us")]),
    ("SUS-5", Case(CALM, after_inference=Stay(SUSTAIN, 2, 1, None, is_learnt=True)), [(*LEARNT, "least_us")]),
    ("SUS-6", Case(CALM, after_inference=learnt(most_us=99_999)), [(*LEARNT, "most_us")]),
    ("SUS-6", Case(CALM, after_inference=learnt(least_us=100_001)), [(*LEARNT, "least_us")]),
    ("SUS-6", Case(CALM, after_inference=learnt(5000, most_us=10_000)), [(*LEARNT, "most_us")]),
    ("SUS-7", Case(POLLS, lowered=lowering(ASLEEP), then=CALM), [THEN_TO]),
    ("SUS-8", Case(POLLS, lowered=lowering(CALM), then=CALM), [THEN_TO]),
    ("SUS-8", Case(CALM, lowered=lowering(CALM), then=ASLEEP), [("relax", "to")]),
    ("SUS-9", Case(CALM, lowered=lowering(CALM), raise_ahead_us=1), [("relax", "raise_ahead_us")]),
    ("SUS-9", Case(VoteSet(), lowered=lowering(CALM), raise_ahead_us=1), [("relax", "raise_ahead_us")]),
]

KEPT: list[tuple[str, Case]] = [
    ("DCVS-1", voting(dcvs_v3=hvx(sleep_latency_us=10))),
    ("DCVS-1", voting(dcvs_v3=hvx(sleep_latency_us=65535))),
    ("DCVS-1", voting(dcvs_v3=hvx(sleep_latency_us=None))),
    ("DCVS-2", voting(dcvs_v3=hvx(core=corners("SVS2", "SVS", "SVS"), bus=None))),
    ("DCVS-2", voting(dcvs_v3=hvx(core=corners("MIN_VOLTAGE_CORNER", "SVS2", "MAX_VOLTAGE_CORNER")))),
    ("DCVS-2", voting(dcvs_v3=hvx(core=corners("TURBO", "TURBO", "DISABLE")))),
    ("DCVS-2", voting(dcvs_v3=hvx(core=corners("DISABLE", "TURBO_PLUS", "TURBO_L2")))),
    ("DCVS-3", voting(dcvs_v3=hvx(dcvs_enable=True))),
    ("DCVS-3", voting(dcvs_v3=hvx(dcvs_enable=None))),
    ("DCVS-4", Case(VoteSet(hvx(sleep_disable=True)), lowered=lowering(CALM))),
    ("DCVS-4", Case(CALM, lowered=lowering(VoteSet(hvx())))),
    ("DCVS-1", voting(dcvs_v3_exp=hvx_exp(sleep_latency_us=10))),
    ("DCVS-2", voting(dcvs_v3_exp=hvx_exp(core=expanded("SVS", "TUR", "DISABLE")))),
    ("DCVS-3", voting(dcvs_v3_exp=hvx_exp())),
    ("DCVS-4", Case(VoteSet(dcvs_v3_exp=hvx_exp(sleep_disable=True)), lowered=lowering(CALM))),
    ("DCVS-5", voting(dcvs_v3_exp=hvx_exp())),
    ("DCVS-6", on(85, dcvs_v3_exp=hvx_exp())),
    ("DCVS-6", on(89, dcvs_v3_exp=hvx_exp())),
    ("HMX-1", on(75, dcvs_v3=hvx(), hmx_v2=hmx())),
    ("HMX-1", on(73, dcvs_v3=hvx(), hmx_v2=HMX_DEFAULT)),
    ("HMX-1", Case(EXPLICIT)),
    ("HMX-3", Case(EXPLICIT)),
    ("HMX-3", Case(ASLEEP)),
    ("HMX-3", Case(VoteSet(hmx_v2=hmx()), in_force=VoteSet(hvx()))),
    ("HMX-3", Case(VoteSet(nothing_set(sleep_latency_us=40), hmx()), in_force=VoteSet(hvx()))),
    ("HMX-3", Case(VoteSet(hvx(OFF)), in_force=EXPLICIT)),
    ("HMX-5", Case(VoteSet(hvx(), HMX_DEFAULT), in_force=EXPLICIT)),
    ("HMX-5", Case(VoteSet(hvx()), in_force=VoteSet(hvx(), HMX_DEFAULT))),
    ("HMX-6", Case(VoteSet(hmx_v2=HMX_DEFAULT), in_force=EXPLICIT)),
    ("HMX-6", Case(VoteSet(hmx_v2=hmx("NOM")), in_force=EXPLICIT)),
    ("HMX-6", Case(ASLEEP, in_force=VoteSet(hvx(OFF), hmx()))),
    ("HMX-6", Case(VoteSet(hmx_v2=hmx()), in_force=VoteSet(hvx(OFF), hmx()))),
    ("HMX-8", voting(hmx_v2=hmx("NOM", "TUR", "TUR_L5"))),
    ("HMX-8", voting(hmx_v2=hmx("NOM", "DISABLE", "MAX"))),
    ("HMX-8", voting(hmx_v2=HMX_DEFAULT)),
    ("HMX-3", voting(dcvs_v3_exp=hvx_exp(), hmx_v2=hmx())),
    ("CENG-1", on(75, dcvs_v3=hvx(), ceng=ceng())),
    ("CENG-1", on(85, dcvs_v3_exp=hvx_exp(), ceng_exp=ceng_exp())),
    ("CENG-2", voting(dcvs_v3_exp=hvx_exp(), ceng=ceng())),
    ("CENG-2", voting(dcvs_v3=hvx(OFF), ceng=CENG_DEFAULT)),
    ("CENG-2", Case(VoteSet(ceng=ceng()), in_force=VoteSet(hvx()))),
    ("CENG-3", voting(dcvs_v3=hvx(), ceng_exp=ceng_exp())),
    ("CENG-4", voting(dcvs_v3=hvx(), ceng=ceng("SVS", "NOM", "DISABLE"))),
    ("DDR-1", on(85, dcvs_v3_exp=hvx_exp("MAX"), ddr_perf_mode=True)),
    ("RPC-1", voting(rpc_polling_time_us=0)),
    ("RPC-1", voting(rpc_polling_time_us=9999)),
    ("RPC-2", voting(adaptive_polling_time_us=1000, rpc_polling_time_us=1)),
    ("RPC-2", voting(adaptive_polling_time_us=0)),
    ("RPC-3", voting(adaptive_polling_time_us=1000)),
    ("RPC-3", voting(adaptive_polling_time_us=0)),
    ("RPC-4", Case(RPC, platform_of(arch=75, os="linux"))),
    ("RPC-4", Case(RPC)),
    ("RPC-4", on(75, os="qnx", dcvs_v3=hvx(), rpc_polling_time_us=0)),
    ("RPC-5", voting(dcvs_v3=hvx())),
    ("RPC-8", on(75, os="android", rpc_polling_time_us=9999, rpc_control_latency_us=100)),
    ("RPC-8", on(75, rpc_polling_time_us=0, rpc_control_latency_us=0)),
    ("DDR-3", on(81, dcvs_v3=hvx(MAX), ddr_perf_mode=True, rpc_polling_time_us=9999)),
    ("DDR-3", on(81, dcvs_v3=hvx(MAX), ddr_perf_mode=False)),
    ("RPC-6", Case(POLLS, lineage=("camera", "burst"))),
    ("RPC-6", Case(POLLS, lineage=("sustained_high_performance",))),
    ("RPC-6", Case(POLLS, lineage=("high_performance",))),
    ("RPC-6", Case(VoteSet(rpc_polling_time_us=0), lineage=("balanced",))),
    ("RPC-6", Case(POLLS)),
    ("TMR-1", voting(hmx_timeout_us=100)),
    ("TMR-1", voting(hmx_timeout_us=1_000_000)),
    ("DDR-1", on(81, dcvs_v3=hvx(MAX), ddr_perf_mode=True)),
    ("DDR-1", on(85, dcvs_v3=hvx(bus=corners(*[MAX.name] * 3)), ddr_perf_mode=True)),
    ("DDR-1", on(68, ddr_perf_mode=False)),
    ("DDR-1", attrs.evolve(on(79, dcvs_v3=hvx(MAX), ddr_perf_mode=True), lineage=("llm_decode_burst",))),
    ("DDR-2", attrs.evolve(on(81, ddr_perf_mode=True), lineage=("llm_decode_burst",))),
    ("DDR-2", attrs.evolve(on(79, dcvs_v3=hvx(MAX), ddr_perf_mode=True), lineage=("mine", "burst"))),
    ("HMX-3", voting(dcvs_v3=hvx(OFF), hmx_v2=hmx("DISABLE"))),
    ("CENG-2", voting(dcvs_v3=hvx(OFF, bus=corners("SVS2", "SVS2", "SVS2")), ceng=ceng())),
    ("CENG-2", voting(dcvs_v3=hvx(OFF), ceng=ceng("DISABLE"))),
    ("SUS-1", Case(CALM, after_inference=fixed(0))),
    ("SUS-1", Case(CALM, after_inference=fixed(20_000))),
    ("SUS-1", Case(CALM, after_inference=learnt(1, most_us=20_000))),
    ("SUS-2", Case(CALM, lineage=("camera",), lowered=lowering(CALM))),
    ("SUS-2", Case(VoteSet(), lineage=("system_settings",))),
    ("SUS-2", Case(CALM)),
    ("SUS-3", Case(CALM, after_inference=fixed(0), in_background=True)),
    ("SUS-3", Case(CALM, after_inference=fixed(20_000))),
    ("SUS-3", Case(CALM, after_inference=learnt(), in_background=True)),
    ("SUS-4", Case(CALM, after_inference=learnt(20_000))),
    ("SUS-4", Case(CALM, after_inference=fixed(1))),
    ("SUS-5", Case(CALM, after_inference=learnt(least_us=200_000))),
    ("SUS-6", Case(CALM, after_inference=learnt(least_us=100_000, most_us=100_000))),
    ("SUS-6", Case(CALM, after_inference=learnt(5000, least_us=20_000, most_us=20_000))),
    ("SUS-6", Case(CALM, after_inference=Stay(SUSTAIN, 0, 1, None, is_learnt=True))),
    ("SUS-7", Case(POLLS, lowered=lowering(CALM), then=ASLEEP)),
    ("SUS-7", Case(POLLS, lowered=lowering(CALM), then=CALM)),
    ("SUS-7", Case(POLLS, lowered=lowering(CALM))),
    ("SUS-8", Case(POLLS, lowered=lowering(CALM), then=ASLEEP)),
    ("SUS-8", Case(CALM, lowered=lowering(CALM))),
    ("SUS-9", Case(POLLS, lowered=lowering(CALM), raise_ahead_us=1)),
    ("SUS-9", Case(CALM, lowered=lowering(CALM), then=ASLEEP, raise_ahead_us=1)),
    ("SUS-9", Case(CALM, lowered=lowering(CALM))),
]

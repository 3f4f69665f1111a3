"""Votes: the vendor's names and numbers, the order of a call, and the values' own behaviour."""

from __future__ import annotations

import attrs
import pytest
from helpers import corners, enumerators, expanded, hmx, hvx, hvx_exp, nothing_set

from htppower.votes.clock_votes import HMX_DEFAULT, DcvsV3, HmxV2, as_plain
from htppower.votes.corners import ClkPerfMode, ExpandedCorner, PowerMode, VoltageCorner, as_expanded, plain_corner
from htppower.votes.native import NativeConfig, Option
from htppower.votes.options import PROCESS_WIDE, VOTE_OPTIONS
from htppower.votes.vote_set import VoteSet

Kind = type[VoltageCorner] | type[ExpandedCorner] | type[PowerMode] | type[ClkPerfMode]

OPTIONS = enumerators(
    "",
    """
    DCVS_V3 1  RPC_CONTROL_LATENCY 2  RPC_POLLING_TIME 3  HMX_TIMEOUT_INTERVAL_US 4  HMX_V2 5
    ADAPTIVE_POLLING_TIME 6  DDR_PERF_MODE 7  CENG 8  DCVS_V3_EXP 9  CENG_EXP 10
    """,
)

VOLTAGE_CORNERS = {"DCVS_VOLTAGE_CORNER_DISABLE": 16} | enumerators(
    "DCVS_VOLTAGE_VCORNER_",
    """
    MIN_VOLTAGE_CORNER 32  SVS2 48  SVS 64  SVS_PLUS 80  NOM 96  NOM_PLUS 112  TURBO 128  TURBO_PLUS 144
    TURBO_L2 146  TURBO_L3 147  TURBO_L4 148  TURBO_L5 149  MAX_VOLTAGE_CORNER 160
    """,
)

EXPANDED_CORNERS = enumerators(
    "DCVS_EXP_VCORNER_",
    """
    DISABLE 0  MIN 256  RET 272  MIN_SVS 304  LOW_SVS_D3_0 305  LOW_SVS_D3 306  LOW_SVS_D2_1 307  LOW_SVS_D2 308
    LOW_SVS_D1_2 309  LOW_SVS_D1_1 310  LOW_SVS_D1_0 311  LOW_SVS_D1 312  LOW_SVS_D0_1 314  LOW_SVS_D0_0 315
    LOW_SVS_D0 316  LOW_SVS 320  LOW_SVS_P1 328  LOW_SVS_L0 332  LOW_SVS_L1 336  LOW_SVS_L2 352  SVS 384  SVS_L0 400
    SVS_L0_1 401  SVS_L0_2 402  SVS_L1 448  SVS_L2 480  SVS_L2_0 481  NOM 512  NOM_L0 544  NOM_L0_0 545  NOM_L1 576
    NOM_L2 592  NOM_L3 608  TUR 640  TUR_L0 656  TUR_L1 672  TUR_L1_0 673  TUR_L1_1 674  TUR_L1_2 675  TUR_L2 688
    TUR_L3 704  TUR_L3_0 705  TUR_L3_1 706  TUR_L3_2 707  TUR_L4 708  TUR_L5 712  SUPER_TURBO 720
    SUPER_TURBO_NO_CPR 736  MAX 65535
    """,
)

POWER_MODES = enumerators(
    "QNN_HTP_PERF_INFRASTRUCTURE_POWERMODE_",
    """
    ADJUST_UP_DOWN 1  ADJUST_ONLY_UP 2  POWER_SAVER_MODE 4  POWER_SAVER_AGGRESSIVE_MODE 8  PERFORMANCE_MODE 16
    DUTY_CYCLE_MODE 32
    """,
)

PERF_MODES = enumerators(
    "QNN_HTP_PERF_INFRASTRUCTURE_CLK_PERF_",
    """
    HIGH 0  LOW 1  HIGH_D1 2  HIGH_D2 3  HIGH_D3 4  HIGH_D4 5  HIGH_D5 6  HIGH_D6 7  HIGH_D7 8  HIGH_D8 9
    HIGH_D9 10  HIGH_D10 11  HIGH_D11 12  HIGH_D12 13  HIGH_D13 14  HIGH_D14 15  HIGH_D15 16  MAX 255
    """,
)

BURST = hvx(VoltageCorner.MAX_VOLTAGE_CORNER, sleep_latency_us=40)

ALL_SEVEN = VoteSet(
    dcvs_v3=BURST,
    hmx_v2=HMX_DEFAULT,
    rpc_control_latency_us=100,
    rpc_polling_time_us=9999,
    adaptive_polling_time_us=1000,
    hmx_timeout_us=5000,
    ddr_perf_mode=True,
)

BURST_NATIVE = [
    ("contextId", 4_000_000_000),
    ("setDcvsEnable", 1),
    ("dcvsEnable", 0),
    ("powerMode", 16),
    ("setSleepLatency", 1),
    ("sleepLatency", 40),
    ("setSleepDisable", 0),
    ("sleepDisable", 0),
    ("setBusParams", 1),
    ("busVoltageCornerMin", 160),
    ("busVoltageCornerTarget", 160),
    ("busVoltageCornerMax", 160),
    ("setCoreParams", 1),
    ("coreVoltageCornerMin", 160),
    ("coreVoltageCornerTarget", 160),
    ("coreVoltageCornerMax", 160),
]


def only(votes: VoteSet, power_config_id: int = 1) -> NativeConfig:
    """Return the native form of a set's single vote."""
    (config,) = votes.native(power_config_id)
    return config


def triple(clock: str, low: int, target: int, high: int) -> dict[str, int]:
    """Return the fields of one clock's corners."""
    limits = {"Min": low, "Target": target, "Max": high}
    return {f"{clock}VoltageCorner{limit}": corner for limit, corner in limits.items()}


def test_options_have_the_vendors_numbers() -> None:
    """Every power config option has the name and number of the vendor's header."""
    assert {option.name: option.value for option in Option} == OPTIONS


@pytest.mark.parametrize(
    ("kind", "table"),
    [
        (VoltageCorner, VOLTAGE_CORNERS),
        (ExpandedCorner, EXPANDED_CORNERS),
        (PowerMode, POWER_MODES),
        (ClkPerfMode, PERF_MODES),
    ],
)
def test_enumerators_have_the_vendors_names_and_numbers(kind: Kind, table: dict[str, int]) -> None:
    """Every corner and mode has the enumerator and the number of the vendor's header, and no other exists."""
    assert {member.enumerator: member.value for member in kind} == table


def test_the_newer_corners_are_known_by_their_version() -> None:
    """The header of SDK 2.50 has eighteen names more than that of 2.48, one of them another name of a corner."""
    newer = [corner.name for corner in ExpandedCorner if corner.since == "2.50"]
    assert len(newer) == 17
    assert {ExpandedCorner.RET, ExpandedCorner.NOM_L3, ExpandedCorner.TUR_L3_2} <= {ExpandedCorner[it] for it in newer}
    assert ExpandedCorner["DEFINED_MAX"] is ExpandedCorner.SUPER_TURBO_NO_CPR
    assert ExpandedCorner.SUPER_TURBO_NO_CPR.since == "2.48 or earlier"


def test_hvx_vote_in_its_native_form() -> None:
    """A DCVS_V3 vote has the fields of the C struct in their order, and contextId is the id of the call."""
    config = only(VoteSet(dcvs_v3=BURST), 4_000_000_000)
    assert (config.option, config.number) == ("DCVS_V3", 1)
    assert list(config.fields.items()) == BURST_NATIVE


def test_hvx_vote_puts_each_corner_and_flag_in_its_own_field() -> None:
    """Bus and core, min, target and max, enable and sleep_disable are not mixed up."""
    vote = DcvsV3(
        dcvs_enable=True,
        power_mode=PowerMode.ADJUST_UP_DOWN,
        sleep_latency_us=65535,
        sleep_disable=True,
        bus=corners("SVS2", "SVS", "NOM"),
        core=corners("DISABLE", "TURBO", "TURBO_L5"),
    )
    fields = [9, 1, 1, 1, 1, 65535, 1, 1, 1, 48, 64, 96, 1, 16, 128, 149]
    assert list(only(VoteSet(dcvs_v3=vote), 9).fields.values()) == fields


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        ({"dcvs_enable": False}, {"setDcvsEnable": 1, "dcvsEnable": 0}),
        ({"dcvs_enable": True}, {"setDcvsEnable": 1, "dcvsEnable": 1}),
        ({"sleep_latency_us": 10}, {"setSleepLatency": 1, "sleepLatency": 10}),
        ({"sleep_disable": False}, {"setSleepDisable": 1, "sleepDisable": 0}),
        ({"sleep_disable": True}, {"setSleepDisable": 1, "sleepDisable": 1}),
        ({"bus": corners("SVS", "NOM", "TURBO")}, {"setBusParams": 1} | triple("bus", 64, 96, 128)),
        ({"core": corners("SVS", "NOM", "TURBO")}, {"setCoreParams": 1} | triple("core", 64, 96, 128)),
    ],
)
def test_unset_fields_leave_their_set_flag_at_0(given: dict[str, object], fields: dict[str, int]) -> None:
    """A field that is given raises its own set flag; every other flag and field is 0."""
    expected = dict.fromkeys((name for name, _ in BURST_NATIVE), 0) | {"contextId": 3, "powerMode": 16} | fields
    assert dict(only(VoteSet(dcvs_v3=nothing_set(**given)), 3).fields) == expected


@pytest.mark.parametrize(
    ("vote", "numbers"),
    [
        (hmx("NOM", "TUR", "SUPER_TURBO"), [0, 512, 640, 720, 0]),
        (attrs.evolve(hmx("MAX"), perf_mode=ClkPerfMode.HIGH_D15), [0, 65535, 65535, 65535, 16]),
        (HMX_DEFAULT, [1, 0, 0, 0, 0]),
    ],
)
def test_hmx_vote_in_its_native_form(vote: HmxV2, numbers: list[int]) -> None:
    """An HMX_V2 vote has the fields of the C struct; the default carries no corner the library would refuse."""
    config = only(VoteSet(hmx_v2=vote))
    assert (config.option, config.number) == ("HMX_V2", 5)
    assert list(config.fields) == [
        "hmxPickDefault",
        "hmxVoltageCornerMin",
        "hmxVoltageCornerTarget",
        "hmxVoltageCornerMax",
        "hmxPerfMode",
    ]
    assert list(config.fields.values()) == numbers


@pytest.mark.parametrize(
    ("votes", "config"),
    [
        (VoteSet(rpc_control_latency_us=100), ("RPC_CONTROL_LATENCY", 2, {"rpcControlLatencyConfig": 100})),
        (VoteSet(rpc_polling_time_us=9999), ("RPC_POLLING_TIME", 3, {"rpcPollingTimeConfig": 9999})),
        (VoteSet(rpc_polling_time_us=0), ("RPC_POLLING_TIME", 3, {"rpcPollingTimeConfig": 0})),
        (VoteSet(hmx_timeout_us=100), ("HMX_TIMEOUT_INTERVAL_US", 4, {"hmxTimeoutIntervalUsConfig": 100})),
        (
            VoteSet(adaptive_polling_time_us=1000),
            ("ADAPTIVE_POLLING_TIME", 6, {"adaptivePollingTimeConfig": 1000}),
        ),
        (VoteSet(ddr_perf_mode=True), ("DDR_PERF_MODE", 7, {"ddrPerfModeConfig": 1})),
        (VoteSet(ddr_perf_mode=False), ("DDR_PERF_MODE", 7, {"ddrPerfModeConfig": 0})),
    ],
)
def test_scalar_vote_in_its_native_form(votes: VoteSet, config: tuple[str, int, dict[str, int]]) -> None:
    """A vote of one number has the option and the one field of the vendor's union."""
    native = only(votes)
    assert (native.option, native.number, dict(native.fields)) == config


def test_symbols_name_the_enumerators() -> None:
    """The native form names the vendor's enumerator of every field that holds one, and of no other."""
    dcvs, picked = VoteSet(dcvs_v3=nothing_set(core=corners("SVS", "SVS", "SVS")), hmx_v2=hmx()).native(1)
    assert dict(dcvs.symbols) == {
        "powerMode": "QNN_HTP_PERF_INFRASTRUCTURE_POWERMODE_PERFORMANCE_MODE",
        "coreVoltageCornerMin": "DCVS_VOLTAGE_VCORNER_SVS",
        "coreVoltageCornerTarget": "DCVS_VOLTAGE_VCORNER_SVS",
        "coreVoltageCornerMax": "DCVS_VOLTAGE_VCORNER_SVS",
    }
    assert picked.symbols["hmxPerfMode"] == "QNN_HTP_PERF_INFRASTRUCTURE_CLK_PERF_HIGH"
    assert picked.symbols["hmxVoltageCornerMax"] == "DCVS_EXP_VCORNER_TUR"


def test_votes_are_sent_in_the_librarys_order() -> None:
    """The HVX vote is sent first, then votes on other clocks, then scalars, however the set was built."""
    order = (
        "DCVS_V3, HMX_V2, RPC_CONTROL_LATENCY, RPC_POLLING_TIME, ADAPTIVE_POLLING_TIME, HMX_TIMEOUT_INTERVAL_US, "
        "DDR_PERF_MODE"
    )
    backwards = VoteSet.of(dict(reversed(list(ALL_SEVEN.items()))))
    every = order.replace("DCVS_V3, HMX_V2", "DCVS_V3, DCVS_V3_EXP, HMX_V2, CENG, CENG_EXP")
    assert ", ".join(option.name for option in VOTE_OPTIONS) == every
    assert ", ".join(option.name for option, _ in backwards.items()) == order
    assert ", ".join(config.option for config in backwards.native(1)) == order
    assert str(backwards) == (
        "DCVS_V3, HMX_V2, RPC_CONTROL_LATENCY 100, RPC_POLLING_TIME 9999, ADAPTIVE_POLLING_TIME 1000, "
        "HMX_TIMEOUT_INTERVAL_US 5000, DDR_PERF_MODE 1"
    )


def test_rpc_options_are_process_wide() -> None:
    """The three RPC options act on the process, and no other does."""
    names = {option.name for option in PROCESS_WIDE}
    assert names == {"RPC_CONTROL_LATENCY", "RPC_POLLING_TIME", "ADAPTIVE_POLLING_TIME"}


def test_of_get_and_items_agree() -> None:
    """A set built from its own items is the same set, and get returns each vote."""
    assert VoteSet.of(dict(ALL_SEVEN.items())) == ALL_SEVEN
    assert all(ALL_SEVEN.get(option) == value for option, value in ALL_SEVEN.items())
    assert VoteSet(rpc_polling_time_us=0).get(Option.DCVS_V3) is None
    assert list(VoteSet(rpc_polling_time_us=0).items()) == [(Option.RPC_POLLING_TIME, 0)]


def test_without_leaves_out_the_named_votes_only() -> None:
    """Without returns a new set that lacks the named options, and leaves the old one as it is."""
    less = ALL_SEVEN.without(Option.HMX_V2, Option.DDR_PERF_MODE)
    left_out = [option for option, _ in ALL_SEVEN.items() if less.get(option) is None]
    assert left_out == [Option.HMX_V2, Option.DDR_PERF_MODE]
    assert less.get(Option.DCVS_V3) == BURST
    assert ALL_SEVEN.hmx_v2 is HMX_DEFAULT
    assert ALL_SEVEN.without() == ALL_SEVEN


def test_an_empty_set_is_falsy() -> None:
    """A set without votes is falsy and has no native form; a vote of 0 or False is a vote."""
    assert not VoteSet()
    assert VoteSet().native(1) == ()
    assert str(VoteSet()) == "no votes"
    assert VoteSet(rpc_polling_time_us=0)
    assert VoteSet(ddr_perf_mode=False)


def test_vote_sets_are_values() -> None:
    """Equal sets are equal and hash alike, different ones are not, and none can be changed."""
    again = VoteSet.of(dict(ALL_SEVEN.items()))
    assert len({again, ALL_SEVEN}) == 1
    assert attrs.evolve(again, rpc_polling_time_us=0) != ALL_SEVEN
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        again.rpc_polling_time_us = 0  # type: ignore[misc]
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        BURST.sleep_latency_us = 0  # type: ignore[misc]


def test_native_configs_are_values() -> None:
    """Native configs with equal fields are equal, and their fields can't be changed."""
    first, second = only(VoteSet(dcvs_v3=BURST)), only(VoteSet(dcvs_v3=BURST))
    assert first == second
    assert first != only(VoteSet(dcvs_v3=BURST), 2)
    with pytest.raises(TypeError):
        first.fields["contextId"] = 2  # type: ignore[index]


@pytest.mark.parametrize(
    ("vote", "active"),
    [
        (hvx(VoltageCorner.MIN_VOLTAGE_CORNER), True),
        (hvx(VoltageCorner.DISABLE), False),
        (hvx(core=None), False),
        (hvx(core=corners("SVS", "DISABLE", "NOM")), False),
    ],
)
def test_an_hvx_vote_is_active_with_a_core_target(vote: DcvsV3, active: bool) -> None:
    """An HVX vote is active with a core target other than DISABLE, whatever its limits."""
    assert vote.active is active


PLAIN_OF = {
    "DISABLE": "DISABLE",
    "MIN": "MIN_VOLTAGE_CORNER",
    **dict.fromkeys(("RET", "MIN_SVS", "LOW_SVS_D3_0", "LOW_SVS_D3", "LOW_SVS_D2_1", "LOW_SVS_D2"), "SVS2"),
    **dict.fromkeys(("LOW_SVS_D1_2", "LOW_SVS_D1_1", "LOW_SVS_D1_0", "LOW_SVS_D1"), "SVS2"),
    **dict.fromkeys(("LOW_SVS_D0_1", "LOW_SVS_D0_0", "LOW_SVS_D0", "LOW_SVS"), "SVS2"),
    **dict.fromkeys(("LOW_SVS_P1", "LOW_SVS_L0", "LOW_SVS_L1", "LOW_SVS_L2", "SVS"), "SVS"),
    **dict.fromkeys(("SVS_L0", "SVS_L0_1", "SVS_L0_2", "SVS_L1"), "SVS_PLUS"),
    **dict.fromkeys(("SVS_L2", "SVS_L2_0", "NOM"), "NOM"),
    **dict.fromkeys(("NOM_L0", "NOM_L0_0", "NOM_L1"), "NOM_PLUS"),
    **dict.fromkeys(("NOM_L2", "NOM_L3", "TUR"), "TURBO"),
    **dict.fromkeys(("TUR_L0", "TUR_L1"), "TURBO_PLUS"),
    **dict.fromkeys(("TUR_L1_0", "TUR_L1_1", "TUR_L1_2", "TUR_L2"), "TURBO_L2"),
    "TUR_L3": "TURBO_L3",
    **dict.fromkeys(("TUR_L3_0", "TUR_L3_1", "TUR_L3_2", "TUR_L4"), "TURBO_L4"),
    "TUR_L5": "TURBO_L5",
    **dict.fromkeys(("SUPER_TURBO", "SUPER_TURBO_NO_CPR", "MAX"), "MAX_VOLTAGE_CORNER"),
}


@pytest.mark.parametrize("corner", list(ExpandedCorner), ids=lambda each: each.name)
def test_a_plain_corner_is_never_lower(corner: ExpandedCorner) -> None:
    """The plain corner nearest to an expanded one is as in this table: the same, or the next above."""
    assert plain_corner(corner).name == PLAIN_OF[corner.name]
    assert as_expanded(plain_corner(corner)) >= corner


def test_a_vote_in_expanded_corners_has_a_plain_form() -> None:
    """It keeps power mode, sleep and corners, has DCVS on, and leaves unset what is unset."""
    vote = hvx_exp(sleep_disable=True, core=expanded("LOW_SVS_D1", "SVS_L0", "SUPER_TURBO"), bus=None)
    assert as_plain(vote) == hvx(
        dcvs_enable=True, sleep_disable=True, core=corners("SVS2", "SVS_PLUS", "MAX_VOLTAGE_CORNER"), bus=None
    )

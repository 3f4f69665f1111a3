"""The native form of votes: the vendor's options, structs, numbers and enumerators."""

from __future__ import annotations

import attrs
import pytest
from support.helpers import corners, enumerators, hmx, hvx, nothing_set

from htppower.votes.clock_votes import HMX_DEFAULT, DcvsV3, HmxV2
from htppower.votes.corners import ClkPerfMode, PowerMode, VoltageCorner
from htppower.votes.native import NativeConfig, Option
from htppower.votes.vote_set import VoteSet

BURST = hvx(VoltageCorner.MAX_VOLTAGE_CORNER, sleep_latency_us=40)

OPTIONS = enumerators(
    "",
    """
    DCVS_V3 1  RPC_CONTROL_LATENCY 2  RPC_POLLING_TIME 3  HMX_TIMEOUT_INTERVAL_US 4  HMX_V2 5
    ADAPTIVE_POLLING_TIME 6  DDR_PERF_MODE 7  CENG 8  DCVS_V3_EXP 9  CENG_EXP 10
    """,
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


def test_hvx_vote_in_its_native_form() -> None:
    """A DCVS_V3 vote has the fields of the C struct in order, and contextId is the ID of the call."""
    config = only(VoteSet(dcvs_v3=BURST), 4_000_000_000)
    assert (config.option, config.number) == ("DCVS_V3", 1)
    assert list(config.fields.items()) == BURST_NATIVE


def test_hvx_vote_puts_each_corner_and_flag_in_its_own_field() -> None:
    """Each of bus and core, min, target and max, enable and sleep_disable is in its own field."""
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
    """A given field sets its own set flag; every other flag and field is 0."""
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
    """An HMX_V2 vote has the fields of the C struct; the default has no corner that the library refuses."""
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
    """Every field with an enumerator has the vendor's name, and no other field has one."""
    dcvs, picked = VoteSet(dcvs_v3=nothing_set(core=corners("SVS", "SVS", "SVS")), hmx_v2=hmx()).native(1)
    assert dict(dcvs.symbols) == {
        "powerMode": "QNN_HTP_PERF_INFRASTRUCTURE_POWERMODE_PERFORMANCE_MODE",
        "coreVoltageCornerMin": "DCVS_VOLTAGE_VCORNER_SVS",
        "coreVoltageCornerTarget": "DCVS_VOLTAGE_VCORNER_SVS",
        "coreVoltageCornerMax": "DCVS_VOLTAGE_VCORNER_SVS",
    }
    assert picked.symbols["hmxPerfMode"] == "QNN_HTP_PERF_INFRASTRUCTURE_CLK_PERF_HIGH"
    assert picked.symbols["hmxVoltageCornerMax"] == "DCVS_EXP_VCORNER_TUR"


def test_native_configs_are_values() -> None:
    """Native configs with equal fields are equal, and their fields can't be changed."""
    first, second = only(VoteSet(dcvs_v3=BURST)), only(VoteSet(dcvs_v3=BURST))
    assert first == second
    assert first != only(VoteSet(dcvs_v3=BURST), 2)
    with pytest.raises(TypeError):
        first.fields["contextId"] = 2  # type: ignore[index]

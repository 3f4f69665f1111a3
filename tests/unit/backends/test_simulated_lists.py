"""The simulated device library: which parts of a list are sent, by invoke or control, and which are remembered."""

from __future__ import annotations

import pytest
from support.helpers import native_ceng, native_dcvs, native_hmx, native_scalar, native_unknown

from htppower.backends import SimulatedHtp
from htppower.votes.native import NativeConfig

LATENCY, POLLING = native_scalar("RPC_CONTROL_LATENCY", 100), native_scalar("RPC_POLLING_TIME", 9999)
AT_MAX = {f"busVoltageCorner{limit}": 160 for limit in ("Min", "Target", "Max")}


def fresh(arch: int = 75, platform: str = "linux") -> tuple[SimulatedHtp, int]:
    """Return a simulated device with one ID."""
    htp = SimulatedHtp(arch, platform=platform, link="device")
    return htp, htp.native_create(0, 0)[1]


def in_force(htp: SimulatedHtp) -> tuple[int, int, int, int]:
    """Return the targets of the core and HMX clocks, the control latency and the polling time in force."""
    now = htp.effective()
    return now.core_target, now.hmx_target, now.rpc_control_latency_us, now.rpc_polling_time_us


def test_a_whole_list_is_in_force() -> None:
    """Clocks, HMX and settings of one list all act, in any order of the settings."""
    htp, made = fresh()
    assert htp.native_set(made, [POLLING, native_dcvs(made), native_hmx(), LATENCY]) == 0
    assert in_force(htp) == (128, 640, 100, 9999)


def test_an_unknown_option_keeps_every_vote_of_the_id_from_being_sent() -> None:
    """DCVS_V3 before an unknown option is not sent: the call answers 13002, and no clock moves."""
    htp, made = fresh()
    assert htp.native_set(made, [native_dcvs(made), native_unknown(11)]) == 13002
    assert in_force(htp) == (16, 0, 0, 0)


def test_settings_before_a_refused_option_are_sent() -> None:
    """Settings are sent while the list is read: those before the refused option act, those after it don't."""
    htp, made = fresh()
    assert htp.native_set(made, [native_dcvs(made), LATENCY, native_unknown(11), POLLING]) == 13002
    assert in_force(htp) == (16, 0, 100, 0)


def test_a_refused_setting_keeps_the_clocks_from_being_sent() -> None:
    """If FastRPC refuses polling, the call answers 13006: the latency before it is sent, DCVS_V3 and HMX_V2 are not."""
    htp, made = fresh()
    htp.refuse_settings("RPC_POLLING_TIME")
    assert htp.native_set(made, [native_dcvs(made), native_hmx(), LATENCY, POLLING]) == 13006
    assert in_force(htp) == (16, 0, 100, 0)


def test_a_refused_setting_is_refused_alone() -> None:
    """Clocks in a call of their own work, and so do the other settings."""
    htp, made = fresh()
    htp.refuse_settings("RPC_POLLING_TIME")
    assert [htp.native_set(made, [each]) for each in (native_dcvs(made), LATENCY, POLLING)] == [0, 0, 13006]
    htp.refuse_settings("RPC_CONTROL_LATENCY")
    assert [htp.native_set(made, [each]) for each in (LATENCY, POLLING)] == [13006, 0]
    htp.refuse_settings()
    assert [htp.native_set(made, [each]) for each in (LATENCY, POLLING)] == [0, 0]


@pytest.mark.parametrize("option", ["ADAPTIVE_POLLING_TIME", "DCVS_V3", "POLLING"])
def test_fastrpc_refuses_only_what_it_is_asked_for(option: str) -> None:
    """Only settings sent by control can be refused by FastRPC; the error names them."""
    htp, _ = fresh()
    with pytest.raises(ValueError, match=f"not asked for {option}, but for RPC_CONTROL_LATENCY and RPC_POLLING_TIME"):
        htp.refuse_settings("RPC_POLLING_TIME", option)


@pytest.mark.parametrize(("polling_us", "code"), [(0, 0), (9999, 0), (10_000, 13006), (2**32 - 1, 13006)])
def test_the_longest_polling_time(polling_us: int, code: int) -> None:
    """Polling of 10000 us and more is refused with 13006, and nothing after it is sent."""
    htp, made = fresh()
    lists = [native_scalar("RPC_POLLING_TIME", polling_us), LATENCY]
    assert htp.native_set(made, lists) == code
    assert in_force(htp)[2:] == ((0, 0) if code else (100, polling_us))


@pytest.mark.parametrize(("arch", "in_force_us"), [(68, 0), (69, 0), (73, 9999), (81, 9999)])
def test_polling_before_v73_is_accepted_and_not_sent(arch: int, in_force_us: int) -> None:
    """On V68 polling is answered 0 although nothing is sent, so a FastRPC that refuses polling does no harm there."""
    htp, made = fresh(arch)
    assert htp.native_set(made, [POLLING]) == 0
    assert htp.effective().rpc_polling_time_us == in_force_us
    htp.refuse_settings("RPC_POLLING_TIME")
    assert htp.native_set(made, [POLLING, native_dcvs(made)]) == (13006 if in_force_us else 0)


def test_settings_act_on_the_whole_process() -> None:
    """A setting of any ID acts on the process, and stays when that ID is destroyed."""
    htp, made = fresh()
    _, other = htp.native_create(0, 0)
    htp.native_set(made, [POLLING])
    htp.native_set(other, [native_scalar("RPC_POLLING_TIME", 50), LATENCY])
    htp.native_destroy(other)
    assert in_force(htp)[2:] == (100, 50)


def test_qnx_has_no_settings() -> None:
    """On QNX each setting is answered 13004 and nothing after it is sent."""
    htp, made = fresh(platform="qnx")
    assert htp.native_set(made, [LATENCY, native_dcvs(made)]) == 13004
    assert in_force(htp) == (16, 0, 0, 0)


@pytest.mark.parametrize(
    ("arch", "before", "code"),
    [
        (75, AT_MAX, 13004),
        (79, AT_MAX, 0),
        (81, AT_MAX, 0),
        (79, {}, 13001),
        (81, AT_MAX | {"busVoltageCornerMin": 128}, 13001),
        (81, AT_MAX | {"setBusParams": 0}, 13001),
    ],
)
def test_ddr_performance_mode(arch: int, before: dict[str, int], code: int) -> None:
    """It needs V79 or later, and bus corners of MAX set earlier on the ID or in the same list."""
    htp, made = fresh(arch)
    ddr = native_scalar("DDR_PERF_MODE", 1)
    dcvs = native_dcvs(made, **before)
    assert htp.native_set(made, [dcvs, ddr]) == code
    htp.native_set(made, [dcvs])
    assert htp.native_set(made, [ddr]) == code
    assert htp.native_set(htp.native_create(0, 0)[1], [ddr]) == (13004 if arch < 79 else 13001)


def test_lower_bus_corners_take_ddr_performance_mode_away() -> None:
    """The last bus corners count; a vote without bus corners leaves them as they are."""
    htp, made = fresh(81)
    ddr = native_scalar("DDR_PERF_MODE", 1)
    assert htp.native_set(made, [native_dcvs(made, **AT_MAX), native_dcvs(made, setBusParams=0), ddr]) == 0
    assert htp.native_set(made, [native_dcvs(made), ddr]) == 13001


@pytest.mark.parametrize(
    ("config", "code"),
    [
        (native_scalar("HMX_TIMEOUT_INTERVAL_US", 99), 13001),
        (native_hmx(hmxVoltageCornerMin=1), 13001),
        (native_dcvs(99), 13001),
        (NativeConfig("DCVS_V3_EXP", {}), 13001),
    ],
)
def test_an_invalid_vote_is_refused_without_a_call(config: NativeConfig, code: int) -> None:
    """If the library itself refuses a vote, its list is not sent, so the call does not notice a restart."""
    htp, made = fresh()
    htp.restart_subsystem()
    assert htp.native_set(made, [native_dcvs(made), config]) == code
    assert in_force(htp)[0] == 16
    assert htp.native_set(made, [native_dcvs(made)]) == 1007


def test_hmx_follows_the_core_clock_until_it_is_voted_on() -> None:
    """The library adds a default HMX vote to DCVS_V3; an explicit vote replaces it, and stays."""
    htp, made = fresh()
    htp.native_set(made, [native_dcvs(made)])
    assert in_force(htp)[:2] == (128, 640)
    htp.native_set(made, [native_hmx(**dict.fromkeys(("hmxVoltageCornerMin", "hmxVoltageCornerTarget"), 512))])
    htp.native_set(made, [native_dcvs(made)])
    assert in_force(htp)[:2] == (128, 512)


def test_a_vote_that_was_not_sent_is_remembered() -> None:
    """After [DCVS_V3, unknown] HMX_V2 alone is accepted, since the library remembers DCVS_V3; no clock moves."""
    htp, made = fresh()
    assert htp.native_set(made, [native_hmx()]) == 13001
    htp.native_set(made, [native_dcvs(made), native_unknown(0)])
    assert htp.native_set(made, [native_hmx()]) == 0
    assert in_force(htp)[:2] == (16, 0)


@pytest.mark.parametrize("arch", [68, 73])
def test_hmx_without_votes_of_its_own(arch: int) -> None:
    """Below V75 HMX and CENG votes are answered 13004. HMX follows the core clock, also after a restart."""
    htp, made = fresh(arch)
    assert [htp.native_set(made, [native_dcvs(made), each]) for each in (native_hmx(), native_ceng())] == [13004] * 2
    htp.restart_subsystem()
    assert [htp.native_set(made, [native_dcvs(made)]) for _ in range(2)] == [1007, 0]
    assert in_force(htp)[:2] == (128, 640)


def test_a_simulated_htp_has_a_link_that_there_is() -> None:
    """A misspelt link is refused with the known names."""
    with pytest.raises(ValueError, match="no link 'hardware'; one of plain, device"):
        SimulatedHtp(link="hardware")  # type: ignore[arg-type]

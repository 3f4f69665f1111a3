"""The simulated HTP fails on request: calls, delays, restarts."""

from __future__ import annotations

import pytest
from support.helpers import enumerators, hvx, native_dcvs, native_hmx, native_scalar

from htppower.backends import SimulatedHtp
from htppower.errors import VoteRejected
from htppower.votes.vote_set import VoteSet

FUNCTIONS = ("createPowerConfigId", "setPowerConfig", "destroyPowerConfigId")

PERF_CODES = """
    INVALID_HANDLE_PTR 13000  INVALID_INPUT 13001  UNSUPPORTED_CONFIG 13002  TRANSPORT 13003  UNSUPPORTED 13004
    MEM_ALLOC 13005  FAILED 13006
    """
COMMON_CODES = """
    NOT_SUPPORTED 1000  INVALID_ARGUMENT 1004  SYSTEM_COMMUNICATION 1007  SYSTEM_COMMUNICATION_FATAL 1011
    GENERAL 1100
    """
DEVICE_CODES = """
    INVALID_HANDLE 14000  INVALID_CONFIG 14001  HARDWARE_UNAVAILABLE 14002  ASSOCIATED_TO_CONTEXT 14003
    ACCESS_DENIED 14004
    """
CODES = {
    **enumerators("QNN_HTP_PERF_INFRASTRUCTURE_ERROR_", PERF_CODES),
    **enumerators("QNN_COMMON_ERROR_", COMMON_CODES),
    **enumerators("QNN_DEVICE_ERROR_", DEVICE_CODES),
    "UNKNOWN": 11003,
}


def fresh(arch: int = 75, platform: str = "linux") -> tuple[SimulatedHtp, int]:
    """Return a simulated HTP with one ID."""
    simulated = SimulatedHtp(arch=arch, platform=platform)
    return simulated, simulated.native_create(0, 0)[1]


def calls(simulated: SimulatedHtp, made: int, function: str) -> int:
    """Return the answer to one call of a native function; only an unknown ID is destroyed, so the known ID stays."""
    if function == "createPowerConfigId":
        return simulated.native_create(0, 0)[0]
    return simulated.native_set(made, [native_dcvs(made)]) if function[0] == "s" else simulated.native_destroy(99)


@pytest.mark.parametrize(("name", "code"), CODES.items())
def test_every_error_code_can_be_answered(name: str, code: int) -> None:
    """Each of the vendor's codes, and an unknown code, is raised as VoteRejected with its name."""
    simulated, made = fresh()
    simulated.fail_next(code)
    with pytest.raises(VoteRejected, match=f"{code} {name}") as caught:
        simulated.set_power_config(made, VoteSet(hvx()))
    assert (caught.value.code, caught.value.name, simulated.effective().core_target) == (code, name, 16)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_fail_next_fails_one_function(function: str) -> None:
    """Only the nth call of the function fails, as many times as requested."""
    simulated, made = fresh()
    simulated.fail_next(13006, function, nth=2, times=2)
    others = [name for name in FUNCTIONS if name != function]
    assert [calls(simulated, made, name) for name in others] == [0, 0]
    assert [calls(simulated, made, function) for _ in range(4)] == [0, 13006, 13006, 0]


def test_fail_next_counts_from_when_it_was_asked() -> None:
    """The number of a call counts from the request, also with several failures planned at once."""
    simulated, made = fresh()
    simulated.fail_next(13003)
    simulated.fail_next(13005, nth=3)
    simulated.fail_next(13006, nth=2)
    assert [calls(simulated, made, "setPowerConfig") for _ in range(4)] == [13003, 13006, 13005, 0]


@pytest.mark.parametrize(("applied", "in_force"), [(0, (16, 0)), (1, (128, 0)), (2, (128, 9999)), (9, (128, 9999))])
def test_fail_next_after_some_votes(applied: int, in_force: tuple[int, int]) -> None:
    """A failure can come after a number of the list's votes have been applied."""
    simulated, made = fresh()
    simulated.fail_next(13006, applied=applied)
    assert simulated.native_set(made, [native_dcvs(made), native_scalar("RPC_POLLING_TIME", 9999)]) == 13006
    effective = simulated.effective()
    assert (effective.core_target, effective.rpc_polling_time_us) == in_force


def test_failed_create_and_destroy_do_nothing() -> None:
    """A failed create makes no ID, and a failed destroy leaves the ID alive."""
    simulated, made = fresh()
    simulated.fail_next(13005, "createPowerConfigId")
    simulated.fail_next(13006, "destroyPowerConfigId")
    assert simulated.native_create(0, 0)[0] == 13005
    assert simulated.native_destroy(made) == 13006
    assert simulated.power_config_ids == (made,)


def test_fail_next_knows_its_functions() -> None:
    """An unknown function is refused, so a typo can't make a test pass."""
    with pytest.raises(ValueError, match=r"no native function 'setPowerConfigs'; one of createP.*, renew$"):
        SimulatedHtp().fail_next(13001, "setPowerConfigs")


def test_delay_calls_sleeps() -> None:
    """The delay is slept once for each call, of all functions or of one, until it is set to 0."""
    slept: list[float] = []
    simulated = SimulatedHtp(arch=75, sleep=slept.append)
    simulated.delay_calls(250)
    simulated.delay_calls(1_500_000, "setPowerConfig")
    assert [calls(simulated, 99, function) for function in FUNCTIONS] == [0, 13001, 0]
    assert slept == [0.00025, 1.5, 0.00025]
    simulated.delay_calls(0)
    assert [calls(simulated, 99, function) for function in FUNCTIONS] == [0, 13001, 0]
    assert len(slept) == 3


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_restart_is_answered_1007_once(function: str) -> None:
    """The next call of any kind is answered 1007, then calls succeed; every vote is lost, and no ID."""
    simulated, made = fresh()
    simulated.native_set(made, [native_dcvs(made), native_hmx(), native_scalar("RPC_POLLING_TIME", 9999)])
    simulated.restart_subsystem()
    assert simulated.effective() == SimulatedHtp(arch=75).effective()
    assert [calls(simulated, made, function) for _ in range(2)] == [1007, 0]


def test_a_restart_can_forget_the_ids() -> None:
    """If the library forgets its IDs, an old ID is answered 13001 after the restart, and a new one works."""
    simulated, made = fresh()
    simulated.restart_subsystem(forget_ids=True)
    assert [calls(simulated, made, "setPowerConfig") for _ in range(2)] == [1007, 13001]
    code, new = simulated.native_create(0, 0)
    assert (code, calls(simulated, new, "setPowerConfig")) == (0, 0)
    assert new != made


def test_a_fatal_restart_is_answered_1011_until_the_next() -> None:
    """A dead subsystem answers 1011 to every call; after its restart it answers 1007 once."""
    simulated, made = fresh()
    calls(simulated, made, "setPowerConfig")
    simulated.restart_subsystem(fatal=True)
    assert [calls(simulated, made, function) for function in FUNCTIONS * 2] == [1011] * 6
    assert simulated.effective() == SimulatedHtp(arch=75).effective()
    simulated.restart_subsystem()
    assert [calls(simulated, made, "setPowerConfig") for _ in range(2)] == [1007, 0]

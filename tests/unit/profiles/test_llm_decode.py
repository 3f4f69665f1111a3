"""The shipped profiles for decode of language models, compared with the vendor's table."""

from __future__ import annotations

from typing import Any

import pytest

from htppower import VoteController, load_profile
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.profiles.names import LLM_DECODE_PROFILES
from htppower.testing import VirtualTime

# The vendor's table ("llm_decode profiles", SDK 2.48): sleep latency, corner of bus and core, HMX with its perf mode,
# compression engine with its perf mode, DDR performance mode; min = target = max throughout.
TABLE = {
    "burst": (40, "MAX_VOLTAGE_CORNER", "MAX_VOLTAGE_CORNER", "SVS_L1 HIGH", "TURBO_PLUS HIGH", True),
    "sustained_high_performance": (100, "TURBO_PLUS", "NOM", "LOW_SVS_D1 LOW", "NOM HIGH", None),
    "high_performance": (100, "TURBO", "SVS_PLUS", "LOW_SVS_D1 LOW", "NOM HIGH", None),
    "default": (1000, "NOM", "SVS_PLUS", "DISABLE LOW", "NOM HIGH", None),
    "balanced": (1000, "NOM", "SVS_PLUS", "DISABLE LOW", "NOM HIGH", None),
    "low_balanced": (1000, "NOM", "SVS_PLUS", "DISABLE LOW", "NOM HIGH", None),
    "high_power_saver": (1000, "NOM", "SVS", "DISABLE LOW", "SVS_PLUS LOW", None),
    "power_saver": (1000, "SVS_PLUS", "SVS2", "DISABLE LOW", "SVS LOW", None),
    "low_power_saver": (1000, "SVS2", "DISABLE", "DISABLE LOW", "SVS2 LOW", None),
    "extreme_power_saver": (1000, "DISABLE", "DISABLE", "DISABLE LOW", "DISABLE LOW", None),
}


def test_the_names_are_those_of_the_table() -> None:
    """There are ten profiles, from highest performance to lowest."""
    assert tuple(f"llm_decode_{name}" for name in TABLE) == LLM_DECODE_PROFILES


@pytest.mark.parametrize("name", TABLE)
def test_the_votes_are_the_vendors(name: str) -> None:
    """Every cell of the vendor's table is in the profile's votes, with DCVS off and power mode PERFORMANCE."""
    votes = load_profile(f"llm_decode_{name}").votes
    assert votes.dcvs_v3 is not None
    assert votes.hmx_v2 is not None
    assert votes.ceng is not None
    assert votes.dcvs_v3.bus is not None
    assert votes.dcvs_v3.core is not None
    corners: list[Any] = [votes.dcvs_v3.bus, votes.dcvs_v3.core, votes.hmx_v2, votes.ceng]
    assert all(each.min == each.target == each.max for each in corners)
    units = [f"{each.target.name} {each.perf_mode.name}" for each in (votes.hmx_v2, votes.ceng)]
    clocks = [clock.target.name for clock in (votes.dcvs_v3.bus, votes.dcvs_v3.core)]
    assert (votes.dcvs_v3.sleep_latency_us, *clocks, *units, votes.ddr_perf_mode) == TABLE[name]
    assert (votes.dcvs_v3.dcvs_enable, votes.dcvs_v3.power_mode.name) == (False, "PERFORMANCE")
    assert not votes.hmx_v2.pick_default


@pytest.mark.parametrize("name", TABLE)
def test_it_relaxes_as_the_plain_profile_of_its_name_does(name: str) -> None:
    """Power states, sustain time, polling and control latency are the plain profile's; default uses balanced's."""
    profile, plain = load_profile(f"llm_decode_{name}"), load_profile("balanced" if name == "default" else name)
    assert profile.relax == plain.relax
    assert profile.votes.rpc_polling_time_us == plain.votes.rpc_polling_time_us
    assert profile.votes.rpc_control_latency_us == plain.votes.rpc_control_latency_us


@pytest.mark.parametrize("arch", [75, 79, 81, 85])
@pytest.mark.parametrize("name", TABLE)
def test_it_is_raised_and_nothing_of_it_is_left_up(name: str, arch: int) -> None:
    """From V75 on only the DDR performance mode may be missing; after lowering, HMX and CENG have their defaults."""
    time = VirtualTime()
    recorder = RecordingBackend(SimulatedHtp(arch=arch), time=time)
    with (
        VoteController(backend=recorder, time=time) as controller,
        controller.session(f"llm_decode_{name}") as session,
    ):
        with session.inference():
            assert session.state.value == "RAISED"
        assert {str(lost.option.name) for lost in session.degradations} <= {"DDR_PERF_MODE"}
        assert {lost.rule for lost in session.degradations} == (
            set() if name != "burst" else {"DDR-2"} if arch < 81 else {"DDR-1"}
        )
        time.advance_us(300_000)
        last = {config.option: config.fields for call in recorder.calls for config in call.configs if call.code == 0}
        assert session.state.value == "LOWERED"
    assert last["HMX_V2"]["hmxPickDefault"] == 1
    assert {last["CENG"][f"cengVoltageCorner{limit}"] for limit in ("Min", "Target", "Max")} == {32}

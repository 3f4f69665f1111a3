"""The votes in force, as computed from random recorded calls, equal those of the simulated HTP."""

from __future__ import annotations

import contextlib
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.inside import clients_of

from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.backends.simulated.clocks import NO_WISH_US, Client
from htppower.errors import VoteRejected
from htppower.tools.review.dry_run.observer import InForce
from htppower.votes.clock_votes import HMX_DEFAULT, DcvsV3, HmxV2, VoltageRange
from htppower.votes.corners import ClkPerfMode, ExpandedCorner, PowerMode, VoltageCorner
from htppower.votes.native_codes import FAILED, SUCCESS, SYSTEM_COMMUNICATION
from htppower.votes.vote_set import VoteSet

DISABLED = VoltageRange.at(VoltageCorner.DISABLE)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw None as often as any value."""
    return st.none() | strategy


CLOCK = maybe(st.sampled_from([VoltageRange.at(corner) for corner in VoltageCorner]))
HMX = st.sampled_from(
    [HMX_DEFAULT, HmxV2(ExpandedCorner.SVS, ExpandedCorner.NOM, ExpandedCorner.TUR, ClkPerfMode.HIGH)]
)
HVX = st.builds(
    DcvsV3,
    dcvs_enable=maybe(st.booleans()),
    power_mode=st.sampled_from(PowerMode),
    sleep_latency_us=maybe(st.integers(10, NO_WISH_US)),
    sleep_disable=maybe(st.booleans()),
    bus=CLOCK,
    core=CLOCK,
)
VOTES = st.builds(
    VoteSet,
    dcvs_v3=maybe(HVX),
    hmx_v2=maybe(HMX),
    rpc_control_latency_us=maybe(st.integers(0, 300)),
    rpc_polling_time_us=maybe(st.integers(0, 9999)),
    adaptive_polling_time_us=maybe(st.just(0) | st.integers(1000, 5000)),
    hmx_timeout_us=maybe(st.integers(100, 1_000_000)),
    ddr_perf_mode=maybe(st.booleans()),
)
STEPS = st.lists(
    st.tuples(st.sampled_from(["create", "set", "set", "set", "fail", "destroy", "restart"]), st.integers(0, 3), VOTES),
    max_size=25,
)


@attrs.define
class Rig:
    """A recorder over the simulated HTP, the ids that exist, and the votes in force by the recorded calls."""

    simulated: SimulatedHtp = attrs.field(factory=lambda: SimulatedHtp("V81"))
    ids: list[int] = attrs.field(factory=list)
    in_force: InForce = attrs.field(factory=InForce)
    recorder: RecordingBackend = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.recorder = RecordingBackend(self.simulated)

    def step(self, what: str, which: int, votes: VoteSet) -> None:
        """Make one call, or restart the subsystem."""
        told = len(self.recorder.calls)
        power_config_id = self.ids[which % len(self.ids)] if self.ids else None
        with contextlib.suppress(VoteRejected):
            if what == "create" or power_config_id is None:
                self.ids.append(self.recorder.create_power_config_id(0, 0))
            elif what == "destroy":
                self.recorder.destroy_power_config_id(power_config_id)
                self.ids.remove(power_config_id)
            elif what == "restart":
                self.simulated.restart_subsystem()
                self.in_force.lose()
            else:
                if what == "fail":
                    self.simulated.fail_next(FAILED, applied=which)
                self.recorder.set_power_config(power_config_id, votes)
        self.in_force.see(self.recorder.calls_since(told))


def of_client(client: Client) -> dict[str, Any]:
    """Return the votes of an id as the simulated DSP holds them."""
    names = ("dcvs_enable", "sleep_latency_us", "sleep_disable", "bus", "core")
    return {name: getattr(client, name) for name in names}


def of_hvx(vote: DcvsV3) -> dict[str, Any]:
    """Return the set fields of an HVX vote in the form of ``of_client``; power modes are not simulated."""
    found = {
        "dcvs_enable": vote.dcvs_enable,
        "sleep_latency_us": vote.sleep_latency_us,
        "sleep_disable": vote.sleep_disable,
        "bus": vote.bus and (vote.bus.min, vote.bus.target, vote.bus.max),
        "core": vote.core and (vote.core.min, vote.core.target, vote.core.max),
    }
    return {name: value for name, value in found.items() if value is not None}


@given(STEPS)
def test_what_is_told_to_be_in_force_is(steps: list[tuple[str, int, VoteSet]]) -> None:
    """After any calls, failures and restarts, every vote that is reported as in force is in force on the DSP."""
    rig = Rig()
    for step in steps:
        rig.step(*step)
        effective = rig.simulated.effective()
        for power_config_id in rig.ids:
            votes, client = rig.in_force.votes(power_config_id), clients_of(rig.simulated)[power_config_id]
            if votes.dcvs_v3 is not None:
                assert of_hvx(votes.dcvs_v3).items() <= of_client(client).items()
            if votes.hmx_v2 is not None:
                corners = (votes.hmx_v2.min, votes.hmx_v2.target, votes.hmx_v2.max)
                assert client.explicit_hmx == (None if votes.hmx_v2.pick_default else corners)
            for name in ("rpc_control_latency_us", "rpc_polling_time_us", "adaptive_polling_time_us"):
                assert getattr(votes, name) in (None, getattr(effective, name))


@given(st.lists(st.tuples(st.integers(0, 1), HVX, VOTES), min_size=1, max_size=10))
def test_all_that_is_in_force_is_told(steps: list[tuple[int, DcvsV3, VoteSet]]) -> None:
    """Without failures every field that was ever voted is reported, also if later votes leave it unset."""
    rig = Rig()
    for _ in range(2):
        rig.step("create", 0, VoteSet())
    for which, hvx, votes in steps:
        rig.step("set", which, attrs.evolve(votes, dcvs_v3=hvx, ddr_perf_mode=None))
    assert all(call.code == SUCCESS for call in rig.recorder.calls)
    untouched = of_client(Client(0, 0))
    effective = rig.simulated.effective()
    for power_config_id in rig.ids:
        votes, client = rig.in_force.votes(power_config_id), clients_of(rig.simulated)[power_config_id]
        told = {} if votes.dcvs_v3 is None else of_hvx(votes.dcvs_v3)
        assert {**untouched, **told} == of_client(client)
        assert (votes.hmx_v2 in (None, HMX_DEFAULT)) == (client.explicit_hmx is None)
        for name in ("rpc_control_latency_us", "rpc_polling_time_us", "adaptive_polling_time_us"):
            assert (getattr(votes, name) or 0) == getattr(effective, name)


@given(st.lists(VOTES, min_size=1, max_size=6))
def test_the_votes_that_the_simulation_does_not_keep_are_the_last_that_were_stated(sets: list[VoteSet]) -> None:
    """Power mode and HMX timeout, which the simulation ignores, have the values of the last call that set them."""
    rig = Rig()
    rig.step("create", 0, VoteSet())
    for votes in sets:
        rig.step("set", 0, attrs.evolve(votes, hmx_v2=None, ddr_perf_mode=None))
    told = rig.in_force.votes(rig.ids[0])
    stated = [votes.hmx_timeout_us for votes in sets if votes.hmx_timeout_us is not None]
    assert told.hmx_timeout_us == (stated[-1] if stated else None)
    modes = [votes.dcvs_v3.power_mode for votes in sets if votes.dcvs_v3 is not None]
    assert (told.dcvs_v3 and told.dcvs_v3.power_mode) == (modes[-1] if modes else None)


@pytest.mark.parametrize("code", [FAILED, SYSTEM_COMMUNICATION])
def test_of_a_call_that_failed_nothing_is_known(code: int) -> None:
    """The options of a failed call are not reported as in force; other options of earlier calls are."""
    rig = Rig()
    rig.step("create", 0, VoteSet())
    rig.step("set", 0, VoteSet(hmx_timeout_us=500, rpc_polling_time_us=9999, adaptive_polling_time_us=2000))
    rig.simulated.fail_next(code)
    rig.step("set", 0, VoteSet(hmx_timeout_us=700, rpc_polling_time_us=0))
    assert rig.in_force.votes(rig.ids[0]) == VoteSet(adaptive_polling_time_us=2000)


def test_an_id_takes_its_votes_with_it() -> None:
    """A destroyed id leaves only the settings of the process, which every id reports."""
    rig = Rig()
    for _ in range(2):
        rig.step("create", 0, VoteSet())
    first, second = rig.ids
    rig.step("set", 0, VoteSet(hmx_timeout_us=500, rpc_polling_time_us=9999))
    rig.step("destroy", 0, VoteSet())
    assert rig.in_force.votes(first) == rig.in_force.votes(second) == VoteSet(rpc_polling_time_us=9999)

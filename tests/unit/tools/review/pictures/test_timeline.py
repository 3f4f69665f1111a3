"""Timelines show the votes in force, and when."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from support.dry_runs import Watched, dry_run, sustaining
from support.examples import examples
from support.helpers import hmx

from htppower.backends import SimulatedHtp
from htppower.events import Phase
from htppower.profiles.loading import load_profile
from htppower.profiles.profile import PowerState, Profile, Relax
from htppower.rules import table as rules
from htppower.rules.case import Case
from htppower.tools.review.dry_run.observer import PhaseSpan, Window
from htppower.tools.review.pictures.timeline import Lane, Timeline, timeline
from htppower.votes.clock_votes import HMX_DEFAULT, DcvsV3, HmxV2, VoltageRange
from htppower.votes.corners import EXPANDED_OF_CORE, ClkPerfMode, ExpandedCorner, PowerMode, VoltageCorner
from htppower.votes.vote_set import VoteSet


def _lane(drawn: Timeline, clock: str) -> Lane:
    (lane,) = (lane for lane in drawn.lanes if lane.clock == clock)
    return lane


def _ranges(kind: type[Any]) -> st.SearchStrategy[tuple[Any, Any, Any]]:
    return st.lists(st.sampled_from(kind), min_size=3, max_size=3).map(lambda three: tuple(sorted(three)))


_VOLTAGE = st.none() | _ranges(VoltageCorner).map(lambda three: VoltageRange(*three))
_HMX = st.none() | st.just(HMX_DEFAULT) | _ranges(ExpandedCorner).map(lambda three: HmxV2(*three, ClkPerfMode.HIGH))
_DCVS = st.builds(
    DcvsV3,
    dcvs_enable=st.none() | st.booleans(),
    power_mode=st.sampled_from(PowerMode),
    sleep_latency_us=st.none() | st.integers(10, 65535),
    sleep_disable=st.none(),
    bus=_VOLTAGE,
    core=_VOLTAGE,
)
_VOTES = st.builds(
    VoteSet, dcvs_v3=st.none() | _DCVS, hmx_v2=_HMX, rpc_polling_time_us=st.none() | st.integers(0, 9999)
)
_RELAX = st.builds(
    Relax,
    to=_VOTES.map(lambda votes: PowerState("lowered", "", votes)),
    after_init_us=st.sampled_from((0, 0, 700)),
    after_inference_us=st.sampled_from((0, 400, 300_000)),
)


_NO_CLOCKS = DcvsV3(None, PowerMode.ADJUST_UP_DOWN, 10, None, None, None)
_NO_HMX = HmxV2(ExpandedCorner.DISABLE, ExpandedCorner.DISABLE, ExpandedCorner.DISABLE, ClkPerfMode.HIGH)


# The HMX vote changes next to an inactive HVX vote.
@example(
    VoteSet(_NO_CLOCKS, rpc_polling_time_us=1),
    Relax(to=PowerState("lowered", "", VoteSet(_NO_CLOCKS, _NO_HMX)), after_init_us=0, after_inference_us=0),
    75,
    (0, 0, 0),
)
@examples(30)
@given(_VOTES, _RELAX, st.sampled_from((68, 75, 81, 89)), st.tuples(*[st.integers(0, n) for n in (4, 900, 900)]))
def test_the_lanes_are_what_is_in_force(votes: VoteSet, relax: Relax, arch: int, work: tuple[int, int, int]) -> None:
    """After every call, each lane shows the target in force on the simulated HTP."""
    backend = Watched(arch)
    profile = Profile("mine", "", votes, relax)
    assume(votes)
    assume(not rules.errors(profile.case(backend.platform)))
    assume(not rules.errors(Case(relax.to.votes, backend.platform)))
    report = dry_run(profile, *work, backend=backend)
    drawn = timeline(report)
    assert len(backend.after_calls) == len(report.rows)
    in_force = {row.call.time_us: found for row, found in zip(report.rows, backend.after_calls, strict=True)}
    for time_us, found in in_force.items():
        targets = {}
        for lane in drawn.lanes:
            levels = lane.at(time_us).levels
            targets[lane.clock] = None if levels is None else levels.target.value
        assert (targets["core"] or VoltageCorner.DISABLE) == found.core_target
        assert (targets["bus"] or VoltageCorner.DISABLE) == found.bus_target
        if _lane(drawn, "HMX").at(time_us).follows:
            assert EXPANDED_OF_CORE[targets["core"] or VoltageCorner.DISABLE] == found.hmx_target
        else:
            assert (targets["HMX"] or ExpandedCorner.DISABLE) == found.hmx_target


def test_the_phases_are_those_of_the_workload() -> None:
    """INIT, each inference and DE-INIT are spans with their own length and time."""
    drawn = timeline(dry_run("burst", 2, 100, 50))
    assert drawn.phases == (
        PhaseSpan(0, 100, Phase.INIT),
        PhaseSpan(150, 250, Phase.INFERENCE),
        PhaseSpan(300, 400, Phase.INFERENCE),
        PhaseSpan(300_450, 300_550, Phase.DEINIT),
    )
    assert drawn.end_us == 300_550


def test_a_sustain_window_lasts_until_the_next_phase_or_the_lowering() -> None:
    """A window begins when no inference runs while raised, and ends with the next inference or the timer."""
    assert timeline(dry_run("burst", 2, 100, 50)).windows == (
        Window(250, 300, Phase.INFERENCE),
        Window(400, 300_400, Phase.INFERENCE),
    )


def test_the_window_after_init_is_no_sustain_window() -> None:
    """After INIT, after_init_us keeps votes up and the window has that name; after an inference it is "sustain"."""
    burst = load_profile("burst")
    assert burst.relax is not None
    kept_up = attrs.evolve(burst, relax=attrs.evolve(burst.relax, after_init_us=20))
    (first, *others) = timeline(dry_run(kept_up, 2, 100, 50)).windows
    assert (first, first.name) == (Window(100, 120, Phase.INIT), "after INIT")
    assert [window.name for window in others] == ["sustain", "sustain"]


def test_no_sustain_time_no_window() -> None:
    """A profile that lowers at once has no sustain window."""
    assert timeline(dry_run("balanced")).windows == ()


def test_windows_and_inferences_fill_the_time_raised() -> None:
    """A session is raised exactly in its phases and its windows."""
    report = dry_run(sustaining("burst", 12_000), 7, 3000, 9000)
    spans = (*report.phases, *report.windows)
    assert sum(span.duration_us for span in spans) == report.time_in_state_us["RAISED"]  # type: ignore[index]


def test_the_calls_of_a_step_are_a_tick() -> None:
    """A tick shows whether its calls set clocks only, or also settings of the process."""
    drawn = timeline(dry_run("balanced", 1))
    assert [tick.does for tick in drawn.ticks] == [
        "create", "raise", "lower", "raise", "lower", "raise", "lower", "destroy",
    ]  # fmt: skip
    assert drawn.ticks[3].says == "setPowerConfig(1), 2 calls: inference began, RAISED"
    assert drawn.ticks[4].says == "setPowerConfig(1): inference ended, LOWERED"
    assert [tick.calls for tick in drawn.ticks] == [1, 2, 1, 2, 1, 1, 1, 1]


def test_hmx_follows_the_core_clock_without_a_vote_of_its_own() -> None:
    """Under pick default the HMX lane follows the core; an explicit vote has its own steps until the next default."""
    lane = _lane(timeline(dry_run("burst")), "HMX")
    assert not lane.explicit
    assert [step.follows for step in lane.steps] == [False, True, False]
    burst = load_profile("burst")
    explicit = attrs.evolve(burst, votes=attrs.evolve(burst.votes, hmx_v2=hmx("NOM", "TUR", "TUR")))
    steps = _lane(timeline(dry_run(explicit, 0)), "HMX").steps
    assert [str(step) for step in steps] == [
        "no vote", "NOM / TUR / TUR", "follows the core clock", "NOM / TUR / TUR", "follows the core clock", "no vote",
    ]  # fmt: skip


def test_below_v75_the_hmx_lane_follows() -> None:
    """Without explicit HMX votes, HMX follows the core clock."""
    burst = load_profile("burst")
    explicit = attrs.evolve(burst, votes=attrs.evolve(burst.votes, hmx_v2=hmx()))
    lane = _lane(timeline(dry_run(explicit, backend=SimulatedHtp(arch=73))), "HMX")
    assert not lane.explicit
    assert any(step.follows for step in lane.steps)


def test_no_votes_no_lanes() -> None:
    """system_settings has phases, and neither lanes nor calls."""
    drawn = timeline(dry_run("system_settings"))
    assert (drawn.lanes, drawn.ticks, drawn.windows) == ((), (), ())
    assert len(drawn.phases) == 5


@pytest.mark.parametrize("code", [1000, 1009])
def test_a_call_that_fails_says_so(code: int) -> None:
    """A failed native call is a special tick with its code, and none of its votes are in force."""
    backend = SimulatedHtp(arch=75)
    backend.fail_next(code)
    drawn = timeline(dry_run("burst", 0, backend=backend))
    failed = [tick for tick in drawn.ticks if tick.does == "fail"]
    assert [str(code) in tick.says for tick in failed] == [True]
    assert _lane(drawn, "core").at(0).levels is None

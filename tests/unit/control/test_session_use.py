"""``session.use()``: when another profile takes effect, and profiles without votes."""

from __future__ import annotations

import pytest
from support.bench import BURST_SUSTAIN_US, MAX_CORNER, SVS, Bench, core_target

from htppower import State
from htppower.backends import SimulatedHtp


def test_a_profile_change_during_an_inference_takes_effect_at_once(bench: Bench) -> None:
    """``use`` during an inference changes the votes at once, and the end of the inference follows the new profile."""
    session = bench.controller.session("burst")
    with session.inference():
        session.use("balanced")
        assert session.profile.name == "balanced"
        assert core_target(bench.votes[-1]) == 112
    assert session.state is State.LOWERED


def test_a_profile_change_ends_a_pending_sustain(bench: Bench) -> None:
    """``use`` within a sustain time lowers at once to the new profile's power state, in one call."""
    session = bench.controller.session("burst")
    bench.infer(session)
    session.use("power_saver")
    assert session.state is State.LOWERED
    assert core_target(bench.votes[-1]) == 32
    assert len(bench.votes) == 2
    assert bench.time.alarms == 0


def test_a_profile_change_while_lowered_waits_for_the_next_raise(bench: Bench) -> None:
    """``use`` while lowered makes no call; the next raise sends the votes of the new profile."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.time.advance_us(BURST_SUSTAIN_US)
    session.use("low_balanced")
    assert len(bench.votes) == 2
    bench.infer(session)
    assert core_target(bench.votes[2]) == 96


def test_naming_the_same_profile_again_changes_nothing(bench: Bench) -> None:
    """A host may name its profile at every request: ``use`` with the same profile does not end the sustain time."""
    session = bench.controller.session("burst")
    for _ in range(5):
        session.use("burst")
        bench.infer(session)
    assert len(bench.votes) == 1


def test_a_profile_that_can_not_be_loaded_changes_nothing(bench: Bench) -> None:
    """``use`` of a wrong name raises, and the session keeps its profile and votes."""
    session = bench.controller.session("burst")
    with session.inference():
        with pytest.raises(ValueError, match="burst"):
            session.use("brust")
        assert session.profile.name == "burst"
        assert bench.effective().core_target == MAX_CORNER


def test_system_settings_makes_no_call_at_all(bench: Bench) -> None:
    """A session of system_settings has no ID, no vote and no call."""
    session = bench.controller.session("system_settings")
    with session.init():
        pass
    bench.infer(session)
    with session.deinit():
        pass
    session.close()
    assert bench.recorder.calls == ()


def test_a_change_to_system_settings_removes_every_vote(bench: Bench) -> None:
    """``use("system_settings")`` resets polling and destroys the id at once; another profile votes again."""
    session = bench.controller.session("burst")
    with session.inference():
        session.use("system_settings")
        assert session.state is State.UNVOTED
        assert bench.simulated.power_config_ids == ()
        assert bench.effective().rpc_polling_time_us == 0
        session.use("balanced")
        assert session.state is State.RAISED
        assert bench.effective().core_target == 112


def test_a_change_to_no_votes_lowers_before_it_destroys_the_id() -> None:
    """The votes are lowered before the id is destroyed, since a destroy that fails leaves them on the DSP."""
    bench = Bench.make(SimulatedHtp(arch=75, link="device"))
    session = bench.controller.session("burst")
    with session.inference():
        bench.simulated.fail_next(13003, function="destroyPowerConfigId")
        session.use("system_settings")
        assert (session.state, bench.effective().core_target) == ("UNVOTED", SVS)
    bench.controller.close()

"""Background lowering: an inference returns without its lowering call, which another thread makes right after."""

from __future__ import annotations

import attrs
import pytest
from support.bench import Bench
from support.inside import gate_of, record_of

from htppower import Lowering, Profile, State, load_profile
from htppower.events import Cause, Transition, Trigger
from htppower.votes.corners import VoltageCorner
from htppower.votes.native_codes import FAILED

WAIT_S = 10.0


def behind(name: str = "balanced") -> Profile:
    """Return a shipped profile with background lowering."""
    profile = load_profile(name)
    assert profile.relax is not None
    relax = attrs.evolve(profile.relax, lowering=Lowering.BACKGROUND)
    return attrs.evolve(profile, name="behind", relax=relax)


def test_an_inference_returns_without_its_lowering_which_follows_at_once(bench: Bench) -> None:
    """The inference makes one call. The second call is made when alarms run, with the inference's end as its cause."""
    session = bench.controller.session(behind())
    with session.inference():
        pass
    assert (len(bench.votes), session.state) == (1, State.RAISED)
    bench.time.advance_us(0)
    assert (len(bench.votes), session.state) == (2, State.LOWERED)
    assert bench.effective().core_target == VoltageCorner.SVS
    last = bench.events[-1]
    assert isinstance(last, Transition)
    assert (last.trigger, last.cause, last.late_us) == (Trigger.LOWER, Cause.INFERENCE_ENDED, 0)
    assert bench.time.alarms == 0


def test_a_sustain_that_is_ended_meanwhile_leaves_nothing_to_be_late_for(bench: Bench) -> None:
    """If a change of profile has ended the deadline, the lowering reports no lateness."""
    bench.time.advance_us(1_000_000)
    session = bench.controller.session("burst")
    with session.inference():
        pass
    gate_of(session).sustain.end()
    record_of(session).home.settle(record_of(session), Cause.SUSTAIN_EXPIRED)
    last = bench.events[-1]
    assert isinstance(last, Transition)
    assert (last.trigger, last.cause, last.late_us) == (Trigger.LOWER, Cause.SUSTAIN_EXPIRED, None)


def test_an_inference_that_begins_before_the_lowering_saves_both_calls(bench: Bench) -> None:
    """Inferences without a pause raise once and lower once."""
    session = bench.controller.session(behind())
    for _ in range(3):
        with session.inference():
            pass
    assert len(bench.votes) == 1
    (status,) = bench.controller.status().sessions
    assert status.calls_saved == 4
    bench.time.advance_us(0)
    assert len(bench.votes) == 2


def test_a_lowering_that_comes_due_in_flight_waits_for_the_end(bench: Bench) -> None:
    """An inference that begins before the lowering keeps its votes, and is lowered after its end."""
    session = bench.controller.session(behind())
    with session.inference():
        pass
    bench.infer(session, 1_000)
    assert (len(bench.votes), session.state) == (1, State.RAISED)
    bench.time.advance_us(0)
    assert session.state is State.LOWERED


def test_overlapping_inferences_are_lowered_after_the_last(bench: Bench) -> None:
    """The end of the first inference arms no alarm."""
    session = bench.controller.session(behind())
    with session.inference():
        with session.inference():
            pass
        bench.time.advance_us(0)
        assert (session.state, len(bench.votes)) == (State.RAISED, 1)
    bench.time.advance_us(0)
    assert session.state is State.LOWERED


def test_an_exception_in_an_inference_is_passed_on_and_lowered_after(bench: Bench) -> None:
    """The exception passes through, and the votes are lowered as usual."""
    session = bench.controller.session(behind())
    with pytest.raises(ZeroDivisionError), session.inference():
        raise ZeroDivisionError
    bench.time.advance_us(0)
    assert session.state is State.LOWERED


def test_a_lowering_that_fails_raises_nowhere_and_is_sent_again() -> None:
    """Even with ``on_error="raise"`` a failed lowering raises no error, since the caller does not wait for it."""
    bench = Bench.make(on_error="raise")
    session = bench.controller.session(behind())
    with session.inference():
        pass
    bench.simulated.fail_next(FAILED)
    bench.time.advance_us(0)
    assert session.state is State.UNKNOWN
    bench.time.advance_us(2_000_000)
    assert (session.state, bench.effective().core_target) == (State.LOWERED, VoltageCorner.SVS)
    bench.controller.close()


def test_closing_right_after_lowers_and_leaves_no_alarm(bench: Bench) -> None:
    """Closing lowers the votes, resets polling and destroys the id; the armed alarm then makes no call."""
    session = bench.controller.session(behind())
    with session.inference():
        pass
    session.close()
    bench.time.advance_us(0)
    assert bench.time.alarms == 0
    bench.recorder.assert_calls(["createPowerConfigId", *["setPowerConfig"] * 3, "destroyPowerConfigId"])


@pytest.mark.parametrize("change", ["use", "hold"])
def test_a_change_of_profile_lowers_what_waits_to_be(bench: Bench, change: str) -> None:
    """A change of profile lowers votes that wait for it on the caller's thread, as it does in a sustain time."""
    session = bench.controller.session(behind())
    with session.inference():
        pass
    if change == "hold":
        session.hold("burst", reason="test", timeout_us=1_000).release()
    else:
        session.use("burst")
    assert (session.state, bench.time.alarms) == (State.LOWERED, 0)


def test_init_and_deinit_are_lowered_on_the_callers_thread(bench: Bench) -> None:
    """Only inferences are lowered in the background."""
    session = bench.controller.session(behind())
    for phase in (session.init(), session.deinit()):
        before = len(bench.votes)
        with phase:
            assert (session.state, len(bench.votes)) == (State.RAISED, before + 1)
        assert (session.state, len(bench.votes)) == (State.LOWERED, before + 2)


def test_a_sustain_time_lowers_by_its_timer(bench: Bench) -> None:
    """If there is a sustain time, ``lowering`` has no effect."""
    session = bench.controller.session(behind("burst"))
    bench.infer(session)
    bench.time.advance_us(299_999)
    assert (session.state, len(bench.votes)) == (State.RAISED, 1)
    bench.time.advance_us(1)
    assert session.state is State.LOWERED

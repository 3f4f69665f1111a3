"""Sessions: phases, in-flight counts, the sustain window, closing."""

from __future__ import annotations

import threading

import attrs
import pytest
from support.bench import BURST_SUSTAIN_US, SVS, Bench, options
from support.hanging import WAIT_S

from htppower import Profile, SessionClosed, State, load_profile
from htppower.events import Cause, Event, Phase, Transition
from htppower.profiles.profile import Relax

SETTINGS = ["RPC_CONTROL_LATENCY", "RPC_POLLING_TIME"]
FULL_BURST = [["DCVS_V3", "HMX_V2"], SETTINGS]


def _keeping_init_up(after_init_us: int) -> Profile:
    burst = load_profile("burst")
    assert burst.relax is not None
    return attrs.evolve(burst, relax=Relax(burst.relax.to, after_init_us, BURST_SUSTAIN_US))


def test_opening_a_session_creates_its_id_and_votes_nothing(bench: Bench) -> None:
    """A new session has its id and no vote."""
    session = bench.controller.session("burst")
    bench.recorder.assert_calls(["createPowerConfigId"])
    assert session.state is State.UNVOTED


def test_the_first_raise_sends_everything_and_lowering_what_differs(bench: Bench) -> None:
    """A raise on a new ID sends every vote; the lowering sends only the difference."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert [options(call) for call in bench.sets] == [*FULL_BURST, ["DCVS_V3"], ["RPC_POLLING_TIME"]]
    assert bench.effective().core_target == SVS


def test_an_isolated_inference_costs_two_calls_and_two_for_settings(bench: Bench) -> None:
    """Without a sustain time, an inference makes one call of clocks up and one down, each followed by polling."""
    session = bench.controller.session("high_performance")
    for _ in range(3):
        bench.recorder.clear()
        bench.infer(session)
        bench.recorder.assert_calls(["setPowerConfig"] * 4)
        assert [call in bench.votes for call in bench.sets] == [True, False, True, False]
        assert session.state is State.LOWERED


def test_inferences_inside_the_window_cost_no_call(bench: Bench) -> None:
    """A thousand inferences inside the sustain time make no transition and no call."""
    session = bench.controller.session("burst")
    bench.infer(session)
    calls, events = len(bench.recorder.calls), len(bench.events)
    for _ in range(1000):
        bench.infer(session, 100)
    assert len(bench.recorder.calls) == calls
    assert len(bench.events) == events
    assert bench.time.alarms == 1


@pytest.mark.parametrize(("early_us", "state"), [(1, State.RAISED), (0, State.LOWERED)])
def test_the_window_ends_exactly_at_the_deadline(bench: Bench, early_us: int, state: State) -> None:
    """The votes are up one microsecond before the deadline, and lowered exactly at the deadline."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.time.advance_us(100_000)
    bench.infer(session)
    bench.time.advance_us(BURST_SUSTAIN_US - early_us)
    assert session.state is state


def test_an_inference_over_the_deadline_is_not_lowered(bench: Bench) -> None:
    """A timer that fires during an inference does nothing; the end of the inference arms the next."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.infer(session, 10 * BURST_SUSTAIN_US)
    assert session.state is State.RAISED
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert session.state is State.LOWERED
    assert len(bench.votes) == 2


def test_init_raises_and_lowers_at_once(bench: Bench) -> None:
    """INIT raises the votes, and they are lowered at its end, for burst, too."""
    session = bench.controller.session("burst")
    with session.init():
        assert session.state is State.RAISED
    assert session.state is State.LOWERED


def test_after_init_the_next_raise_sends_everything(bench: Bench) -> None:
    """Votes that were sent before the graph's context exists may be lost, so they are in doubt when INIT ends."""
    session = bench.controller.session("burst")
    with session.init():
        pass
    bench.infer(session)
    lowering = [["DCVS_V3"], ["RPC_POLLING_TIME"]]
    assert [options(call) for call in bench.sets] == [*FULL_BURST, *lowering, *FULL_BURST]


def test_votes_kept_up_after_init_are_sent_again_by_the_first_inference(bench: Bench) -> None:
    """The votes of INIT may be lost, so an inference within ``after_init_us`` sends them again."""
    session = bench.controller.session(_keeping_init_up(50_000))
    with session.init():
        pass
    assert session.state is State.RAISED
    with session.inference():
        assert [options(call) for call in bench.sets] == [*FULL_BURST, *FULL_BURST]


def test_votes_kept_up_after_init_are_lowered_when_nothing_comes(bench: Bench) -> None:
    """If no inference follows, the votes are lowered after ``after_init_us``."""
    session = bench.controller.session(_keeping_init_up(50_000))
    with session.init():
        pass
    bench.time.advance_us(49_999)
    assert session.state is State.RAISED
    bench.time.advance_us(1)
    assert session.state is State.LOWERED


def test_deinit_raises_and_lowers_and_ends_a_sustain(bench: Bench) -> None:
    """DE-INIT raises the votes, and they are lowered at its end, even within a sustain time."""
    session = bench.controller.session("burst")
    bench.infer(session)
    with session.deinit():
        assert session.state is State.RAISED
    assert session.state is State.LOWERED


def test_no_deinit_counts_as_the_last_phase_once_an_inference_has_ended(bench: Bench) -> None:
    """After an inference, a cap lowers the session to the power state between inferences, not to that after DE-INIT."""
    session = bench.controller.session("burst")
    cap = bench.controller.cap("high_performance", reason="warm")
    with session.deinit():
        pass
    cap.lift()
    bench.infer(session)
    with bench.controller.cap("high_performance", reason="warm"):
        assert session.state is State.LOWERED
        relax = session.profile.relax
        assert relax is not None
        (votes,) = bench.controller.status().sessions[0].votes.values()
        assert votes.dcvs_v3 == relax.to.votes.dcvs_v3


def test_deinit_of_one_graph_leaves_another_graphs_inference_raised(bench: Bench) -> None:
    """If DE-INIT ends while an inference runs, the votes stay up."""
    session = bench.controller.session("burst")
    with session.inference():
        with session.deinit():
            pass
        assert session.state is State.RAISED


@pytest.mark.parametrize("name", ["burst", "high_performance"])
def test_overlapping_inferences_are_lowered_with_the_last(bench: Bench, name: str) -> None:
    """Votes stay up until the last of several overlapping inferences has ended."""
    session = bench.controller.session(name)
    first, second = session.inference(), session.inference()
    first.__enter__()
    second.__enter__()
    assert session.in_flight == 2
    first.__exit__(None, None, None)
    bench.time.advance_us(2 * BURST_SUSTAIN_US)
    assert (session.in_flight, session.state) == (1, State.RAISED)
    second.__exit__(None, None, None)
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert (session.in_flight, session.state) == (0, State.LOWERED)


def test_every_transition_tells_trigger_cause_and_phase(bench: Bench) -> None:
    """Each event has its trigger, cause and phase, in order."""
    session = bench.controller.session("burst", owner="camera")
    with session.init():
        pass
    bench.infer(session)
    bench.time.advance_us(BURST_SUSTAIN_US)
    session.close()
    seen = [
        (event.trigger.value, event.cause, event.phase, event.dest)
        for event in bench.events
        if isinstance(event, Transition)
    ]
    assert seen == [
        ("raise", Cause.INIT_BEGAN, Phase.INIT, State.RAISED),
        ("lower", Cause.INIT_ENDED, Phase.INIT, State.LOWERED),
        ("raise", Cause.INFERENCE_BEGAN, Phase.INFERENCE, State.RAISED),
        ("lower", Cause.SUSTAIN_EXPIRED, None, State.LOWERED),
        ("destroy", Cause.SESSION_CLOSED, None, State.DESTROYED),
    ]
    assert {event.owner for event in bench.events} == {"camera"}


def test_closing_lowers_gives_back_and_destroys_in_this_order(bench: Bench) -> None:
    """Closing a raised session lowers it, resets polling, then destroys its id; closing twice has no effect."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.recorder.clear()
    session.close()
    session.close()
    bench.recorder.assert_calls(["setPowerConfig", "setPowerConfig", "destroyPowerConfigId"])
    assert session.state is State.DESTROYED


def test_a_closed_session_begins_no_phase(bench: Bench) -> None:
    """On a closed session, beginning a phase or changing the profile raises SessionClosed."""
    session = bench.controller.session("burst")
    session.close()
    for begin in (session.init, session.inference, session.deinit):
        with pytest.raises(SessionClosed, match="closed"), begin():
            pass
    with pytest.raises(SessionClosed):
        session.use("balanced")
    assert session.in_flight == 0


def test_closing_during_an_inference_lowers_and_the_inference_ends_quietly(bench: Bench) -> None:
    """If a session is closed during an inference, it is closed at once, and the end of the inference makes no call."""
    session = bench.controller.session("burst")
    with session.inference():
        session.close()
        assert bench.effective().rpc_polling_time_us == 0
        bench.recorder.clear()
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert bench.recorder.calls == ()


def test_a_session_is_a_context_manager(bench: Bench) -> None:
    """Leaving the session's own ``with`` block closes it."""
    with bench.controller.session("burst") as session:
        bench.infer(session)
    assert session.state is State.DESTROYED


@pytest.mark.parametrize("sustain_us", [0, 20_000])
def test_a_deadline_that_comes_earlier_is_kept(bench: Bench, sustain_us: int) -> None:
    """An inference in the long window after INIT is lowered by its own sustain time."""
    burst = load_profile("burst")
    assert burst.relax is not None
    relax = attrs.evolve(burst.relax, after_init_us=10_000_000, after_inference_us=sustain_us)
    session = bench.controller.session(attrs.evolve(burst, relax=relax))
    with session.init():
        pass
    bench.time.advance_us(1_000_000)
    assert session.state is State.RAISED
    bench.infer(session)
    bench.time.advance_us(sustain_us)
    assert session.state is State.LOWERED


def test_a_graph_initialised_inside_a_sustain_window_leaves_the_window(bench: Bench) -> None:
    """If INIT ends inside a sustain window, the window stays as long as before."""
    session = bench.controller.session("burst")
    bench.infer(session)
    with session.init():
        pass
    assert session.state is State.RAISED
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert session.state is State.LOWERED


def test_nothing_slips_in_between_the_end_of_init_and_forgetting_its_votes(bench: Bench) -> None:
    """An inference that begins right when INIT was lowered sends everything."""
    session = bench.controller.session("burst")
    began = threading.Event()
    inferring = threading.Thread(target=bench.infer, args=(session,))

    def see(event: Event) -> None:
        if isinstance(event, Transition) and event.trigger == "lower" and not began.is_set():
            began.set()
            inferring.start()

    bench.controller.subscribe(see)
    with session.init():
        pass
    inferring.join(WAIT_S)
    assert options(bench.votes[2]) == ["DCVS_V3", "HMX_V2"]
    assert options(bench.settings[2]) == ["RPC_CONTROL_LATENCY", "RPC_POLLING_TIME"]

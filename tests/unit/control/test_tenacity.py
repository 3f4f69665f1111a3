"""Votes, cores, sessions and settings are lowered or reset in the end, whatever calls fail."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import attrs
import pytest
from support.bench import BURST_SUSTAIN_US, MAX_CORNER, SVS, Bench, options, voting

from htppower import State, VoteController, VoteRejected, load_profile
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.events import Event, Transition
from htppower.testing import VirtualTime
from htppower.votes.native_codes import FAILED, UNSUPPORTED

if TYPE_CHECKING:
    from htppower.votes.vote_set import VoteSet

HOUR_US = 3_600_000_000
# Far longer than any step here takes, even on a busy machine.
WAIT_S = 30


class OneIdFails(RecordingBackend):
    """Refuses every vote on one ID while ``failing`` is set."""

    failing: tuple[int, int] | None = None

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Refuse, or pass on."""
        if self.failing is not None and self.failing[0] == power_config_id:
            raise VoteRejected(self.failing[1], votes, power_config_id=power_config_id)
        super().set_power_config(power_config_id, votes)


def _two_cores() -> tuple[SimulatedHtp, OneIdFails, VirtualTime, VoteController]:
    simulated, time = SimulatedHtp(arch=75, cores=2), VirtualTime()
    backend = OneIdFails(simulated, time=time)
    return simulated, backend, time, VoteController(backend, time=time, handle_sigterm=False)


def test_a_core_that_can_not_be_lowered_does_not_keep_the_other_up() -> None:
    """Every core is tried: the session is UNKNOWN because of the core that fails, and the other core is lowered."""
    simulated, backend, time, controller = _two_cores()
    session = controller.session("burst", core_ids=(0, 1))
    with session.inference():
        backend.failing = (1, FAILED)
    time.advance_us(HOUR_US)
    assert session.state is State.UNKNOWN
    assert [simulated.effective(0, core).core_target for core in (0, 1)] == [MAX_CORNER, SVS]
    backend.failing = None
    controller.close()


def test_a_session_that_fails_for_good_does_not_keep_another_up() -> None:
    """If one session's votes are refused, the retry continues with the other sessions."""
    simulated, backend, time, controller = _two_cores()
    first, second = controller.session("burst"), controller.session("burst", core_ids=(1,))
    with first.inference(), second.inference():
        backend.failing = (1, FAILED)
        simulated.fail_next(FAILED)
    time.advance_us(HOUR_US)
    assert (first.state, second.state) == (State.UNKNOWN, State.LOWERED)
    backend.failing = None
    controller.close()


def test_an_option_that_was_accepted_is_not_taken_for_missing(bench: Bench) -> None:
    """A 13004 for an accepted option is a failure: its vote may be up, so the retry resets it."""
    session = bench.controller.session(voting(hmx_timeout_us=1000))
    with session.inference():
        bench.simulated.fail_next(UNSUPPORTED)
        bench.simulated.fail_next(UNSUPPORTED, nth=3)
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert (session.state, session.degradations) == (State.UNKNOWN, ())
    bench.time.advance_us(2_000_000)
    assert (session.state, session.degradations) == (State.LOWERED, ())


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
    """If INIT ends within a sustain time, the sustain time stays as it was."""
    session = bench.controller.session("burst")
    bench.infer(session)
    with session.init():
        pass
    assert session.state is State.RAISED
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert session.state is State.LOWERED


def test_a_timer_that_can_not_be_armed_lowers_at_once(caplog: pytest.LogCaptureFixture) -> None:
    """If no alarm can be armed, votes are lowered at the end of the inference, and the failure is logged."""

    class Broken(VirtualTime):
        def call_at(self, deadline_us: int, action: object) -> int:
            raise RuntimeError("can't start new thread")

    time = Broken()
    simulated = SimulatedHtp(arch=75)
    controller = VoteController(simulated, time=time, handle_sigterm=False)
    session = controller.session("burst")
    with session.inference():
        assert session.state is State.RAISED
    assert session.state is State.LOWERED
    assert "no timer" in caplog.text
    controller.close()


def test_nothing_slips_in_between_the_end_of_init_and_forgetting_its_votes(bench: Bench) -> None:
    """An inference that begins exactly when INIT was lowered sends every vote."""
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


def test_a_subscriber_that_closes_a_session_breaks_nothing(bench: Bench) -> None:
    """A subscriber may close sessions while the controller recovers from a lost link."""
    sessions = [bench.controller.session("burst") for _ in range(3)]
    for session in sessions:
        bench.infer(session)

    def see(event: Event) -> None:
        if isinstance(event, Transition) and event.dest is State.UNKNOWN:
            sessions[-1].close()

    bench.controller.subscribe(see)
    bench.simulated.restart_subsystem()
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert [session.state for session in sessions] == [State.LOWERED, State.LOWERED, State.DESTROYED]


def test_sessions_opened_on_a_dead_dsp_make_no_call_and_do_not_put_off_the_retry(bench: Bench) -> None:
    """During the back-off, opening sessions makes no call, and the retry comes at its time."""
    first = bench.controller.session("burst")
    bench.simulated.restart_subsystem(fatal=True)
    bench.infer(first, 0)
    bench.recorder.clear()
    later = [bench.controller.session("burst") for _ in range(3)]
    assert bench.recorder.calls == ()
    bench.simulated.restart_subsystem(fatal=False)
    bench.time.advance_us(1_000_000)
    assert {session.state for session in (first, *later)} == {State.LOWERED}


def test_closing_the_controller_takes_a_retry_back() -> None:
    """Closing the controller cancels the alarm of the retry."""
    bench = Bench.make()
    session = bench.controller.session("burst")
    bench.simulated.fail_next(FAILED)
    bench.infer(session)
    assert bench.time.alarms > 0
    bench.controller.close()
    assert bench.time.alarms == 0

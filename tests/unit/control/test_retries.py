"""Retries after failed calls: votes come down in the end, and a failing core or session holds up no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.bench import BURST_SUSTAIN_US, MAX_CORNER, SVS, Bench, voting

from htppower import State, VoteController, VoteRejected
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.events import Event, Transition
from htppower.testing import VirtualTime
from htppower.votes.native_codes import FAILED, UNSUPPORTED

if TYPE_CHECKING:
    from htppower.votes.vote_set import VoteSet

HOUR_US = 3_600_000_000


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

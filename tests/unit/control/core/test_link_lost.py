"""``link_lost``: it sends the votes of the sessions again, in the right order and only once."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from support.bench import BURST_SUSTAIN_US, MAX_CORNER, SVS, Bench
from support.hanging import WAIT_S, until

from htppower import State, VoteController, VoteRejected
from htppower.backends import SimulatedHtp
from htppower.events import Cause, Transition, Trigger
from htppower.votes.native_codes import SYSTEM_COMMUNICATION, SYSTEM_COMMUNICATION_FATAL

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.hanging import Hang

    from htppower.votes.vote_set import VoteSet

SECOND_US = 1_000_000


def causes(bench: Bench, trigger: Trigger) -> list[Cause]:
    """Return the causes of the transitions of one kind so far."""
    return [event.cause for event in bench.events if isinstance(event, Transition) and event.trigger is trigger]


@pytest.mark.parametrize("by", ["session", "controller"])
def test_every_session_is_voted_again(bench: Bench, by: str) -> None:
    """Raised sessions are raised again, and idle ones lowered; a session that never voted makes no call."""
    raised, lowered, unvoted = (bench.controller.session(name) for name in ("burst", "balanced", "balanced"))
    bench.infer(lowered)
    with raised.inference():
        bench.simulated.restart_subsystem()
        assert bench.effective().core_target != MAX_CORNER
        (lowered if by == "session" else bench.controller).link_lost(SYSTEM_COMMUNICATION)
        assert bench.effective().core_target == MAX_CORNER
        assert (raised.state, lowered.state, unvoted.state) == (State.RAISED, State.LOWERED, State.UNVOTED)
    assert causes(bench, Trigger.RAISE)[-1] is causes(bench, Trigger.LOSE)[0] is Cause.LINK_LOST


def test_a_session_with_an_inference_in_flight_comes_first(bench: Bench) -> None:
    """Sessions in use send their votes first, then the sustained and idle ones."""
    idle, sustained, used = (bench.controller.session("burst") for _ in range(3))
    bench.infer(idle)
    bench.time.advance_us(BURST_SUSTAIN_US)
    bench.infer(sustained)
    with used.inference():
        bench.recorder.clear()
        bench.controller.link_lost(SYSTEM_COMMUNICATION)
        assert [call.power_config_id for call in bench.votes] == [3, 1, 2]


def test_a_restart_that_is_told_ten_times_is_one(bench: Bench) -> None:
    """Every running graph call may report the same restart: the votes of each session are sent again once."""
    sessions = [bench.controller.session("burst") for _ in range(3)]
    for session in sessions:
        bench.infer(session)
    bench.recorder.clear()
    for told in range(10):
        sessions[told % 3].link_lost(SYSTEM_COMMUNICATION)
        bench.time.advance_us(1000)
    assert [call.power_config_id for call in bench.votes] == [1, 2, 3]


def test_what_a_call_of_ours_has_told_is_not_told_again(bench: Bench) -> None:
    """If a call of the controller has noticed the restart already, the host's report makes no call."""
    session = bench.controller.session("burst")
    bench.simulated.restart_subsystem()
    with session.inference():
        bench.recorder.clear()
        session.link_lost(SYSTEM_COMMUNICATION)
        assert bench.sets == []


def test_a_later_restart_is_another(bench: Bench) -> None:
    """A report a second after the first counts as a new loss, whatever was reported in between."""
    session = bench.controller.session("burst")
    with session.inference():
        session.link_lost(SYSTEM_COMMUNICATION)
        bench.time.advance_us(SECOND_US - 1)
        session.link_lost(SYSTEM_COMMUNICATION)
        bench.recorder.clear()
        bench.time.advance_us(1)
        session.link_lost(SYSTEM_COMMUNICATION)
        assert len(bench.votes) == 1


def test_a_link_that_is_not_rebuilt_is_made_anew(bench: Bench) -> None:
    """After 1011 the device and the ids are created again and every vote is sent, without a failing call."""
    session = bench.controller.session("burst")
    with session.inference():
        bench.recorder.clear()
        session.link_lost(SYSTEM_COMMUNICATION_FATAL)
        assert (session.state, session.power_config_ids) == (State.RAISED, {0: 2})
        assert {call.code for call in bench.recorder.calls} == {0}
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert (session.state, bench.effective().core_target, bench.time.alarms) == (State.LOWERED, SVS, 0)


@pytest.mark.parametrize("code", [SYSTEM_COMMUNICATION, SYSTEM_COMMUNICATION_FATAL])
def test_what_is_told_on_a_dead_link_ends_the_back_off(bench: Bench, code: int) -> None:
    """The host's report on a dead link tries the link at once, without waiting for the back-off."""
    session = bench.controller.session("burst")
    with session.inference():
        bench.simulated.restart_subsystem(fatal=True)
        session.link_lost(SYSTEM_COMMUNICATION_FATAL)
        bench.time.advance_us(2 * SECOND_US)
        states = [session.state]
        bench.simulated.restart_subsystem()
        session.link_lost(code)
        assert [*states, session.state] == [State.UNKNOWN, State.RAISED]


def test_with_on_error_raise_telling_raises_nothing() -> None:
    """``link_lost`` raises nothing; the next phase on the dead DSP raises."""
    bench = Bench.make(on_error="raise")
    session = bench.controller.session("burst")
    bench.simulated.restart_subsystem(fatal=True)
    session.link_lost(SYSTEM_COMMUNICATION_FATAL)
    with pytest.raises(VoteRejected, match="graphExecute returned 1011 QNN_COMMON_ERROR_SYSTEM_COMM"), session.init():
        pass
    bench.controller.close()


@pytest.mark.parametrize("code", [0, 1100, 13003, -1007, "1007", None])
def test_another_code_is_refused(bench: Bench, code: object) -> None:
    """``link_lost`` refuses other codes; its message lists the codes that mean lost votes."""
    session = bench.controller.session("burst")
    with session.inference():
        bench.recorder.clear()
        for tell in (session.link_lost, bench.controller.link_lost):
            with pytest.raises(ValueError, match=r"1007 \(QNN_COMMON_ERROR_SYSTEM_COMMUNICATION\) or 1011 \("):
                tell(code)  # type: ignore[arg-type]
        assert (session.state, bench.sets) == (State.RAISED, [])


def test_it_does_nothing_once_everything_is_closed(bench: Bench) -> None:
    """A report after everything is closed makes no error, no call and no alarm."""
    session = bench.controller.session("burst")
    bench.infer(session)
    session.close()
    bench.recorder.clear()
    for code in (SYSTEM_COMMUNICATION, SYSTEM_COMMUNICATION_FATAL):
        session.link_lost(code)
        bench.controller.close()
        session.link_lost(code)
    assert (bench.recorder.calls, bench.time.alarms) == ((), 0)


class _Hangs(SimulatedHtp):
    """Makes setPowerConfig calls hang while ``hang`` is set."""

    hang: Hang | None = None

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Hang while ``hang`` is set, then send the votes."""
        if self.hang is not None:
            self.hang()
        super().set_power_config(power_config_id, votes)


def test_whoever_tells_waits_for_no_call(hang: Callable[[], Hang]) -> None:
    """Another thread sends the votes again, so ``link_lost`` returns while a call hangs."""
    backend = _Hangs(arch=75)
    with VoteController(backend, handle_sigterm=False) as controller:
        session = controller.session("burst")
        with session.inference():
            backend.hang = hang()
            session.link_lost(SYSTEM_COMMUNICATION)
            assert backend.hang.begun.wait(WAIT_S)
            assert session.state is State.UNKNOWN
            assert backend.hang.thread is not threading.current_thread()
            backend.hang.let_go.set()
            until(lambda: session.state is State.RAISED)

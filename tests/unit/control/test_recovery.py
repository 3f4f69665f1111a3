"""Failing calls and restarts: what is sent again, at once or by the next inference."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING

from bench import BURST_SUSTAIN_US, MAX_CORNER, SVS, Bench, options

from htppower import State, VoteController, VoteRejected
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.control.core.reconciler import Reconciler
from htppower.control.core.stepper import Stepper
from htppower.events import Cause, Transition
from htppower.testing import VirtualTime
from htppower.votes.native_codes import (
    FAILED,
    INVALID_INPUT,
    SYSTEM_COMMUNICATION,
    SYSTEM_COMMUNICATION_FATAL,
    TRANSPORT,
)

if TYPE_CHECKING:
    import pytest

    from htppower.votes.vote_set import VoteSet

SECOND_US = 1_000_000


def _losses(bench: Bench) -> list[int]:
    return [event.session for event in bench.events if isinstance(event, Transition) and event.dest is State.UNKNOWN]


def test_a_failed_raise_never_fails_the_inference(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """By default the inference runs without its votes; an event, a log record and the status say so."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(TRANSPORT)
    bench.infer(session)
    assert _losses(bench) == [1]
    assert "13003" in caplog.text
    error = bench.controller.status().sessions[0].error
    assert error is not None
    assert (error.code, error.name) == (TRANSPORT, "QNN_HTP_PERF_INFRASTRUCTURE_ERROR_TRANSPORT")


def test_part_of_a_failed_list_may_be_in_force_and_all_of_it_is_sent_again(bench: Bench) -> None:
    """The library is not atomic: after [good, bad] every option of the failed call is sent again."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(FAILED, applied=2)
    with session.inference():
        assert bench.effective().core_target == MAX_CORNER
        assert session.state is State.UNKNOWN
        with session.inference():
            assert options(bench.sets[-1]) == options(bench.sets[0])


def test_an_idle_session_that_could_not_raise_is_lowered(bench: Bench) -> None:
    """A raise that failed half way, without a later inference, is lowered when its window is over."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(FAILED, applied=1)
    bench.infer(session)
    assert bench.effective().core_target == MAX_CORNER
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert session.state is State.LOWERED
    assert bench.effective().core_target == SVS


def test_a_restart_is_voted_again_for_every_session_at_once(bench: Bench) -> None:
    """1007 on one session's call: raised sessions are raised again and lowered ones lowered, at the same time."""
    raised = bench.controller.session("burst")
    lowered = bench.controller.session("balanced")
    unvoted = bench.controller.session("balanced")
    bench.infer(lowered)
    with raised.inference():
        bench.simulated.restart_subsystem()
        bench.recorder.clear()
        with lowered.inference():
            now_us = bench.time.now_us
            assert {call.time_us for call in bench.sets} == {now_us}
            assert sorted(str(call.power_config_id) for call in bench.sets) == ["1", "2", "2"]
            assert (raised.state, lowered.state, unvoted.state) == (State.RAISED, State.RAISED, State.UNVOTED)
    causes = {event.cause for event in bench.events if isinstance(event, Transition) and event.session == 1}
    assert Cause.LINK_LOST in causes


def test_an_id_that_the_library_no_longer_knows_is_created_anew(bench: Bench) -> None:
    """After a restart that forgets the ids, sessions get new ones and their votes; nothing is set on the old."""
    a = bench.controller.session("burst")
    b = bench.controller.session("burst")
    with a.inference():
        bench.simulated.restart_subsystem(forget_ids=True)
        with b.inference():
            assert (a.state, b.state) == (State.RAISED, State.RAISED)
            assert bench.simulated.power_config_ids == (3, 4)
            assert {each for status in bench.controller.status().sessions for each in status.power_config_ids} == {3, 4}


def test_a_session_opened_before_the_restart_and_raised_after_gets_a_new_id(bench: Bench) -> None:
    """An id that was never voted on is replaced, too, when the library no longer knows it."""
    early = bench.controller.session("burst")
    other = bench.controller.session("burst")
    bench.simulated.restart_subsystem(forget_ids=True)
    bench.infer(other)
    with early.inference():
        assert early.state is State.RAISED


def test_invalid_input_without_a_restart_is_a_failure(bench: Bench) -> None:
    """13001 out of the blue does not replace the id; the session is UNKNOWN, and recovers at the next raise."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(INVALID_INPUT)
    bench.infer(session)
    assert session.state is State.UNKNOWN
    bench.infer(session)
    assert session.state is State.RAISED
    assert bench.simulated.power_config_ids == (1,)


def test_a_restart_during_the_recovery_is_recovered_from(bench: Bench) -> None:
    """A second 1007 while sessions are being voted again starts over, and all of them end up right."""
    sessions = [bench.controller.session("burst") for _ in range(3)]
    phases = [session.inference() for session in sessions]
    for phase in phases:
        phase.__enter__()
    bench.simulated.fail_next(SYSTEM_COMMUNICATION, nth=1)
    bench.simulated.fail_next(SYSTEM_COMMUNICATION, nth=3)
    sessions[0].use("balanced")
    assert {session.state for session in sessions} == {State.RAISED}
    assert bench.effective().core_target == MAX_CORNER


def test_an_error_that_is_kept_keeps_nothing_of_the_inference_that_met_it(bench: Bench) -> None:
    """A vote fails in an inference; status shows the error, and the caller's input is freed nevertheless."""

    class Input:
        """What a model is given."""

    def infer() -> weakref.ref[Input]:
        given = Input()
        with session.inference():
            return weakref.ref(given)

    session = bench.controller.session("burst")
    bench.simulated.fail_next(FAILED)
    given = infer()
    gc.collect()
    assert bench.controller.status().sessions[0].last_error is not None
    assert given() is None


class NumbersAnew(RecordingBackend):
    """Gives its ids numbers from 1 again once it is told to, as a library may that has forgotten them."""

    offset = 0

    def create_power_config_id(self, device_id: int, core_id: int) -> int:
        """Create."""
        return super().create_power_config_id(device_id, core_id) - self.offset

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Set."""
        super().set_power_config(power_config_id + self.offset, votes)

    def destroy_power_config_id(self, power_config_id: int) -> None:
        """Destroy."""
        super().destroy_power_config_id(power_config_id + self.offset)


def test_an_id_whose_number_is_given_again_is_not_destroyed_for_the_one_before() -> None:
    """What could not be destroyed is gone with the restart; the number is that of another session's id now."""
    time, simulated = VirtualTime(), SimulatedHtp(arch=75)
    backend = NumbersAnew(simulated, time=time)
    controller = VoteController(backend, time=time, handle_sigterm=False, heartbeat_us=0)
    first = controller.session("burst")
    simulated.fail_next(TRANSPORT, "destroyPowerConfigId")
    first.close()
    simulated.restart_subsystem(forget_ids=True)
    backend.offset = 2
    second = controller.session("burst")
    assert second.power_config_ids == {0: 2}
    with second.inference():
        time.advance_us(20 * SECOND_US)
        assert simulated.power_config_ids == (4,)
        assert simulated.effective().core_target == MAX_CORNER
    controller.close()


def test_a_session_that_closes_as_the_dsp_dies_again_is_destroyed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its call fails when the time is over in which the DSP is left alone, and another call is told that it is dead."""
    bench = Bench.make()
    session = bench.controller.session("burst")
    bench.infer(session)
    looks: list[bool] = []

    def once(_stepper: Stepper, error: VoteRejected | None) -> bool:
        if error is not None:
            looks.append(not looks)
        return error is not None and looks[-1]

    monkeypatch.setattr(Stepper, "restarted", once)
    # The thread that closes does it: no other one has come to it yet.
    monkeypatch.setattr(Reconciler, "settle_soon", lambda *_: None)
    bench.simulated.fail_next(SYSTEM_COMMUNICATION_FATAL)
    session.close()
    assert (session.state, bench.simulated.power_config_ids) == (State.DESTROYED, ())

"""Failing calls, restarts and dead links: what is sent again, when, and how few calls fail."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING, Any

import pytest
from support.bench import BURST_SUSTAIN_US, MAX_CORNER, SVS, Bench, options
from support.second_controller import polling_us

from htppower import Session, State, VoteController
from htppower.backends import SimulatedHtp
from htppower.events import Cause, LinkChanged, LinkState, Transition
from htppower.testing import VirtualTime
from htppower.votes.native_codes import (
    FAILED,
    INVALID_INPUT,
    SYSTEM_COMMUNICATION,
    SYSTEM_COMMUNICATION_FATAL,
    TRANSPORT,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


SECOND_US = 1_000_000
WELL, LOST, SUSPECT, DEAD, HELD = LinkState


@pytest.fixture
def device() -> Iterator[Bench]:
    """Yield a bench on a device's link; close its controller, and assert that nothing is left."""
    made = Bench.make(SimulatedHtp(arch=75, link="device"))
    yield made
    made.controller.close()
    assert (made.simulated.power_config_ids, polling_us(made), made.time.alarms) == ((), 0, 0)


def link_states(bench: Bench) -> list[LinkState]:
    """Return a list that gets each new state of the link."""
    states: list[LinkState] = []
    bench.controller.subscribe(lambda event: states.append(event.dest), LinkChanged)  # type: ignore[attr-defined]
    return states


def losses(bench: Bench) -> list[int]:
    """Return the session of each transition to UNKNOWN."""
    return [event.session for event in bench.events if isinstance(event, Transition) and event.dest is State.UNKNOWN]


def times_us(bench: Bench, function: str = "setPowerConfig") -> list[int]:
    """Return the times of the calls of one function."""
    return [call.time_us for call in bench.recorder.calls if call.function == function]


def keep_busy(bench: Bench, sessions: list[Session], duration_us: int) -> None:
    """Run inferences of 10 ms on all sessions at the same time, one after the other."""
    end_us = bench.time.now_us + duration_us
    while bench.time.now_us < end_us:
        phases = [session.inference() for session in sessions]
        for phase in phases:
            phase.__enter__()
        bench.time.advance_us(10_000)
        for phase in phases:
            phase.__exit__(None, None, None)


def die(bench: Bench) -> None:
    """Answer the next vote with 1011, which means that the library has given up its link."""
    bench.simulated.spoil_rebuild()
    bench.simulated.restart_subsystem()


# The tests below have a call that is refused.


def test_a_failed_raise_never_fails_the_inference(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """By default the inference runs without its votes; an event, a log record and the status show the failure."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(FAILED)
    bench.infer(session)
    assert losses(bench) == [1]
    assert "13006" in caplog.text
    error = bench.controller.status().sessions[0].error
    assert error is not None
    assert (error.code, error.name) == (FAILED, "QNN_HTP_PERF_INFRASTRUCTURE_ERROR_FAILED")


def test_part_of_a_failed_list_may_be_in_force_and_all_of_it_is_sent_again(bench: Bench) -> None:
    """A failed call may have set some of its options, so the next inference sends every option again."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(FAILED, applied=1)
    with session.inference():
        assert (session.state, bench.effective().core_target) == (State.UNKNOWN, MAX_CORNER)
        with session.inference():
            assert session.state is State.RAISED
            assert options(bench.votes[1]) == options(bench.votes[0])


def test_an_idle_session_that_could_not_raise_is_lowered(bench: Bench) -> None:
    """If a raise failed in part, and no inference follows, the session is lowered after its sustain time."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(FAILED, applied=1)
    bench.infer(session)
    assert bench.effective().core_target == MAX_CORNER
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert (session.state, bench.effective().core_target) == (State.LOWERED, SVS)


def test_a_failed_lowering_is_tried_again_by_the_back_off(bench: Bench) -> None:
    """Votes may still be up, so the lowering is retried after 1, 2, 4, 8 and 8 s, without an inference."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.recorder.clear()
    bench.simulated.fail_next(FAILED, times=5)
    bench.time.advance_us(BURST_SUSTAIN_US)
    first_us = bench.time.now_us
    assert session.state is State.UNKNOWN
    bench.time.advance_us(23 * SECOND_US)
    assert (session.state, bench.effective().core_target) == (State.LOWERED, SVS)
    assert [(call.time_us - first_us) // SECOND_US for call in bench.votes] == [0, 1, 3, 7, 15, 23]


def test_an_id_that_the_library_no_longer_knows_is_made_anew_at_once(bench: Bench) -> None:
    """If another user freed the device (13001), a new id is created and its votes are sent in the same step."""
    session = bench.controller.session("burst")
    bench.simulated.close()
    with session.inference():
        assert (session.state, session.power_config_ids) == (State.RAISED, {0: 2})
    assert losses(bench) == []


def test_a_second_13001_is_a_failure(bench: Bench) -> None:
    """After a second 13001 the vote itself is invalid; it is retried with the back-off."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(INVALID_INPUT, times=2)
    with session.inference():
        assert (session.state, bench.simulated.power_config_ids) == (State.UNKNOWN, (2,))
        bench.time.advance_us(SECOND_US)
        assert session.state is State.RAISED


# The tests below have a link that the library has rebuilt.


def test_a_restart_is_voted_again_for_every_session_at_once(device: Bench) -> None:
    """After 1007 all ids stay; running sessions are raised first, idle ones lowered, and no vote is sent twice."""
    raised, lowered, unvoted = (device.controller.session(name) for name in ("burst", "balanced", "balanced"))
    states = link_states(device)
    device.infer(lowered)
    with raised.inference():
        device.simulated.restart_subsystem()
        device.recorder.clear()
        with lowered.inference():
            assert [(call.power_config_id, call.code) for call in device.votes] == [(2, 1007), (2, 0), (1, 0)]
            assert (raised.state, lowered.state, unvoted.state) == (State.RAISED, State.RAISED, State.UNVOTED)
            assert (device.effective().core_target, polling_us(device)) == (MAX_CORNER, 9999)
            assert set(times_us(device)) == {device.time.now_us}
    causes = {event.cause for event in device.events if isinstance(event, Transition) and event.session == 1}
    assert Cause.LINK_LOST in causes
    assert states == [LOST, WELL]


def test_a_restart_during_the_recovery_is_recovered_from(bench: Bench) -> None:
    """A second 1007 during the recovery starts it again, and all sessions end in the right state."""
    sessions = [bench.controller.session("burst") for _ in range(3)]
    phases = [session.inference() for session in sessions]
    for phase in phases:
        phase.__enter__()
    bench.simulated.fail_next(SYSTEM_COMMUNICATION, nth=1)
    bench.simulated.fail_next(SYSTEM_COMMUNICATION, nth=3)
    sessions[0].use("balanced")
    assert {session.state for session in sessions} == {State.RAISED}
    assert (bench.effective().core_target, polling_us(bench)) == (MAX_CORNER, 9999)


def test_a_subsystem_that_keeps_restarting_is_left_to_the_back_off(bench: Bench) -> None:
    """If the DSP restarts again and again, three calls are made, then two at each alarm, until a vote succeeds."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(SYSTEM_COMMUNICATION, times=5)
    with session.inference():
        assert session.state is State.UNKNOWN
        bench.time.advance_us(8 * SECOND_US)
        assert session.state is State.RAISED
    assert [call.time_us // SECOND_US for call in bench.votes] == [0, 0, 0, 1, 1, 3]


# The tests below have one or several failures that may come from a dead link.


def test_one_13003_is_tried_again_at_once(bench: Bench) -> None:
    """After one 13003 the inference has its votes, and no other session makes a call: the link was healthy."""
    session, other = (bench.controller.session("burst") for _ in range(2))
    states = link_states(bench)
    bench.infer(other)
    bench.recorder.clear()
    bench.simulated.fail_next(TRANSPORT)
    with session.inference():
        assert (session.state, bench.effective().core_target) == (State.RAISED, MAX_CORNER)
    assert {call.power_config_id for call in bench.sets} == {1}
    assert (losses(bench), states) == ([1], [SUSPECT, WELL])


def test_a_13003_that_lasts_is_a_dead_link_which_is_made_anew(device: Bench) -> None:
    """A 13003 that lasts means a crash on the DSP: the first retry creates new ids and sends every vote."""
    session, other = (device.controller.session("burst") for _ in range(2))
    states = link_states(device)
    device.infer(other)
    device.simulated.restart_subsystem(fastrpc="crashed")
    device.recorder.clear()
    begun_us = device.time.now_us
    with session.inference():
        assert session.state is State.UNKNOWN
        device.time.advance_us(SECOND_US)
        assert (session.state, other.state) == (State.RAISED, State.LOWERED)
        assert (session.power_config_ids, other.power_config_ids) == ({0: 3}, {0: 4})
        assert (device.effective().core_target, polling_us(device)) == (MAX_CORNER, 9999)
    assert sum(call.code == TRANSPORT for call in device.votes) == 4
    assert [us - begun_us for us in times_us(device, "renew")] == [SECOND_US]
    assert states == [SUSPECT, DEAD, WELL]


# The tests below have a link that the library has given up.


def test_a_13003_on_each_of_several_cores_is_a_dead_link_after_the_back_off_only() -> None:
    """With 13003 on several cores, three calls fail at once; the fourth shows a second later that the link is dead."""
    bench = Bench.make(SimulatedHtp(arch=75, cores=2))
    session = bench.controller.session("burst", core_ids=(0, 1))
    bench.simulated.fail_next(TRANSPORT, times=4)
    with session.inference():
        assert times_us(bench) == [0] * 3
        bench.time.advance_us(1_000_000)
        assert (times_us(bench)[3], times_us(bench, "renew")) == (1_000_000, [1_000_000])
        assert session.state is State.RAISED


def test_failures_of_another_kind_do_not_make_a_13003_a_dead_link(bench: Bench) -> None:
    """After three refused votes and one 13003 the link is SUSPECT, not dead."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(FAILED, times=3)
    bench.simulated.fail_next(TRANSPORT, nth=4)
    states = link_states(bench)
    with session.inference():
        bench.time.advance_us(20_000_000)
        assert (states, session.state) == ([SUSPECT, WELL], State.RAISED)


def test_a_dead_link_is_made_anew_at_once(device: Bench) -> None:
    """After 1011 the inference begins with its votes on a new ID, and the other sessions get theirs, too."""
    session, other = (device.controller.session("burst") for _ in range(2))
    states = link_states(device)
    device.infer(other)
    die(device)
    device.recorder.clear()
    with session.inference():
        assert (session.state, other.state) == (State.RAISED, State.RAISED)
        assert (session.power_config_ids, other.power_config_ids) == ({0: 3}, {0: 4})
        assert device.simulated.power_config_ids == (3, 4)
        assert [call.code for call in device.votes] == [1011, 0, 0]
        assert polling_us(device) == 9999
    assert states == [DEAD, WELL]


def test_a_renewal_that_fails_is_tried_again_by_the_back_off(device: Bench) -> None:
    """While the DSP is down, only the renewal is retried."""
    session = device.controller.session("burst")
    device.simulated.restart_subsystem(fatal=True)
    with session.inference():
        assert session.state is State.UNKNOWN
        device.time.advance_us(2 * SECOND_US)
        device.simulated.restart_subsystem()
        device.time.advance_us(SECOND_US)
        assert (session.state, device.effective().core_target) == (State.RAISED, MAX_CORNER)
    assert [us // SECOND_US for us in times_us(device, "renew")] == [0, 1, 3]
    assert [call.code for call in device.votes] == [1011, 0]


def test_a_link_that_another_user_holds_waits_for_the_host(device: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """If the new device fails, too, an ERROR says what the host must do, and ``link_lost`` ends the wait."""
    session, states = device.controller.session("burst"), link_states(device)
    device.simulated.second_user = True
    die(device)
    with session.inference():
        assert (session.state, device.controller.status().link, states) == (State.UNKNOWN, HELD, [DEAD, HELD])
        (error,) = [record for record in caplog.records if "another user of the library" in record.message]
        assert (error.levelname, "link_lost(1011)" in error.message) == ("ERROR", True)
        device.recorder.clear()
        device.time.advance_us(59 * SECOND_US)
        assert device.recorder.calls == ()
        device.simulated.second_user = False
        device.controller.link_lost(SYSTEM_COMMUNICATION_FATAL)
        assert (session.state, device.effective().core_target) == (State.RAISED, MAX_CORNER)


def test_a_link_that_is_held_is_tried_again_every_minute(device: Bench) -> None:
    """If the host frees its session without ``link_lost``, the next attempt is at most a minute away."""
    session = device.controller.session("burst")
    device.simulated.second_user = True
    die(device)
    with session.inference():
        device.recorder.clear()
        device.time.advance_us(121 * SECOND_US)
        assert [us // SECOND_US for us in times_us(device, "renew")] == [60, 120]
        device.simulated.second_user = False
        device.time.advance_us(60 * SECOND_US)
        assert session.state is State.RAISED


def test_a_session_opens_while_the_link_is_dead(device: Bench) -> None:
    """The session is UNKNOWN, without an ID and a call, until the link is back."""
    first = device.controller.session("burst")
    device.simulated.restart_subsystem(fatal=True)
    device.infer(first)
    device.recorder.clear()
    session = device.controller.session("burst")
    with session.inference():
        assert (session.state, session.power_config_ids, device.recorder.calls) == (State.UNKNOWN, {}, ())
        device.simulated.restart_subsystem()
        device.time.advance_us(2 * SECOND_US)
        assert (session.state, device.effective().core_target) == (State.RAISED, MAX_CORNER)


# The tests below are about all of these failures.


@pytest.mark.parametrize("code", [1007, 1011, 13003, 13005, 13006, 1003])
def test_few_calls_fail_however_busy_the_host_is(code: int) -> None:
    """With four busy sessions, at most 10 calls fail in any 5 s, and every vote is back when the failure ends."""
    bench = Bench.make()
    sessions = [bench.controller.session("balanced") for _ in range(4)]
    keep_busy(bench, sessions, 10_000)
    bench.recorder.clear()
    bench.simulated.fail_next(code, times=10**9)
    keep_busy(bench, sessions, 12 * SECOND_US)
    failed_us = [call.time_us for call in bench.recorder.calls if call.code]
    assert failed_us
    assert max(sum(us <= each < us + 5 * SECOND_US for each in failed_us) for us in failed_us) <= 10
    bench.simulated.clear_faults()
    bench.time.advance_us(61 * SECOND_US)
    assert {session.state for session in sessions} == {State.LOWERED}
    with sessions[3].inference():
        assert (sessions[3].state, bench.effective().core_target) == (State.RAISED, 112)
    bench.controller.close()
    assert bench.simulated.power_config_ids == ()


def test_an_inference_on_a_dead_link_makes_no_call(device: Bench) -> None:
    """An inference on a dead link runs without votes, and does not wait."""
    session = device.controller.session("balanced")
    device.simulated.restart_subsystem(fatal=True)
    device.infer(session)
    device.recorder.clear()
    for _ in range(50):
        device.infer(session, 10_000)
    assert (device.recorder.calls, session.state, session.error is not None) == ((), State.UNKNOWN, True)


def test_an_error_that_is_kept_keeps_nothing_of_the_inference_that_met_it(bench: Bench) -> None:
    """Status keeps the error of a failed vote, and the caller's input is still freed."""

    class Input:
        """The input of a model."""

    def infer() -> weakref.ref[Any]:
        given = Input()
        with session.inference():
            return weakref.ref(given)

    session = bench.controller.session("burst")
    bench.simulated.fail_next(FAILED)
    given = infer()
    gc.collect()
    assert bench.controller.status().sessions[0].last_error is not None
    assert given() is None


def test_a_retry_that_can_not_be_armed_fails_no_inference(caplog: pytest.LogCaptureFixture) -> None:
    """If no alarm can be armed, a failed vote still fails no inference, and closing works."""

    class Broken(VirtualTime):
        def call_at(self, deadline_us: int, action: object) -> int:
            raise RuntimeError("can't start new thread")

    simulated = SimulatedHtp(arch=75)
    controller = VoteController(simulated, time=Broken(), handle_sigterm=False)
    session = controller.session("burst")
    simulated.fail_next(FAILED)
    with session.inference():
        assert session.state is State.UNKNOWN
    controller.close()
    assert simulated.power_config_ids == ()
    assert "no timer" in caplog.text

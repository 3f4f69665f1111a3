"""The heartbeat sends votes again in the background: which votes, when, by one alarm, and with one event."""

from __future__ import annotations

import contextlib
from typing import Any

import attrs
import pytest
from support.bench import BURST_SUSTAIN_US, HEARTBEAT_US, Bench, options

from htppower import State, VoteController, load_profile
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.control.core.heartbeat import DEFAULT_HEARTBEAT_US, due_us, next_look_us
from htppower.events import CallMade, Event
from htppower.testing import VirtualTime

SECOND_US = 1_000_000


@pytest.mark.parametrize("state", State)
def test_only_raised_votes_are_due(state: State) -> None:
    """Raised votes are due one interval after the session's last call; other votes are never due."""
    assert due_us(state, 5, 100) == (105 if state is State.RAISED else None)


@pytest.mark.parametrize(
    ("dues_us", "look_us"),
    [
        ((), None),
        ((1001,), 1001),
        ((1050, 1001, 1100), 1001),
        ((1000,), 1100),
        ((1,), 1100),
        ((900, 1099), 1099),
        ((900, 1200), 1100),
    ],
)
def test_the_next_look_is_when_the_next_votes_are_due(dues_us: tuple[int, ...], look_us: int | None) -> None:
    """Votes that are due by 1000 are sent then, and are due again 100 us later."""
    assert next_look_us(dues_us, 1000, 100) == look_us


@pytest.mark.parametrize("heartbeat_us", [-1, -HEARTBEAT_US])
def test_a_negative_interval_is_refused(heartbeat_us: int) -> None:
    """ValueError names the number and the allowed range."""
    with pytest.raises(ValueError, match=f"heartbeat_us is {heartbeat_us}: 0 for no heartbeat, or more"):
        VoteController("simulated", heartbeat_us=heartbeat_us)


@pytest.mark.parametrize("heartbeat_us", [1.0, "10", None, True])
def test_an_interval_that_is_no_whole_number_is_refused(heartbeat_us: Any) -> None:
    """TypeError asks for a whole number of microseconds."""
    with pytest.raises(TypeError, match="a whole number of microseconds"):
        VoteController("simulated", heartbeat_us=heartbeat_us)


def test_what_is_in_force_is_cast_again_every_ten_seconds() -> None:
    """By default each ID gets one call every ten seconds, without the settings of the process."""
    assert DEFAULT_HEARTBEAT_US == HEARTBEAT_US
    time = VirtualTime()
    recorder = RecordingBackend(SimulatedHtp(arch=75), time=time)
    with VoteController(recorder, time=time, handle_sigterm=False) as controller:
        session = controller.session("burst")
        with session.inference():
            _, raised, _ = recorder.calls
            time.advance_us(HEARTBEAT_US - 1)
            assert len(recorder.calls[1:]) == 2
            recorder.clear()
            time.advance_us(2 * HEARTBEAT_US + 1)
            first, second, third = recorder.calls
            assert [call.time_us for call in (first, second, third)] == [HEARTBEAT_US * each for each in (1, 2, 3)]
            assert options(first) == ["DCVS_V3", "HMX_V2"]
            assert all(call.configs == raised.configs for call in (first, second, third))


def test_without_a_heartbeat_nothing_is_cast_and_nothing_armed() -> None:
    """With an interval of 0, a long inference makes only the calls of its raise, and no alarm is armed."""
    bench = Bench.make(heartbeat_us=0)
    with bench.controller.session("burst").inference():
        bench.time.advance_us(10 * HEARTBEAT_US)
        assert (len(bench.votes), len(bench.settings), bench.time.alarms) == (1, 1, 0)
    bench.controller.close()


def test_a_call_of_the_session_puts_the_beat_off(bench: Bench) -> None:
    """The interval counts from the session's own last call, for whatever purpose it was made."""
    first, second = (bench.controller.session("burst") for _ in range(2))
    with first.inference(), second.inference():
        bench.time.advance_us(6 * SECOND_US)
        first.use("balanced")
        bench.recorder.clear()
        bench.time.advance_us(12 * SECOND_US)
        beats = [(call.power_config_id, call.time_us // SECOND_US) for call in bench.sets]
        assert beats == [(2, 10), (1, 16)]


def test_one_alarm_serves_every_session(bench: Bench) -> None:
    """One alarm serves all sessions, and each session's votes are sent when they are due."""
    sessions = [bench.controller.session("burst") for _ in range(3)]
    with contextlib.ExitStack() as phases:
        for session in sessions:
            phases.enter_context(session.inference())
            bench.time.advance_us(SECOND_US)
            assert bench.time.alarms == 1
        bench.recorder.clear()
        bench.time.advance_us(2 * HEARTBEAT_US - SECOND_US)
        beats = [(call.power_config_id, call.time_us // SECOND_US) for call in bench.sets]
        assert beats == [(1, 10), (2, 11), (3, 12), (1, 20), (2, 21), (3, 22)]
        assert bench.time.alarms == 1


def test_what_is_lowered_is_left_alone(bench: Bench) -> None:
    """An idle session has no heartbeat; if the alarm finds no raised session, it does not arm the next one."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.time.advance_us(BURST_SUSTAIN_US)
    bench.recorder.clear()
    bench.time.advance_us(HEARTBEAT_US)
    assert (bench.recorder.calls, bench.time.alarms) == ((), 0)
    bench.time.advance_us(10 * HEARTBEAT_US)
    with session.inference():
        bench.time.advance_us(HEARTBEAT_US)
        assert len(bench.votes) == 2


def test_isolated_inferences_share_an_alarm(bench: Bench) -> None:
    """Inferences without a sustain time use one alarm together, if they come within an interval."""
    asked: list[str] = []
    call_at = bench.time.call_at
    bench.time.call_at = lambda *arguments: asked.append("alarm") or call_at(*arguments)  # type: ignore[func-returns-value,method-assign]
    session = bench.controller.session("balanced")
    for _ in range(100):
        bench.infer(session)
    assert (asked, bench.time.alarms) == (["alarm"], 1)


def test_no_alarm_is_left_when_everything_is_closed(bench: Bench) -> None:
    """Closing the last session cancels the alarm."""
    sessions = [bench.controller.session("burst") for _ in range(2)]
    for session in sessions:
        bench.infer(session)
    sessions[0].close()
    bench.time.advance_us(1)
    assert bench.time.alarms == 2
    sessions[1].close()
    assert bench.time.alarms == 0


def test_each_core_has_its_votes_cast_again() -> None:
    """A session on several cores makes one call for each core."""
    bench = Bench.make(SimulatedHtp(arch=75, cores=2), heartbeat_us=HEARTBEAT_US)
    with bench.controller.session("burst", core_ids=(0, 1)).inference():
        bench.recorder.clear()
        bench.time.advance_us(HEARTBEAT_US)
        assert [call.power_config_id for call in bench.sets] == [1, 2]
    bench.controller.close()


def test_a_beat_is_told_as_a_call_and_as_nothing_else(bench: Bench) -> None:
    """A heartbeat is reported only as a call: there is no transition, and the session's status does not change."""
    told: list[Event] = []
    session = bench.controller.session("burst")
    with session.inference():
        before = bench.controller.status().sessions[0]
        bench.controller.subscribe(told.append)
        bench.time.advance_us(HEARTBEAT_US)
        (call,) = told
        assert isinstance(call, CallMade)
        assert (call.session, call.function, call.code) == (1, "setPowerConfig", 0)
        after = bench.controller.status().sessions[0]
        assert after.calls_sent == before.calls_sent + 1
        same = after._replace(
            calls_sent=before.calls_sent,
            last_call=before.last_call,
            time_in_state_us=before.time_in_state_us,
        )
        assert same == before


def test_what_was_doubted_after_init_is_cast_again_as_it_was_sent(bench: Bench) -> None:
    """The end of INIT puts all votes in doubt, so the heartbeat sends the last votes again."""
    burst = load_profile("burst")
    assert burst.relax is not None
    profile = attrs.evolve(burst, relax=attrs.evolve(burst.relax, after_init_us=2 * HEARTBEAT_US))
    session = bench.controller.session(profile)
    with session.init():
        pass
    raised = bench.votes[-1]
    bench.time.advance_us(HEARTBEAT_US)
    assert (session.state, bench.sets[-1].time_us) == (State.RAISED, HEARTBEAT_US)
    assert bench.sets[-1].configs == raised.configs

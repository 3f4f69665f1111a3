"""The heartbeat: which votes are cast again in the background, when, and what follows from the answer."""

from __future__ import annotations

import contextlib
import operator
import threading
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from bench import BURST_SUSTAIN_US, MAX_CORNER, Bench, options
from hanging import WAIT_S, until
from rig import Interrupted

from htppower import State, VoteController, load_profile
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.control.heartbeat import DEFAULT_HEARTBEAT_US, due_us, next_look_us
from htppower.events import CallMade, Cause, Event, Transition, Trigger
from htppower.testing import VirtualTime
from htppower.votes.native_codes import INVALID_INPUT, SYSTEM_COMMUNICATION, SYSTEM_COMMUNICATION_FATAL, TRANSPORT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hanging import Hang

    from htppower import Session
    from htppower.control.phases import Inference
    from htppower.control.session_record import SessionRecord
    from htppower.votes.vote_set import VoteSet

HEARTBEAT_US = 10_000_000
SECOND_US = 1_000_000


@pytest.fixture
def bench() -> Iterator[Bench]:
    """Yield a bench with a heartbeat; close its controller, and assert that nothing stays behind."""
    made = Bench.make(heartbeat_us=HEARTBEAT_US)
    yield made
    made.controller.close()
    assert (made.simulated.power_config_ids, made.time.alarms) == ((), 0)


@pytest.mark.parametrize("unsettled", [False, True])
@pytest.mark.parametrize("state", State)
def test_only_raised_votes_are_due(state: State, unsettled: bool) -> None:
    """They are due when the session has made no call for the interval; nothing else ever is."""
    due = 105 if state is State.RAISED and not unsettled else None
    assert due_us(state, 5, 100, unsettled=unsettled) == due


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
    """Votes that are due at 1000, or were before, are cast then, and are due again 100 later."""
    assert next_look_us(dues_us, 1000, 100) == look_us


@pytest.mark.parametrize("heartbeat_us", [-1, -HEARTBEAT_US])
def test_a_negative_interval_is_refused(heartbeat_us: int) -> None:
    """The message says what may be given."""
    with pytest.raises(ValueError, match=f"heartbeat_us is {heartbeat_us}: 0 for no heartbeat, or more"):
        VoteController("simulated", heartbeat_us=heartbeat_us)


@pytest.mark.parametrize("heartbeat_us", [1.0, "10", None, True])
def test_an_interval_that_is_no_whole_number_is_refused(heartbeat_us: Any) -> None:
    """The message says what may be given."""
    with pytest.raises(TypeError, match="a whole number of microseconds"):
        VoteController("simulated", heartbeat_us=heartbeat_us)


def test_what_is_in_force_is_cast_again_every_ten_seconds() -> None:
    """By default, and as it is: one call on each id, without the settings of the process."""
    assert DEFAULT_HEARTBEAT_US == HEARTBEAT_US
    time = VirtualTime()
    recorder = RecordingBackend(SimulatedHtp(arch=75), time=time)
    with VoteController(recorder, time=time, handle_sigterm=False) as controller:
        session = controller.session("burst")
        with session.inference():
            raised = recorder.calls[-1]
            time.advance_us(HEARTBEAT_US - 1)
            assert recorder.calls[-1] is raised
            time.advance_us(2 * HEARTBEAT_US + 1)
            first, second, third = recorder.calls[2:]
            assert [call.time_us for call in (first, second, third)] == [HEARTBEAT_US * each for each in (1, 2, 3)]
            assert options(first) == ["DCVS_V3", "HMX_V2"]
            assert all(call.configs == raised.configs[:2] for call in (first, second, third))


def test_without_a_heartbeat_nothing_is_cast_and_nothing_armed() -> None:
    """0 switches it off."""
    bench = Bench.make(heartbeat_us=0)
    with bench.controller.session("burst").inference():
        bench.time.advance_us(10 * HEARTBEAT_US)
        assert (len(bench.sets), bench.time.alarms) == (1, 0)
    bench.controller.close()


def test_a_restart_is_noticed_within_an_inference_that_never_ends(bench: Bench) -> None:
    """The votes of every session are back at the next beat, and not before."""
    first, second = bench.controller.session("burst"), bench.controller.session("balanced")
    with first.inference(), second.inference():
        bench.time.advance_us(HEARTBEAT_US // 2)
        bench.simulated.restart_subsystem()
        bench.time.advance_us(HEARTBEAT_US // 2 - 1)
        assert bench.effective().core_target != MAX_CORNER
        bench.time.advance_us(1)
        assert bench.effective().core_target == MAX_CORNER
        assert (first.state, second.state) == (State.RAISED, State.RAISED)
    lost = [event for event in bench.events if isinstance(event, Transition) and event.trigger is Trigger.LOSE]
    assert [(event.session, event.cause) for event in lost] == [(1, Cause.HEARTBEAT), (2, Cause.LINK_LOST)]
    assert (lost[0].error is not None, lost[0].attempted) == (True, None)


def test_a_restart_is_noticed_by_a_session_that_is_used_steadily_in_its_window(bench: Bench) -> None:
    """Inferences inside the window make no call, for as long as it lasts; the beat between them does."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.simulated.restart_subsystem()
    for _ in range(3 * HEARTBEAT_US // BURST_SUSTAIN_US):
        bench.time.advance_us(BURST_SUSTAIN_US // 2)
        bench.infer(session)
    assert (session.state, bench.effective().core_target) == (State.RAISED, MAX_CORNER)


def test_an_id_that_a_restart_has_made_unknown_is_created_anew(bench: Bench) -> None:
    """The beat takes the usual way: 1007, and an id that the library no longer knows."""
    session = bench.controller.session("burst")
    with session.inference():
        bench.simulated.restart_subsystem(forget_ids=True)
        bench.time.advance_us(HEARTBEAT_US)
        assert (session.state, bench.simulated.power_config_ids) == (State.RAISED, (2,))


def test_an_id_that_was_refused_is_created_anew_once_a_restart_is_told(bench: Bench) -> None:
    """13001 to a beat may be the first sign of a restart of which another call is told later."""
    session = bench.controller.session("burst")
    with session.inference():
        bench.simulated.fail_next(INVALID_INPUT)
        bench.time.advance_us(HEARTBEAT_US)
        session.link_lost(SYSTEM_COMMUNICATION)
        assert (session.state, bench.simulated.power_config_ids) == (State.RAISED, (2,))


def test_a_call_of_the_session_puts_the_beat_off(bench: Bench) -> None:
    """The interval counts from its last call, whatever that was for; another session's call does not count."""
    first, second = (bench.controller.session("burst") for _ in range(2))
    with first.inference(), second.inference():
        bench.time.advance_us(6 * SECOND_US)
        first.use("balanced")
        bench.recorder.clear()
        bench.time.advance_us(12 * SECOND_US)
        beats = [(call.power_config_id, call.time_us // SECOND_US) for call in bench.sets]
        assert beats == [(2, 10), (1, 16)]


def test_one_alarm_serves_every_session(bench: Bench) -> None:
    """Each session's votes are cast when they are due, by one alarm."""
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
    """An idle session makes no call, and once the alarm has found nothing raised none is armed."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.time.advance_us(BURST_SUSTAIN_US)
    bench.recorder.clear()
    bench.time.advance_us(HEARTBEAT_US)
    assert (bench.recorder.calls, bench.time.alarms) == ((), 0)
    bench.time.advance_us(10 * HEARTBEAT_US)
    with session.inference():
        bench.time.advance_us(HEARTBEAT_US)
        assert len(bench.sets) == 2


def test_isolated_inferences_share_an_alarm(bench: Bench) -> None:
    """A profile without a sustain time arms one alarm in an interval, and not one for each inference."""
    asked: list[str] = []
    call_at, call_soon = bench.time.call_at, bench.time.call_soon
    bench.time.call_at = lambda *arguments: asked.append("alarm") or call_at(*arguments)  # type: ignore[func-returns-value,method-assign]
    bench.time.call_soon = lambda *arguments: asked.append("soon") or call_soon(*arguments)  # type: ignore[func-returns-value]
    session = bench.controller.session("balanced")
    for _ in range(100):
        with session.inference():
            pass
    assert asked == ["soon"]
    for _ in range(100):
        bench.infer(session)
    assert (asked, bench.time.alarms) == (["soon", "alarm"], 1)


def test_no_alarm_is_left_when_everything_is_closed(bench: Bench) -> None:
    """The last session to be closed takes the alarm back."""
    sessions = [bench.controller.session("burst") for _ in range(2)]
    for session in sessions:
        bench.infer(session)
    sessions[0].close()
    bench.time.advance_us(1)
    assert bench.time.alarms == 2
    sessions[1].close()
    assert bench.time.alarms == 0


def test_each_core_has_its_votes_cast_again() -> None:
    """A session on several cores makes a call for each."""
    bench = Bench.make(SimulatedHtp(arch=75, cores=2), heartbeat_us=HEARTBEAT_US)
    with bench.controller.session("burst", core_ids=(0, 1)).inference():
        bench.recorder.clear()
        bench.time.advance_us(HEARTBEAT_US)
        assert [call.power_config_id for call in bench.sets] == [1, 2]
    bench.controller.close()


def test_a_beat_is_told_as_a_call_and_as_nothing_else(bench: Bench) -> None:
    """Nothing has changed: there is no transition, and state, cause and votes of the status stay."""
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


def test_a_beat_keeps_no_inference_waiting(bench: Bench) -> None:
    """Inside the window an inference begins without a call while the votes are being cast again."""
    session = bench.controller.session("burst")
    bench.infer(session)
    begun: list[int] = []
    set_power_config = bench.simulated.set_power_config

    def meanwhile(power_config_id: int, votes: VoteSet) -> None:
        bench.simulated.set_power_config = set_power_config  # type: ignore[method-assign]
        bench.infer(session, 0)
        begun.append(len(bench.sets))
        set_power_config(power_config_id, votes)

    with session.inference():
        bench.simulated.set_power_config = meanwhile  # type: ignore[method-assign]
        bench.time.advance_us(HEARTBEAT_US)
        assert begun == [1]


def test_a_beat_that_fails_loses_the_votes_until_the_back_off(bench: Bench) -> None:
    """An error that is no restart: the session is UNKNOWN, as after any call that fails, and voted again after 1 s."""
    session = bench.controller.session("burst")
    with session.inference():
        bench.simulated.fail_next(TRANSPORT)
        bench.time.advance_us(HEARTBEAT_US)
        assert session.error is not None
        assert (session.state, session.error.code) == (State.UNKNOWN, TRANSPORT)
        bench.time.advance_us(SECOND_US)
        assert session.state is State.RAISED


def test_a_dead_dsp_that_a_beat_finds_is_left_to_the_back_off(bench: Bench) -> None:
    """1011: one failed call, then none for a second; no beat is due while nothing is raised."""
    session = bench.controller.session("burst")
    with session.inference():
        bench.simulated.restart_subsystem(fatal=True)
        bench.time.advance_us(HEARTBEAT_US + SECOND_US - 1)
        assert (session.state, bench.sets[-1].code) == (State.UNKNOWN, SYSTEM_COMMUNICATION_FATAL)
        assert bench.sets[-1].time_us == HEARTBEAT_US
        bench.simulated.restart_subsystem()
        bench.time.advance_us(HEARTBEAT_US)
        assert session.state is State.RAISED


def test_what_was_doubted_after_init_is_cast_again_as_it_was_sent(bench: Bench) -> None:
    """The end of INIT forgets what is in force; what was sent last is sent again nevertheless."""
    burst = load_profile("burst")
    assert burst.relax is not None
    profile = attrs.evolve(burst, relax=attrs.evolve(burst.relax, after_init_us=2 * HEARTBEAT_US))
    session = bench.controller.session(profile)
    with session.init():
        pass
    raised = bench.sets[-1]
    bench.time.advance_us(HEARTBEAT_US)
    assert (session.state, bench.sets[-1].time_us) == (State.RAISED, HEARTBEAT_US)
    assert bench.sets[-1].configs == raised.configs[:2]


def test_a_session_that_somebody_settles_is_left_to_him(bench: Bench) -> None:
    """Whoever has the turn makes a call, or has made one; nobody waits for him, and the next beat comes in time."""
    session = bench.controller.session("burst")
    with session.inference():
        turn, taken, over = session._record.turn, threading.Event(), threading.Event()

        def settle() -> None:
            with turn:
                taken.set()
                over.wait(WAIT_S)

        thread = threading.Thread(target=settle)
        thread.start()
        assert taken.wait(WAIT_S)
        bench.time.advance_us(HEARTBEAT_US)
        over.set()
        thread.join()
        with turn:
            bench.time.advance_us(HEARTBEAT_US)
        assert len(bench.sets) == 1
        bench.time.advance_us(HEARTBEAT_US)
        assert [call.time_us for call in bench.sets] == [0, 3 * HEARTBEAT_US]


@pytest.mark.parametrize(("part", "value"), [("epoch", -1), ("casting", True), ("gate.closing", True)])
def test_a_session_that_is_about_to_be_settled_is_left_alone(bench: Bench, part: str, value: object) -> None:
    """Its votes are lost, in doubt, or about to be given back: whoever settles it sees to them."""
    session = bench.controller.session("burst")
    with session.inference():
        bench.time.advance_us(1)
        owner, _, name = f"_record.{part}".rpartition(".")
        changed = operator.attrgetter(owner)(session)
        before = getattr(changed, name)
        setattr(changed, name, value)
        bench.time.advance_us(2 * HEARTBEAT_US)
        setattr(changed, name, before)
        assert len(bench.sets) == 1


def test_a_call_that_is_made_while_others_are_cast_again_counts(bench: Bench) -> None:
    """Votes that were due when the alarm rang are left alone where they have been cast since."""
    first, second = (bench.controller.session("burst") for _ in range(2))
    set_power_config = bench.simulated.set_power_config

    def meanwhile(power_config_id: int, votes: VoteSet) -> None:
        if power_config_id == 1:
            thread = threading.Thread(target=second.use, args=("balanced",))
            thread.start()
            thread.join()
        set_power_config(power_config_id, votes)

    with first.inference(), second.inference():
        bench.recorder.clear()
        bench.simulated.set_power_config = meanwhile  # type: ignore[method-assign]
        bench.time.advance_us(HEARTBEAT_US)
        assert [call.power_config_id for call in bench.sets] == [2, 1]


def test_an_alarm_that_was_taken_back_too_late_does_nothing(bench: Bench) -> None:
    """It has begun to ring when the last session is closed; the next one has an alarm of its own."""
    first = bench.controller.session("burst")
    with first.inference():
        bench.time.advance_us(HEARTBEAT_US // 2)
    cancel, bench.time.cancel = bench.time.cancel, lambda alarm: None  # type: ignore[method-assign]
    first.close()
    bench.time.cancel = cancel  # type: ignore[method-assign]
    with bench.controller.session("burst").inference():
        bench.time.advance_us(HEARTBEAT_US - 1)
        assert bench.time.alarms == 1


def test_a_look_that_is_interrupted_is_made_up_for(bench: Bench) -> None:
    """Ctrl-C before it is known who is due: the next look comes after the interval."""
    registry = bench.controller._registry
    every = registry.all

    def interrupted() -> tuple[SessionRecord, ...]:
        registry.all = every  # type: ignore[method-assign]
        raise KeyboardInterrupt

    with bench.controller.session("burst").inference():
        bench.time.advance_us(1)
        registry.all = interrupted  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):
            bench.time.advance_us(HEARTBEAT_US)
        bench.time.advance_us(HEARTBEAT_US)
        assert [call.time_us for call in bench.sets] == [0, 2 * HEARTBEAT_US]


def test_where_no_alarm_can_be_armed_that_is_logged(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """At the very end of a process no thread can be started: the session works, and its next raise tries again."""
    call_at = bench.time.call_at

    def refuse(deadline_us: int, action: Callable[[], None]) -> int:
        raise RuntimeError("can't start new thread")

    session = bench.controller.session("balanced")
    with session.inference():
        bench.time.call_at = refuse  # type: ignore[method-assign]
        bench.time.advance_us(1)
        assert "no timer for the heartbeat" in caplog.text
        bench.time.call_at = call_at  # type: ignore[method-assign]
    with session.inference():
        bench.time.advance_us(1)
        assert bench.time.alarms == 1


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("after", [False, True])
def test_ctrl_c_in_a_beat_is_passed_on_and_the_votes_are_cast_again(after: bool, waits: bool) -> None:
    """Whatever the call has done: no lock is held, the next inference waits for votes, or 1 s does, and beats go on."""
    time = VirtualTime()
    backend = Interrupted(time)
    with VoteController(backend, time=time, handle_sigterm=False, heartbeat_us=HEARTBEAT_US) as controller:
        session = controller.session("burst")
        with session.inference():
            time.advance_us(1)
            backend.next_raises(KeyboardInterrupt(), after=after)
            with pytest.raises(KeyboardInterrupt):
                time.advance_us(HEARTBEAT_US)
            assert (session._record.turn._is_owned(), time.alarms) == (False, 2)  # heartbeat and back-off
            calls = len(backend.calls)
            if waits:
                time.advance_us(SECOND_US)
            else:
                session.inference().__enter__()
            assert (session.state, len(backend.calls)) == (State.RAISED, calls + 1)
            time.advance_us(HEARTBEAT_US + SECOND_US)
            assert (len(backend.calls), time.alarms) == (calls + 2, 1)


class _Hangs(SimulatedHtp):
    """Makes the calls on one id hang while there is what hangs, and counts the others."""

    hang: Hang | None = None
    beats = 0

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Hang or count, then set."""
        if self.hang is not None and power_config_id == 1:
            self.hang()
        self.beats += power_config_id == 2
        super().set_power_config(power_config_id, votes)


def test_a_beat_that_hangs_keeps_no_other_session_from_being_looked_after(hang: Callable[[], Hang]) -> None:
    """In real time: the votes of the others are cast again and again meanwhile."""
    backend = _Hangs(arch=75)
    with VoteController(backend, handle_sigterm=False, heartbeat_us=20_000) as controller:
        sessions = [controller.session("burst") for _ in range(2)]
        with sessions[0].inference(), sessions[1].inference():
            backend.hang = hang()
            assert backend.hang.begun.wait(WAIT_S)
            beats = backend.beats
            until(lambda: backend.beats > beats + 2)
            backend.hang.let_go.set()


def test_a_look_that_comes_before_it_is_noted_that_one_was_asked_for_ends_no_heartbeat(bench: Bench) -> None:
    """It may find nobody, since another thread was just told of a restart; the votes are cast again all the same."""
    call_soon = bench.time.call_soon
    session = bench.controller.session("burst")

    def look_at_once(action: Callable[[], object], ignored: object = None) -> None:
        bench.time.call_soon = call_soon
        thread = threading.Thread(target=bench.controller.link_lost, args=(SYSTEM_COMMUNICATION,))
        thread.start()
        thread.join(WAIT_S)
        action()

    bench.time.call_soon = look_at_once  # type: ignore[assignment]
    with session.inference():
        bench.recorder.clear()
        bench.time.advance_us(2 * HEARTBEAT_US)
        assert [call.time_us for call in bench.sets] == [HEARTBEAT_US, 2 * HEARTBEAT_US]


class _Opening(dict[int, Any]):
    """The open sessions, among which another thread opens one as soon as somebody finds that there is none left."""

    opens: Callable[[], object] | None = None

    def __len__(self) -> int:
        found = super().__len__()
        opens, self.opens = self.opens, None
        if opens is not None and not found:
            other = threading.Thread(target=opens)
            other.start()
            other.join(WAIT_S)
        return found


def test_a_session_that_opens_as_the_last_one_is_closed_keeps_its_heartbeat(bench: Bench) -> None:
    """The alarm that it counts on is not taken back meanwhile."""
    bench.controller._registry.sessions = sessions = _Opening()
    closing = bench.controller.session("burst")
    with closing.inference():
        bench.time.advance_us(SECOND_US)
    begun: list[tuple[Session, Inference]] = []

    def opens() -> None:
        session = bench.controller.session("burst")
        begun.append((session, session.inference()))
        begun[0][1].__enter__()

    sessions.opens = opens
    closing.close()
    ((session, inference),) = begun
    before = len(bench.sets)
    bench.time.advance_us(HEARTBEAT_US)
    assert (session.state, len(bench.sets)) == (State.RAISED, before + 1)
    inference.__exit__(None, None, None)

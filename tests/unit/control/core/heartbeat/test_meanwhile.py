"""The heartbeat beside what happens meanwhile: inferences, other threads, Ctrl-C, and calls that hang."""

from __future__ import annotations

import operator
import threading
from typing import TYPE_CHECKING, Any

import pytest
from bench import HEARTBEAT_US, Bench
from hanging import WAIT_S, until
from rig import Interrupted

from htppower import State, VoteController
from htppower.backends import SimulatedHtp
from htppower.testing import VirtualTime
from htppower.votes.native_codes import SYSTEM_COMMUNICATION

SECOND_US = 1_000_000

if TYPE_CHECKING:
    from collections.abc import Callable

    from hanging import Hang

    from htppower import Session
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.phases.blocks import Inference
    from htppower.votes.vote_set import VoteSet


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

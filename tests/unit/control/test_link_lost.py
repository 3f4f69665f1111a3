"""A host that tells of a restart, which its own graph calls have seen: who is voted again, when, and how often."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from bench import BURST_SUSTAIN_US, MAX_CORNER, SVS, Bench
from hanging import WAIT_S, until

from htppower import State, VoteController, VoteRejected
from htppower.backends import SimulatedHtp
from htppower.control.core.process_settings import ProcessSettings
from htppower.control.core.recovery import MOST_RESTARTS, SAME_LOSS_US, Recovery
from htppower.events import Cause, Transition, Trigger
from htppower.votes.native_codes import FAILED, SYSTEM_COMMUNICATION, SYSTEM_COMMUNICATION_FATAL

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from hanging import Hang

    from htppower.control.time.locks import Lock
    from htppower.votes.vote_set import VoteSet


def causes(bench: Bench, trigger: Trigger) -> list[Cause]:
    """Return the causes of the transitions of one kind so far."""
    return [event.cause for event in bench.events if isinstance(event, Transition) and event.trigger is trigger]


@pytest.mark.parametrize("by", ["session", "controller"])
def test_every_session_is_voted_again(bench: Bench, by: str) -> None:
    """Whoever is told, what is up is raised again and what is idle lowered; one that has never voted is left alone."""
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
    """Those that are only sustained, or idle, are voted after those that are used."""
    idle, sustained, used = (bench.controller.session("burst") for _ in range(3))
    bench.infer(idle)
    bench.time.advance_us(BURST_SUSTAIN_US)
    bench.infer(sustained)
    with used.inference():
        bench.recorder.clear()
        bench.controller.link_lost(SYSTEM_COMMUNICATION)
        assert [call.power_config_id for call in bench.sets] == [3, 1, 2]


def test_a_restart_that_is_told_ten_times_is_one(bench: Bench) -> None:
    """Each graph call that was under way tells of it: every session is voted again once."""
    sessions = [bench.controller.session("burst") for _ in range(3)]
    for session in sessions:
        bench.infer(session)
    bench.recorder.clear()
    for told in range(10):
        sessions[told % 3].link_lost(SYSTEM_COMMUNICATION)
        bench.time.advance_us(1000)
    assert [call.power_config_id for call in bench.sets] == [1, 2, 3]


def test_what_a_call_of_ours_has_told_is_not_told_again(bench: Bench) -> None:
    """The host learns a moment later of the restart that the controller has met itself."""
    session = bench.controller.session("burst")
    bench.simulated.restart_subsystem()
    with session.inference():
        bench.recorder.clear()
        session.link_lost(SYSTEM_COMMUNICATION)
        assert bench.sets == []


def test_a_later_restart_is_another(bench: Bench) -> None:
    """A loss that is told a second after the last one is a new one, also where that was told again in between."""
    session = bench.controller.session("burst")
    with session.inference():
        session.link_lost(SYSTEM_COMMUNICATION)
        bench.time.advance_us(SAME_LOSS_US - 1)
        session.link_lost(SYSTEM_COMMUNICATION)
        bench.recorder.clear()
        bench.time.advance_us(1)
        session.link_lost(SYSTEM_COMMUNICATION)
        assert len(bench.sets) == 1


def test_what_a_host_tells_does_not_count_towards_the_restarts_that_are_left_to_the_back_off(bench: Bench) -> None:
    """The controller's own calls may meet as many restarts in a second as without the host."""
    session = bench.controller.session("burst")
    with session.inference():
        bench.simulated.fail_next(SYSTEM_COMMUNICATION, times=MOST_RESTARTS)
        session.link_lost(SYSTEM_COMMUNICATION)
        assert (session.state, bench.time.now_us) == (State.RAISED, 0)


def test_a_link_that_is_not_rebuilt_waits_for_the_back_off(bench: Bench) -> None:
    """1011: every session is UNKNOWN, no call is made before the back-off is over, and then the votes are back."""
    session = bench.controller.session("burst")
    with session.inference():
        bench.recorder.clear()
        session.link_lost(SYSTEM_COMMUNICATION_FATAL)
        bench.time.advance_us(999_999)
        assert (session.state, bench.recorder.calls) == (State.UNKNOWN, ())
        bench.time.advance_us(1)
        assert session.state is State.RAISED


def test_a_link_that_is_rebuilt_ends_the_back_off(bench: Bench) -> None:
    """1007 right after 1011 is news: the votes are back at once."""
    session = bench.controller.session("burst")
    with session.inference():
        session.link_lost(SYSTEM_COMMUNICATION_FATAL)
        session.link_lost(SYSTEM_COMMUNICATION)
        assert session.state is State.RAISED
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert (session.state, bench.effective().core_target, bench.time.alarms) == (State.LOWERED, SVS, 0)


def test_with_on_error_raise_telling_raises_nothing() -> None:
    """A host that handles an error gets none of ours on top; the next phase on the dead DSP raises it."""
    bench = Bench.make(on_error="raise")
    session = bench.controller.session("burst")
    bench.simulated.fail_next(FAILED)
    with pytest.raises(VoteRejected), session.inference():
        pass
    session.link_lost(SYSTEM_COMMUNICATION_FATAL)
    with pytest.raises(VoteRejected, match="graphExecute returned 1011 QNN_COMMON_ERROR_SYSTEM_COMM"), session.init():
        pass
    bench.controller.close()


@pytest.mark.parametrize("code", [0, 1100, 13003, -1007, "1007", None])
def test_another_code_is_refused(bench: Bench, code: object) -> None:
    """Nothing else says that the votes are lost; the message says what does."""
    session = bench.controller.session("burst")
    with session.inference():
        bench.recorder.clear()
        for tell in (session.link_lost, bench.controller.link_lost):
            with pytest.raises(ValueError, match=r"1007 \(QNN_COMMON_ERROR_SYSTEM_COMMUNICATION\) or 1011 \("):
                tell(code)  # type: ignore[arg-type]
        assert (session.state, bench.sets) == (State.RAISED, [])


def test_it_does_nothing_once_everything_is_closed(bench: Bench) -> None:
    """A host's last failing call may come late: no error, no call, no alarm."""
    session = bench.controller.session("burst")
    bench.infer(session)
    session.close()
    bench.recorder.clear()
    for code in (SYSTEM_COMMUNICATION, SYSTEM_COMMUNICATION_FATAL):
        session.link_lost(code)
        bench.controller.close()
        session.link_lost(code)
    assert (bench.recorder.calls, bench.time.alarms) == ((), 0)


class _Knocked:
    """A lock that knows which threads have come to it."""

    def __init__(self, lock: Lock) -> None:
        self._lock = lock
        self.comers: list[int] = []

    def __enter__(self) -> bool:
        self.comers.append(threading.get_ident())
        return self._lock.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._lock.__exit__(kind, error, traceback)


def test_a_loss_that_is_just_being_taken_in_is_no_other_one(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that gives a turn back waits for who takes it in; sessions had been voted anew without end."""
    session = bench.controller.session("burst")
    recovery, registry, lose = bench.controller._recovery, bench.controller._registry, ProcessSettings.lose
    registry.lock = lock = _Knocked(registry.lock)  # type: ignore[assignment]
    another = threading.Thread(target=bench.controller._reconciler.after_turn)

    def meanwhile(settings: ProcessSettings) -> None:
        monkeypatch.undo()
        another.start()
        until(lambda: another.ident in lock.comers)
        lose(settings)

    with session.inference():
        bench.recorder.clear()
        monkeypatch.setattr(ProcessSettings, "lose", meanwhile)
        recovery.link_lost(VoteRejected(SYSTEM_COMMUNICATION), earlier=False, by_host=True, lasted_us=0)
        another.join(WAIT_S)
        assert (registry.epoch, len(bench.sets), session.state) == (1, 1, State.RAISED)


class _Hangs(SimulatedHtp):
    """Makes setPowerConfig calls hang while there is what hangs."""

    hang: Hang | None = None

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Hang, then set."""
        if self.hang is not None:
            self.hang()
        super().set_power_config(power_config_id, votes)


def test_whoever_tells_waits_for_no_call(hang: Callable[[], Hang]) -> None:
    """In real time the votes are cast on other threads: telling returns while a call of them hangs."""
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


def test_no_session_calls_a_dsp_of_which_another_call_has_just_told_that_it_is_dead(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while that is taken in: who finds its votes lost finds that they can't be cast now."""
    session, other = bench.controller.session("burst"), bench.controller.session("balanced")
    follow, waiting = Recovery._follow_loss, list[tuple[int, bool]]()

    def meanwhile(recovery: Recovery, error: VoteRejected, *args: Any, **kwargs: Any) -> None:
        waiting.append((error.code, recovery.waiting))
        follow(recovery, error, *args, **kwargs)

    monkeypatch.setattr(Recovery, "_follow_loss", meanwhile)
    bench.simulated.restart_subsystem(fatal=True)
    bench.recorder.clear()
    with session.inference():
        bench.infer(other)
        assert len(bench.sets) == 1
    assert waiting == [(SYSTEM_COMMUNICATION_FATAL, True)]
    bench.simulated.restart_subsystem()
    bench.time.advance_us(2_000_000)

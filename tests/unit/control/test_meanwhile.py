"""What another thread does in the middle of an operation, each put where it does harm if the order is wrong."""

from __future__ import annotations

import asyncio
import functools
import threading
from typing import TYPE_CHECKING, Any

import gates
import pytest
from bench import MAX_CORNER, Bench
from hanging import WAIT_S, Hang, HangingHtp, on_a_thread, until

from htppower import SessionClosed, State, VoteController, VoteRejected
from htppower.backends import SimulatedHtp
from htppower.control import controller as named
from htppower.control.core.gate import Gate
from htppower.control.core.recovery import MOST_RESTARTS
from htppower.control.core.stepper import Stepper
from htppower.control.phases.blocks import Phases
from htppower.control.time.thread_pool import ThreadPool
from htppower.events import CallsSaved
from htppower.testing import VirtualTime
from htppower.votes.native_codes import FAILED, SYSTEM_COMMUNICATION

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower import Session
    from htppower.control.core.session_record import SessionRecord
    from htppower.events import Cause
    from htppower.votes.vote_set import VoteSet

SECOND_US = 1_000_000
# More often a session is not settled in a few microseconds, unless for ever.
MANY = 30


class Meanwhile(SimulatedHtp):
    """Calls back in the middle of the next call of a function, before it is carried out."""

    def __init__(self) -> None:
        super().__init__(arch=75)
        self.then: dict[str, Callable[[], object]] = {}

    def create_power_config_id(self, device_id: int, core_id: int) -> int:
        """Call back, and create."""
        self._call_back("create")
        return super().create_power_config_id(device_id, core_id)

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Call back, and set."""
        self._call_back("set")
        super().set_power_config(power_config_id, votes)

    def _call_back(self, function: str) -> None:
        self.then.pop(function, lambda: None)()


def test_a_session_that_opens_while_the_controller_closes_is_given_back() -> None:
    """Its id was not there when the controller looked who is open: the opening fails, and nothing stays behind."""
    backend = Meanwhile()
    controller = VoteController(backend, time=VirtualTime(), handle_sigterm=False)
    backend.then["create"] = on_a_thread(controller.close)
    with pytest.raises(SessionClosed, match="the controller is closed"):
        controller.session("burst")
    assert backend.power_config_ids == ()
    assert controller.status().sessions == ()


def test_a_backend_is_not_freed_in_the_middle_of_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session opens as its controller is closed: the library could crash in the create, or the destroy after it."""
    backend = Meanwhile()
    closed: list[bool] = []
    monkeypatch.setattr(backend, "close", lambda: closed.append(True))
    monkeypatch.setattr(named, "named_backend", lambda name: backend)
    controller = VoteController("simulated", time=VirtualTime(), handle_sigterm=False)
    backend.then["create"] = on_a_thread(controller.close)
    with pytest.raises(SessionClosed, match="the controller is closed"):
        controller.session("burst")
    assert (controller._ended, closed, backend.power_config_ids) == (True, [], ())
    with VoteController("simulated", time=VirtualTime(), handle_sigterm=False) as other:
        other.session("burst")
    assert closed == [True]


def test_a_session_that_opens_as_the_dsp_comes_back_is_voted_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not among the open ones when the restart is told, which the back-off need not wait for."""
    bench = Bench.make()
    other = bench.controller.session("burst")
    bench.simulated.restart_subsystem(fatal=True)
    bench.infer(other)

    @on_a_thread
    def comes_back() -> None:
        bench.simulated.restart_subsystem()
        bench.controller.link_lost(1007)

    with monkeypatch.context() as patched:
        restarted = Stepper.restarted

        def meanwhile(stepper: Stepper, error: VoteRejected | None) -> bool:
            before = restarted(stepper, error)
            patched.undo()
            comes_back()
            return before

        patched.setattr(Stepper, "restarted", meanwhile)
        session = bench.controller.session("burst")
    assert session.state is State.LOWERED
    bench.controller.close()


def test_a_session_is_not_left_to_the_back_off_once_the_others_are_voted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many restarts have put it off; the last of the others is voted just as it looks whether it may try again."""
    bench = Bench.make()
    idle, busy = (bench.controller.session("burst") for _ in range(2))
    recovery = bench.controller._recovery
    puts_off, take_in = recovery.puts_off, Stepper._take_in_losses
    asked: list[Cause] = []
    tokens: list[object] = []

    def count(cause: Cause) -> bool:
        asked.append(cause)
        assert len(asked) < MANY
        return puts_off(cause)

    def meanwhile(stepper: Stepper, session: SessionRecord, cause: Cause) -> None:
        take_in(stepper, session, cause)
        if session is idle._record and recovery.gives_up and not tokens:
            # An inference begins, and waits for the turn of its session.
            tokens.append(session.gate.token())
            on_a_thread(lambda: bench.infer(busy))()

    monkeypatch.setattr(recovery, "puts_off", count)
    monkeypatch.setattr(Stepper, "_take_in_losses", meanwhile)
    bench.simulated.fail_next(SYSTEM_COMMUNICATION, times=MOST_RESTARTS + 1)
    bench.infer(busy)
    assert (len(tokens), idle.state, bench.effective().core_target) == (1, State.RAISED, MAX_CORNER)


def _refused(session: Session, phase: str, raised: list[BaseException]) -> threading.Thread:
    """Return a thread that begins a phase, which must be refused, and notes with what."""

    def begin() -> None:
        try:
            with getattr(session, phase)():
                pytest.fail("the phase began")
        except SessionClosed as error:
            raised.append(error)

    return threading.Thread(target=begin)


def _begun(session: Session, count: int) -> bool:
    return session.in_flight + len(session._record.gate.tokens.preparing) == count


@pytest.mark.parametrize("phase", ["init", "inference", "deinit"])
def test_a_phase_that_waits_while_its_session_closes_does_not_begin(phase: str) -> None:
    """Its votes will never be in force: that is an error, as on a session that was closed before."""
    backend = HangingHtp()
    with VoteController(backend, handle_sigterm=False) as controller:
        session = controller.session("balanced")
        gate = session._record.gate
        (power_config_id,) = session.power_config_ids.values()
        hang = backend.hang_next("setPowerConfig", power_config_id)
        raised: list[BaseException] = []
        threads = [_refused(session, phase, raised) for _ in range(2)]
        for number, thread in enumerate(threads, start=1):
            thread.start()
            assert hang.begun.wait(WAIT_S)
            until(functools.partial(_begun, session, number))
        threads.append(threading.Thread(target=session.close))
        threads[-1].start()
        until(lambda: gate.closing)
        hang.let_go.set()
        for thread in threads:
            thread.join(WAIT_S)
        assert [str(error) for error in raised] == [f"{session!r} is closed: open a new session"] * 2
        assert session.in_flight == 0


@pytest.mark.parametrize("phase", ["init", "inference", "deinit"])
def test_a_phase_that_begins_while_its_session_closes_does_not_wait(phase: str) -> None:
    """The call that closing waits for may hang for ever, and its votes will never be in force."""
    backend = HangingHtp()
    with VoteController(backend, handle_sigterm=False) as controller:
        session = controller.session("balanced")
        with session.inference():
            pass
        hang = backend.hang_next("destroyPowerConfigId", next(iter(session.power_config_ids.values())))
        closing, raised = threading.Thread(target=session.close), list[BaseException]()
        closing.start()
        assert hang.begun.wait(WAIT_S)
        begins = _refused(session, phase, raised)
        begins.start()
        begins.join(WAIT_S)
        assert ["is closed: open a new session" in str(error) for error in raised] == [True]
        assert closing.is_alive()
        hang.let_go.set()
        closing.join(WAIT_S)
        assert session.in_flight == 0


def test_a_hold_on_a_session_that_is_being_closed_does_not_begin() -> None:
    """It would never end: nobody counts the holds of a session once they were ended for its closing."""
    backend = Meanwhile()
    with VoteController(backend, time=VirtualTime(), handle_sigterm=False) as controller:
        session = controller.session("burst")
        with session.inference():
            pass
        raised: list[BaseException] = []

        def hold() -> None:
            try:
                session.hold("balanced", reason="a test")
            except SessionClosed as error:
                raised.append(error)

        backend.then["set"] = hold
        session.close()
        assert len(raised) == 1
        assert session._record.holds == ()


def test_coroutines_that_wait_for_a_call_keep_no_alarm_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many wait for the session whose call hangs, another is lowered when its sustain is over."""
    monkeypatch.setattr(ThreadPool, "MOST_THREADS", 2)
    backend = HangingHtp()
    with VoteController(backend, handle_sigterm=False) as controller:
        hanging, other = controller.session("burst"), controller.session("burst")

        async def infer() -> None:
            async with hanging.ainference():
                pass

        async def scenario() -> None:
            with other.inference():
                hang = backend.hang_next("setPowerConfig", hanging.power_config_ids[0])
                tasks = [asyncio.create_task(infer()) for _ in range(4)]
                await gates.until(hang.begun.is_set)
            await gates.until(lambda: other.state is State.LOWERED)
            assert (hanging.in_flight, hang.ended.is_set()) == (len(tasks), False)
            hang.let_go.set()
            await asyncio.gather(*tasks)

        try:
            asyncio.run(scenario())
        finally:
            backend.let_go()


def test_a_phase_that_could_not_begin_leaves_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """With on_error="raise": the back-off raises for it while it fails; once it has failed, the votes come down."""
    bench = Bench.make(on_error="raise")
    session = bench.controller.session("balanced")
    drop = Gate.drop

    def meanwhile(gate: Gate, token: Any) -> None:
        bench.time.advance_us(SECOND_US)
        assert session.state is State.RAISED
        drop(gate, token)

    bench.simulated.fail_next(FAILED)
    with monkeypatch.context() as patched:
        patched.setattr(Gate, "drop", meanwhile)
        with pytest.raises(VoteRejected):
            session.inference().__enter__()
    assert (session.state, session.in_flight) == (State.LOWERED, 0)
    bench.controller.close()


def test_an_inference_that_is_about_to_wait_saves_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begun while the votes before it come down, it may be counted too early; nobody is told of less than one."""
    told: list[int] = []
    simulated, hang = Meanwhile(), Hang()
    wait = Phases.wait_for_votes

    def wait_late(phases: Phases, token: Any) -> None:
        monkeypatch.undo()
        hang()
        wait(phases, token)

    def infer() -> None:
        with session.inference():
            pass

    def begin() -> None:
        monkeypatch.setattr(Phases, "wait_for_votes", wait_late)
        other.start()
        until(hang.begun.is_set)

    bench = Bench.make(simulated)
    time = bench.time
    with bench.controller as controller:
        controller.subscribe(lambda event: told.append(getattr(event, "inferences", 0)), CallsSaved)
        session, other = controller.session("burst"), threading.Thread(target=infer)
        infer()
        simulated.then["set"] = begin
        time.advance_us(SECOND_US)
        hang.let_go.set()
        other.join(WAIT_S)
        time.advance_us(SECOND_US)
        for _ in range(4):
            infer()
        time.advance_us(SECOND_US)
        assert sum(told) == controller.status().sessions[0].calls_saved / 2 == 3
    assert min(told) > 0

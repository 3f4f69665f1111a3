"""Many threads on one controller: counts are right, votes come down, and a slow call of one session delays no other."""

from __future__ import annotations

import functools
import random
from typing import TYPE_CHECKING

from support.bench import MAX_CORNER
from support.hanging import WAIT_S, Hang, join, started

from htppower import State, VoteController
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.testing import VirtualTime
from htppower.votes.native_codes import FAILED

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower import Session

THREADS = 8
ROUNDS = 200
PROFILES = ("burst", "high_performance", "power_saver")


def _run(threads: int, work: Callable[[int], None]) -> None:
    """Run the work in threads, and raise their first error."""
    errors: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as error:  # noqa: BLE001 - handed to the test's own thread
            errors.append(error)

    join(*started(*(functools.partial(run, number) for number in range(threads))))
    assert errors == []


def test_overlapping_inferences_of_many_threads_add_up() -> None:
    """Every inference runs raised, and afterwards nothing is in flight or up."""
    simulated = SimulatedHtp(arch=75)
    time = VirtualTime()
    controller = VoteController(RecordingBackend(simulated), time=time, handle_sigterm=False)
    sessions = [controller.session(name) for name in PROFILES]
    raised: list[bool] = []

    def work(number: int) -> None:
        session = sessions[number % len(sessions)]
        for _ in range(ROUNDS):
            with session.inference():
                raised.append(session.state is State.RAISED)

    _run(THREADS, work)
    assert raised == [True] * THREADS * ROUNDS
    time.advance_us(300_000)
    assert {(session.in_flight, session.state) for session in sessions} == {(0, State.LOWERED)}
    controller.close()
    assert simulated.power_config_ids == ()
    assert simulated.effective().rpc_polling_time_us == 0


def test_threads_that_open_use_fail_and_close_leave_nothing_behind() -> None:
    """Sessions that are opened, changed, failed and closed from many threads leave no error, ID or polling."""
    simulated = SimulatedHtp(arch=75)
    time = VirtualTime()
    recorder = RecordingBackend(simulated, time=time)
    controller = VoteController(recorder, time=time, handle_sigterm=False)

    def work(number: int) -> None:
        chance = random.Random(number)
        for _ in range(ROUNDS // 4):
            with controller.session(chance.choice(PROFILES)) as session:
                if chance.random() < 0.2:
                    simulated.fail_next(FAILED)
                if chance.random() < 0.1:
                    simulated.restart_subsystem(forget_ids=True)
                with session.inference():
                    session.use(chance.choice(PROFILES))
                controller.status()

    def tick(_number: int) -> None:
        for _ in range(ROUNDS):
            time.advance_us(10_000)

    _run(THREADS, lambda number: work(number) if number else tick(number))
    simulated.clear_faults()
    time.advance_us(60_000_000)
    controller.close()
    assert simulated.power_config_ids == ()
    assert simulated.effective().rpc_polling_time_us == 0
    assert time.alarms == 0


def test_a_slow_call_of_one_session_holds_up_no_inference_in_anothers_window() -> None:
    """While a native call of one session hangs, inferences in another session's window go on."""
    hang = Hang()
    simulated = SimulatedHtp(arch=75, sleep=hang)
    controller = VoteController(RecordingBackend(simulated), time=VirtualTime(), handle_sigterm=False)
    fast, slow = controller.session("burst"), controller.session("burst")
    with fast.inference():
        pass
    simulated.delay_calls(1, "setPowerConfig")
    hanging = started(functools.partial(_infer, slow))
    assert hang.begun.wait(WAIT_S)
    clocks: list[int] = []

    def infer_in_window() -> None:
        for _ in range(100):
            with fast.inference():
                clocks.append(simulated.effective().core_target)

    join(*started(infer_in_window))
    assert clocks == [MAX_CORNER] * 100
    hang.let_go.set()
    join(*hanging)
    controller.close()


def test_an_inference_that_begins_while_votes_are_being_lowered_waits_and_is_raised() -> None:
    """An inference that begins after the decision to lower waits for that call, and is raised again."""
    hang = Hang()
    simulated = SimulatedHtp(arch=75, sleep=hang)
    time = VirtualTime()
    controller = VoteController(RecordingBackend(simulated), time=time, handle_sigterm=False)
    session = controller.session("burst")
    _infer(session)
    simulated.delay_calls(1, "setPowerConfig")
    lowering = started(functools.partial(time.advance_us, 300_000))
    assert hang.begun.wait(WAIT_S)
    clocks: list[int] = []

    def infer() -> None:
        with session.inference():
            clocks.append(simulated.effective().core_target)

    (beginning,) = started(infer)
    beginning.join(0.2)
    assert clocks == []
    hang.let_go.set()
    join(*lowering, beginning)
    assert clocks == [MAX_CORNER]
    controller.close()


def _infer(session: Session) -> None:
    with session.inference():
        pass

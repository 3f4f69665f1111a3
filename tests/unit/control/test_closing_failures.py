"""Calls that fail as a session or a controller is closed: they are made again, and what is left is brought down."""

from __future__ import annotations

import contextlib
import threading
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import attrs
import pytest
from hanging import WAIT_S, HangingHtp, until
from learning import relaxing

from htppower import CloseTimedOut, SessionClosed, State, VoteController, load_profile
from htppower.control.core.remains import Remains

if TYPE_CHECKING:
    from bench import Bench


@pytest.mark.parametrize("failures", [1, 2])
def test_a_setting_whose_giving_back_fails_is_given_back_later(bench: Bench, failures: int) -> None:
    """A power state that asks for no polling takes it back, also where the call that was to do so has failed before."""
    relax = load_profile("burst").relax
    assert relax is not None
    to, last = (
        attrs.evolve(state, votes=attrs.evolve(state.votes, rpc_polling_time_us=None))
        for state in (relax.to, relax.after_deinit_to)
    )
    session = bench.controller.session(relaxing(to=to, after_deinit_to=last))
    with session.deinit():
        assert bench.effective().rpc_polling_time_us == 9999
        bench.simulated.fail_next(13006, times=failures)
    session.close()
    assert bench.effective().rpc_polling_time_us == 0


@pytest.mark.parametrize("function", ["setPowerConfig", "destroyPowerConfigId"])
def test_a_controller_that_meets_a_restart_in_its_last_try_makes_it_again(bench: Bench, function: str) -> None:
    """Who answers 1007 is up again: what is left of a closed session is brought down, and the controller is closed."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.simulated.fail_next(13003, function, times=10)
    session.close()
    bench.simulated.clear_faults()
    bench.simulated.restart_subsystem()
    bench.controller.close()
    assert bench.recorder.calls[-1].code == 0
    assert bench.simulated.power_config_ids == ()
    calls = len(bench.recorder.calls)
    bench.controller.close()
    assert (bench.controller._ended, len(bench.recorder.calls)) == (True, calls)


def test_a_restart_in_the_last_try_is_heard_of_whatever_fails_after_it(bench: Bench) -> None:
    """The cast of the settings is answered with 1007, and the id with 13003: both are tried once more."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.simulated.fail_next(13003, times=10)
    bench.simulated.fail_next(13003, "destroyPowerConfigId", times=10)
    session.close()
    bench.simulated.clear_faults()
    bench.simulated.restart_subsystem()
    bench.simulated.fail_next(13003, "destroyPowerConfigId")
    bench.controller.close()
    assert bench.simulated.power_config_ids == ()
    assert bench.controller._ended


@pytest.mark.parametrize("destroys", [False, True])
def test_what_closing_a_controller_could_not_bring_down_the_back_off_does(bench: Bench, *, destroys: bool) -> None:
    """Nobody closes it again for as long as the process lives; once nothing is left, the controller has ended."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.simulated.fail_next(13003, times=6)
    if destroys:
        bench.simulated.fail_next(13003, "destroyPowerConfigId", times=3)
    bench.controller.close()
    assert (bench.controller._ended, bench.effective().rpc_polling_time_us) == (False, 9999)
    assert len(bench.controller.status().orphans) == destroys
    bench.time.advance_us(60_000_000)
    assert (bench.controller._ended, bench.effective().rpc_polling_time_us, bench.time.alarms) == (True, 0, 0)
    assert (bench.simulated.power_config_ids, bench.controller.status().orphans) == ((), ())


def test_a_timeout_of_another_kind_of_number_is_one(bench: Bench) -> None:
    """A lock takes no Decimal: such a close would fail when it had begun."""
    session, other = bench.controller.session("burst"), bench.controller.session("burst")
    session.close(Decimal(2))  # type: ignore[arg-type]
    assert session.state is State.DESTROYED
    bench.controller.close(Fraction(2))  # type: ignore[arg-type]
    assert (other.state, bench.controller._ended) == (State.DESTROYED, True)


def test_a_closed_controller_leaves_no_more_ids_behind_with_each_try(bench: Bench) -> None:
    """It makes one for itself to take polling back on, which can neither be used nor destroyed: it is used again."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.simulated.fail_next(13003, times=10_000)
    bench.simulated.fail_next(13003, "destroyPowerConfigId", times=10_000)
    bench.controller.close()
    bench.time.advance_us(60_000_000)
    left = bench.controller.status().orphans
    bench.time.advance_us(3_600_000_000)
    assert bench.controller.status().orphans == left
    assert len(left) == 2
    bench.simulated.clear_faults()
    bench.time.advance_us(10_000_000)
    assert (bench.controller._ended, bench.simulated.power_config_ids) == (True, ())


def test_a_backend_that_its_host_has_closed_is_called_no_more(bench: Bench) -> None:
    """It answers 14000 from then on, and may free what it calls into."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.simulated.fail_next(13003, times=10)
    bench.simulated.fail_next(13003, "destroyPowerConfigId", times=10)
    bench.controller.close()
    bench.simulated.clear_faults()
    for function in ("createPowerConfigId", "setPowerConfig", "destroyPowerConfigId"):
        bench.simulated.fail_next(14000, function, times=1_000)
    bench.time.advance_us(10_000_000)
    calls = len(bench.recorder.calls)
    bench.time.advance_us(3_600_000_000)
    assert (len(bench.recorder.calls), bench.time.alarms) == (calls, 0)
    bench.simulated.clear_faults()


def test_a_controller_whose_close_has_timed_out_ends_once_the_call_has_returned() -> None:
    """Nobody closes it again: its session is closed by the thread that had called, and the back-off does the rest."""
    backend = HangingHtp()
    controller = VoteController(backend, handle_sigterm=False)
    session = controller.session("balanced")
    hang = backend.hang_next("setPowerConfig", next(iter(session.power_config_ids.values())))

    def infer() -> None:
        with contextlib.suppress(SessionClosed):
            session.begin()

    infers = threading.Thread(target=infer)
    infers.start()
    assert hang.begun.wait(WAIT_S)
    with pytest.raises(CloseTimedOut):
        controller.close(timeout_s=0.01)
    hang.let_go.set()
    infers.join(WAIT_S)
    until(lambda: controller._ended)
    assert backend.power_config_ids == ()


def test_a_handler_that_closes_in_the_middle_of_the_end_ends_nothing_twice(bench: Bench) -> None:
    """Whoever it interrupts goes on: the backend is closed once, and the rest let go of in its order."""
    ends: list[str] = []

    def close_again() -> None:
        bench.controller.close()
        ends.append("ended" if bench.controller._ended else "goes on")

    bench.controller._companions.add(close_again, close_again)
    bench.controller.close()
    assert (ends, bench.controller._ended) == (["goes on"], True)


def test_a_close_that_gives_up_on_what_is_left_ends_the_controller_when_that_returns() -> None:
    """The call that it gave up on was the last thing to be done: nobody closes it again."""
    htp = HangingHtp()
    controller = VoteController(htp, handle_sigterm=False, heartbeat_us=0)
    session = controller.session("high_performance")
    (power_config_id,) = session.power_config_ids.values()
    htp.fail_next(13006, function="destroyPowerConfigId")
    session.close()
    hang = htp.hang_next("destroyPowerConfigId", power_config_id)
    with pytest.raises(CloseTimedOut):
        controller.close(timeout_s=0.3)
    assert hang.begun.wait(WAIT_S)
    hang.let_go.set()
    until(lambda: controller._ended)
    assert htp.power_config_ids == ()


def test_an_exception_in_the_last_step_of_a_close_leaves_the_back_off(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on to try, and ends the controller."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.simulated.fail_next(13006, function="destroyPowerConfigId", times=2)
    with monkeypatch.context() as patch:
        patch.setattr(Remains, "_leave", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            bench.controller.close()
    assert bench.controller.status().orphans
    bench.time.advance_us(10_000_000)
    assert bench.simulated.power_config_ids == ()
    assert bench.controller._ended


def _interrupted(_remains: Remains, *, alone: bool) -> bool:
    raise KeyboardInterrupt

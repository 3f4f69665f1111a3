"""Calls that fail while a session or a controller is closed: retries, orphans, and waits that never happen."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import attrs
import pytest
from support.bench import SVS, Bench
from support.hanging import WAIT_S, HangingHtp, join, started, until
from support.inside import companions_of, is_ended
from support.learning import relaxing

from htppower import SessionClosed, State, VoteController, load_profile
from htppower.backends import SimulatedHtp
from htppower.events import Event, ReleaseFailed, Transition
from htppower.testing import VirtualTime

SECOND_US = 1_000_000


def functions(bench: Bench) -> list[str]:
    """Return the functions of the calls so far, with the codes of failed calls."""
    return [f"{call.function} {call.code}".removesuffix(" 0") for call in bench.recorder.calls]


@pytest.mark.parametrize("failures", [1, 2])
def test_a_setting_is_given_back_also_after_lowerings_that_failed(bench: Bench, failures: int) -> None:
    """Closing resets polling even if the lowering before it has failed."""
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


def test_settings_are_given_back_also_by_a_session_that_is_closed_in_the_back_off(bench: Bench) -> None:
    """Closing makes no call during the back-off; the back-off resets polling on the id, and then destroys the id."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.simulated.fail_next(13006, times=3)
    session.use("power_saver")
    bench.infer(bench.controller.session("high_performance"))
    bench.recorder.clear()
    session.close()
    assert (bench.recorder.calls, bench.effective().rpc_polling_time_us) == ((), 9999)
    bench.time.advance_us(8 * SECOND_US)
    assert (bench.effective().rpc_polling_time_us, bench.simulated.power_config_ids) == (0, ())


def test_a_lowering_that_fails_is_tried_a_second_time(bench: Bench) -> None:
    """A failed lowering is tried twice; then the settings are reset, and the id is destroyed with its votes."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.recorder.clear()
    bench.simulated.fail_next(13006, times=2)
    session.close()
    assert functions(bench) == [*["setPowerConfig 13006"] * 2, "setPowerConfig", "destroyPowerConfigId"]
    assert (session.state, bench.simulated.power_config_ids) == (State.DESTROYED, ())


def test_a_restart_that_closing_meets_is_no_failure(bench: Bench) -> None:
    """If the lowering gets 1007, it is sent again, and the ID is destroyed."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.simulated.restart_subsystem()
    session.close()
    assert (session.state, bench.simulated.power_config_ids) == (State.DESTROYED, ())


def test_closing_on_a_rebuilt_link_destroys_the_id_at_once(bench: Bench) -> None:
    """If the host reported 1007 and no call was made since, closing destroys the ID and leaves no orphan."""
    session = bench.controller.session("burst")
    bench.controller.link_lost(1007)
    assert bench.controller.status().link == "LOST"
    session.close()
    assert (bench.controller.status().orphans, bench.simulated.power_config_ids) == ((), ())


@pytest.mark.parametrize("code", [13006, 13001])
def test_an_id_that_can_not_be_destroyed_is_destroyed_later(bench: Bench, code: int) -> None:
    """If a closed session's id can't be destroyed, status and an event name it until the back-off has destroyed it."""
    session = bench.controller.session("burst")
    with session.inference():
        bench.simulated.fail_next(code, "destroyPowerConfigId", times=2)
        session.close()
        assert bench.effective().core_target == SVS
    assert session.state is State.DESTROYED
    assert bench.controller.status().orphans == (1,)
    assert [event.power_config_id for event in bench.events if isinstance(event, ReleaseFailed)] == [1]
    bench.time.advance_us(3 * SECOND_US)
    assert (bench.controller.status().orphans, bench.simulated.power_config_ids) == ((), ())
    assert bench.time.alarms == 0


@pytest.mark.parametrize("failures", [1, 3])
def test_an_id_that_can_not_be_destroyed_keeps_no_controller_open(failures: int) -> None:
    """Closing the controller tries to destroy the id once more; an id that is left goes with the device."""
    bench = Bench.make()
    with bench.controller.session("burst").inference():
        pass
    bench.simulated.fail_next(13006, "destroyPowerConfigId", times=failures)
    bench.controller.close()
    assert is_ended(bench.controller)
    assert bench.simulated.power_config_ids == (() if failures == 1 else (1,))
    assert bench.time.alarms == 0


@pytest.mark.parametrize("held", [False, True])
def test_closing_on_a_dead_link_makes_no_call(held: bool) -> None:
    """A dead link has no votes and no IDs, so sessions and the controller are closed at once."""
    bench = Bench.make(SimulatedHtp(arch=75, link="device"))
    sessions = [bench.controller.session("burst") for _ in range(2)]
    bench.simulated.second_user = held
    bench.simulated.spoil_rebuild()
    bench.simulated.restart_subsystem(fatal=not held)
    bench.infer(sessions[0])
    bench.recorder.clear()
    sessions[0].close()
    bench.controller.close()
    assert (bench.recorder.calls, is_ended(bench.controller)) == ((), True)
    assert [session.state for session in sessions] == [State.DESTROYED] * 2


def test_a_backend_that_its_host_has_closed_is_called_no_more(bench: Bench) -> None:
    """A backend that its host has closed answers 14000: its ids are gone, so no call is retried."""
    session = bench.controller.session("burst")
    bench.infer(session)
    for function in ("createPowerConfigId", "setPowerConfig", "destroyPowerConfigId"):
        bench.simulated.fail_next(14000, function, times=1_000)
    bench.controller.close()
    calls = len(bench.recorder.calls)
    bench.time.advance_us(3600 * SECOND_US)
    assert (len(bench.recorder.calls), bench.time.alarms) == (calls, 0)
    bench.simulated.close()
    bench.simulated.clear_faults()


def test_a_timeout_of_another_kind_of_number_is_one(bench: Bench) -> None:
    """A Decimal is accepted as a timeout, although a lock does not accept one."""
    session, other = bench.controller.session("burst"), bench.controller.session("burst")
    session.close(Decimal(2))  # type: ignore[arg-type]
    assert session.state is State.DESTROYED
    bench.controller.close(Fraction(2))  # type: ignore[arg-type]
    assert (other.state, is_ended(bench.controller)) == (State.DESTROYED, True)


def test_a_session_that_opens_as_its_controller_is_closed_is_closed_with_it() -> None:
    """The close waits for the hanging create, and leaves neither a session nor an ID."""
    htp, refused = HangingHtp(), list[SessionClosed]()
    controller = VoteController(htp, time=VirtualTime(), handle_sigterm=False, heartbeat_us=0)
    hang = htp.hang_next("createPowerConfigId")

    def opens() -> None:
        try:
            controller.session("burst").begin()
        except SessionClosed as error:
            refused.append(error)

    threads = started(opens)
    assert hang.begun.wait(WAIT_S)
    threads += started(controller.close)
    until(lambda: ", closed" in repr(controller))
    hang.let_go.set()
    join(*threads)
    controller.close()
    assert (len(refused), htp.power_config_ids, is_ended(controller)) == (1, (), True)


def test_a_handler_that_closes_in_the_middle_of_the_end_ends_nothing_twice(bench: Bench) -> None:
    """If a signal handler closes in the middle of a close, the backend and each part are closed once, in order."""
    ends: list[str] = []

    def close_again() -> None:
        bench.controller.close()
        ends.append("ended" if is_ended(bench.controller) else "goes on")

    companions_of(bench.controller).add(close_again, close_again)
    bench.controller.close()
    assert (ends, is_ended(bench.controller)) == (["goes on"], True)


def test_a_subscriber_may_close_what_is_being_closed(bench: Bench) -> None:
    """A subscriber that closes the session or the controller during the close breaks nothing."""
    sessions = [bench.controller.session("burst") for _ in range(2)]

    def see(event: Event) -> None:
        if isinstance(event, Transition) and event.dest in (State.LOWERED, State.DESTROYED):
            sessions[0].close()
            bench.controller.close()

    for session in sessions:
        bench.infer(session)
    bench.controller.subscribe(see)
    sessions[0].close()
    assert {session.state for session in sessions} == {State.DESTROYED}
    bench.controller.close()
    assert bench.time.alarms == 0

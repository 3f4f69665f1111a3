"""Closing a controller while another thread closes it or opens a session, or from a signal handler."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import pytest
from support.hanging import WAIT_S, HangingHtp, join, on_a_thread, started
from support.inside import is_ended

from htppower import CloseTimedOut, State, VoteController
from htppower.backends import SimulatedHtp
from htppower.control.core.session_record import History
from htppower.events import CallMade, Transition
from htppower.testing import VirtualTime
from htppower.votes.native_codes import FAILED

if TYPE_CHECKING:
    from collections.abc import Callable

# Long enough for a close that does not wait.
MOMENT_S = 0.05


@pytest.mark.parametrize("closed", ["session", "controller"])
def test_a_close_ends_nothing_before_another_has_told_of_the_end(closed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the other close has not delivered its events yet, a close that can't wait raises CloseTimedOut."""
    controller = VoteController(SimulatedHtp(arch=75), time=VirtualTime(), handle_sigterm=False)
    told: list[Any] = []
    controller.subscribe(told.append, Transition)
    session = controller.session("burst")
    close = session.close if closed == "session" else controller.close
    left: list[tuple[int, ...]] = []
    moved: Any = History.moved

    def close_now() -> None:
        try:
            close(timeout_s=0)
        except CloseTimedOut as error:
            left.append(error.sessions)

    def meanwhile(history: History, source: State, dest: State, *rest: Any) -> int:
        if dest is State.DESTROYED:
            monkeypatch.undo()
            on_a_thread(close_now)()
        lasted_us: int = moved(history, source, dest, *rest)
        return lasted_us

    monkeypatch.setattr(History, "moved", meanwhile)
    controller.close()
    assert left == [(session.number,)]
    assert [event.dest for event in told] == [State.DESTROYED]
    assert not controller.status().sessions


@pytest.mark.parametrize("first", ["another close", "the back-off"])
def test_a_close_waits_for_an_id_that_is_being_destroyed(first: str) -> None:
    """A close waits for a destroy that runs, so no call follows the close of the backend, and each call is an event."""
    time, htp = VirtualTime(), HangingHtp()
    controller = VoteController(htp, time=time, handle_sigterm=False, heartbeat_us=0)
    told: list[Any] = []
    controller.subscribe(told.append, CallMade)
    session = controller.session("burst")
    (power_config_id,) = session.power_config_ids.values()
    htp.fail_next(FAILED, "destroyPowerConfigId")
    session.close()
    assert controller.status().orphans == (power_config_id,)
    told.clear()
    hang = htp.hang_next("destroyPowerConfigId", power_config_id)
    destroys: Callable[[], object] = controller.close
    if first == "the back-off":
        destroys = functools.partial(time.advance_us, 1_000_000)
    threads = started(destroys)
    assert hang.begun.wait(WAIT_S)
    threads += started(controller.close)
    threads[1].join(MOMENT_S)
    assert not is_ended(controller)
    hang.let_go.set()
    join(*threads)
    assert [event.function for event in told] == ["destroyPowerConfigId"]
    assert (is_ended(controller), htp.power_config_ids) == (True, ())


def test_a_signal_handler_that_closes_in_the_middle_of_a_close_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A close from a signal handler, within the call that destroys an ID, returns, and the first close continues."""
    htp = SimulatedHtp(arch=75)
    controller = VoteController(htp, time=VirtualTime(), handle_sigterm=False, heartbeat_us=0)
    session = controller.session("burst")
    ended, destroy = list[bool](), htp.destroy_power_config_id

    def interrupted(power_config_id: int) -> None:
        destroy(power_config_id)
        controller.close()
        ended.append(is_ended(controller))

    monkeypatch.setattr(htp, "destroy_power_config_id", interrupted)
    controller.close()
    assert (ended, is_ended(controller), session.state) == ([False], True, State.DESTROYED)
    assert htp.power_config_ids == ()

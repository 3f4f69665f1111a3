"""A controller that is closed while another thread, or what a signal handler interrupts, closes it or opens on it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from hanging import WAIT_S, HangingHtp, on_a_thread

from htppower import CloseTimedOut, SessionClosed, State, VoteController, VoteRejected
from htppower.backends import SimulatedHtp
from htppower.control.core.session_record import History
from htppower.events import CallMade, Transition
from htppower.testing import VirtualTime
from htppower.votes.native_codes import FAILED

if TYPE_CHECKING:
    from collections.abc import Callable

# Long enough for a close that waits for nobody.
MOMENT_S = 0.05


@pytest.mark.parametrize("closed", ["session", "controller"])
def test_a_close_ends_nothing_before_another_has_told_of_the_end(closed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ids are destroyed, but nobody was told of that yet. A close that can't wait for it says so."""
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
def test_a_close_waits_for_who_is_casting_settings_on_an_id_made_for_that(first: str) -> None:
    """It ends the delivery of events, and frees the backend: no call comes after that, and of each is told."""
    time, htp = VirtualTime(), HangingHtp()
    controller = VoteController(htp, time=time, handle_sigterm=False, heartbeat_us=0)
    told: list[Any] = []
    controller.subscribe(told.append, CallMade)
    session = controller.session("burst")
    with session.inference():
        pass
    htp.fail_next(FAILED, times=2)
    session.close()
    assert htp.power_config_ids == ()
    told.clear()
    hang = htp.hang_next("createPowerConfigId")
    casts: Callable[[], object] = controller.close if first == "another close" else lambda: time.advance_us(1_000_000)
    threads = [threading.Thread(target=action, daemon=True) for action in (casts, controller.close)]
    threads[0].start()
    assert hang.begun.wait(WAIT_S)
    threads[1].start()
    threads[1].join(MOMENT_S)
    assert not controller._ended
    hang.let_go.set()
    for thread in threads:
        thread.join(WAIT_S)
        assert not thread.is_alive()
    assert [event.function for event in told] == ["createPowerConfigId", "setPowerConfig", "destroyPowerConfigId"]
    assert (controller._ended, htp.power_config_ids) == (True, ())


@pytest.mark.parametrize("left", ["create_power_config_id", "destroy_power_config_id"])
def test_a_signal_handler_that_closes_in_the_middle_of_a_close_ends_nothing(
    monkeypatch: pytest.MonkeyPatch, left: str
) -> None:
    """It comes in a call for settings that are left, or an id that is: the close that it interrupts goes on."""
    htp = SimulatedHtp(arch=75)
    controller = VoteController(htp, time=VirtualTime(), handle_sigterm=False, heartbeat_us=0)
    told: list[Any] = []
    controller.subscribe(told.append, CallMade)
    session = controller.session("burst")
    with session.inference():
        pass
    with monkeypatch.context() as patched:
        if left == "create_power_config_id":
            htp.fail_next(FAILED, times=2)
        else:
            patched.setattr(htp, left, _failing)
        session.close()
    told.clear()
    made, ended, call = list[str](), list[bool](), getattr(htp, left)

    def again(*arguments: int) -> Any:
        made.append(left)
        return call(*arguments)

    def interrupted(*arguments: int) -> Any:
        answer = again(*arguments)
        monkeypatch.setattr(htp, left, again)
        controller.close()
        ended.append(controller._ended)
        return answer

    monkeypatch.setattr(htp, left, interrupted)
    controller.close()
    assert (made, ended, controller._ended) == ([left], [False], True)
    assert len(told) == (3 if left == "create_power_config_id" else 1)
    assert htp.power_config_ids == ()


def _failing(power_config_id: int) -> None:
    raise VoteRejected(FAILED, power_config_id=power_config_id, function="destroyPowerConfigId")


class _ClosedMeanwhile(SimulatedHtp):
    """Its controller is closed in the middle of a create; the first calls that destroy an id fail."""

    def __init__(self, *, failures: int) -> None:
        super().__init__(arch=75)
        self.meanwhile: Callable[[], object] = lambda: None
        self.failures = failures

    def create_power_config_id(self, device_id: int, core_id: int) -> int:
        """Create, and close the controller on another thread."""
        made = super().create_power_config_id(device_id, core_id)
        on_a_thread(self.meanwhile)()
        return made

    def destroy_power_config_id(self, power_config_id: int) -> None:
        """Destroy, or fail."""
        if self.failures:
            self.failures -= 1
            raise VoteRejected(FAILED, power_config_id=power_config_id, function="destroyPowerConfigId")
        super().destroy_power_config_id(power_config_id)


@pytest.mark.parametrize(("failures", "left"), [(2, 0), (3, 1)])
def test_an_id_of_a_session_that_came_too_late_is_destroyed_at_the_third_try(failures: int, left: int) -> None:
    """No back-off follows where the controller is closed; what fails three times is left, as status says."""
    htp = _ClosedMeanwhile(failures=failures)
    controller = VoteController(htp, time=VirtualTime(), handle_sigterm=False)
    htp.meanwhile = controller.close
    with pytest.raises(SessionClosed):
        controller.session("burst")
    assert len(htp.power_config_ids) == left
    assert len(controller.status().orphans) == left

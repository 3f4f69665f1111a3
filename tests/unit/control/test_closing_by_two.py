"""A controller that is closed while another thread closes it too, or while a session opens on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hanging import on_a_thread

from htppower import SessionClosed, State, VoteController, VoteRejected
from htppower.backends import SimulatedHtp
from htppower.control.session_record import History
from htppower.events import Transition
from htppower.testing import VirtualTime
from htppower.votes.native_codes import FAILED

if TYPE_CHECKING:
    from collections.abc import Callable


def test_no_event_of_a_close_is_lost_to_a_second_close(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that finds the ids destroyed ends nothing before the other has told of that."""
    controller = VoteController(SimulatedHtp(arch=75), time=VirtualTime(), handle_sigterm=False)
    told: list[Any] = []
    controller.subscribe(told.append, Transition)
    controller.session("burst")
    moved: Any = History.moved

    def meanwhile(history: History, source: State, dest: State, *rest: Any) -> int:
        if dest is State.DESTROYED:
            monkeypatch.undo()
            on_a_thread(lambda: controller.close(timeout_s=0))()
        lasted_us: int = moved(history, source, dest, *rest)
        return lasted_us

    monkeypatch.setattr(History, "moved", meanwhile)
    controller.close()
    assert [event.dest for event in told] == [State.DESTROYED]
    assert not controller.status().sessions


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


@pytest.mark.parametrize(("failures", "left"), [(1, 0), (2, 1)])
def test_an_id_of_a_session_that_came_too_late_is_destroyed_at_the_second_try(failures: int, left: int) -> None:
    """No back-off follows where the controller is closed; what fails twice is left, as status says."""
    htp = _ClosedMeanwhile(failures=failures)
    controller = VoteController(htp, time=VirtualTime(), handle_sigterm=False)
    htp.meanwhile = controller.close
    with pytest.raises(SessionClosed):
        controller.session("burst")
    assert len(htp.power_config_ids) == left
    assert len(controller.status().orphans) == left

"""Power config ids of which the number is given again while another call is under way that concerns it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from bench import MAX_CORNER
from hanging import WAIT_S, HangingHtp, on_a_thread, until

from htppower import SessionClosed, State, VoteController
from htppower.control.core.ledger import Ledger
from htppower.control.core.power_config_ids import PowerConfigIds
from htppower.control.core.process_settings import ProcessSettings
from htppower.control.core.shared_backend import GivenId
from htppower.votes.native_codes import FAILED, SYSTEM_COMMUNICATION

if TYPE_CHECKING:
    from collections.abc import Callable

    from hanging import Hang

    from htppower import Session


def nothing() -> None:
    """Do nothing."""


class LowestFree(HangingHtp):
    """Gives the lowest free id, as a library may; other threads may run once before a create or a destroy returns."""

    def __init__(self) -> None:
        super().__init__()
        self.created: Callable[[], object] = nothing
        self.destroys: Callable[[], object] = nothing

    def native_create(self, device_id: int, core_id: int) -> tuple[int, int]:
        """Create, and let others go on."""
        with self._lock:
            self._next_id = next(each for each in range(1, 1000) if each not in self._clients)
            answer = super().native_create(device_id, core_id)
        created, self.created = self.created, nothing
        created()
        return answer

    def native_destroy(self, power_config_id: int) -> int:
        """Let others go on, and fail once where they have done anything."""
        destroys, self.destroys = self.destroys, nothing
        destroys()
        return super().native_destroy(power_config_id) if destroys is nothing else FAILED

    def forget(self) -> None:
        """Restart, and forget all ids; no call is told of that."""
        self.restart_subsystem(forget_ids=True)
        self._restarted = False


def controller_on(htp: LowestFree) -> VoteController:
    """Return a controller without a heartbeat."""
    return VoteController(htp, handle_sigterm=False, heartbeat_us=0)


def test_an_id_that_a_closed_controller_must_not_use_is_destroyed_at_once() -> None:
    """A session does not open as its controller was closed: its number is by now that of a session of another's."""
    htp = LowestFree()
    closing, other = controller_on(htp), controller_on(htp)
    closing.session("burst")
    htp.forget()
    others: list[Session] = []

    def meanwhile() -> None:
        # It destroys its old id, and with it the one that was just given.
        closing.close()
        others.append(other.session("balanced"))

    htp.created = on_a_thread(meanwhile)
    with pytest.raises(SessionClosed):
        closing.session("burst")
    assert closing.status().orphans == ()
    with others[0].inference():
        assert set(htp.power_config_ids) == set(others[0].power_config_ids.values())
    other.close()
    assert htp.power_config_ids == ()


def test_sessions_do_not_wait_for_the_one_that_has_found_a_number_given_twice() -> None:
    """It creates another id, which hangs; the session in use whose number it was given is voted again meanwhile."""
    htp = LowestFree()
    with controller_on(htp) as controller:
        session = controller.session("burst")
        # Nor for the back-off.
        controller._recovery.stop()
        with session.inference():
            htp.forget()
            hangs: list[Hang] = []
            htp.created = lambda: hangs.append(htp.hang_next("createPowerConfigId"))
            opening = threading.Thread(target=controller.session, args=("balanced",))
            opening.start()
            until(lambda: hangs and hangs[0].begun.is_set())
            until(lambda: session.state is State.RAISED and htp.effective().core_target == MAX_CORNER)
            assert opening.is_alive()
            hangs[0].let_go.set()
            opening.join(WAIT_S)


def test_an_id_that_can_not_be_destroyed_is_anothers_once_its_number_is_given() -> None:
    """The library had forgotten it, and gives its number while it fails to destroy it: no call is made on it then."""
    htp = LowestFree()
    with controller_on(htp) as controller:
        old = controller.session("balanced")
        htp.forget()
        others: list[Session] = []

        def meanwhile() -> None:
            others.append(controller.session("burst"))
            others[0].inference().__enter__()

        htp.destroys = on_a_thread(meanwhile)
        old.close()
        assert controller.status().orphans == ()
        assert htp.power_config_ids == (1,)
        assert htp.effective().core_target == MAX_CORNER


def test_an_id_that_an_old_one_has_taken_with_it_is_not_used() -> None:
    """A session is closed whose old number was just given to one that opens: that one is given another."""
    htp = LowestFree()
    with controller_on(htp) as controller:
        old = controller.session("burst")
        htp.forget()
        controller.link_lost(SYSTEM_COMMUNICATION)
        htp.created = on_a_thread(old.close)
        session = controller.session("burst")
        assert set(session.power_config_ids.values()) <= set(htp.power_config_ids)
        with session.inference():
            assert htp.effective().core_target == MAX_CORNER
        (status,) = controller.status().sessions
        assert status.last_error is None


def test_an_id_for_the_settings_is_destroyed_though_another_orphan_of_its_number_is_left_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who leaves that orphan comes between the two steps in which the controller notes the id as its own."""
    htp = LowestFree()
    with controller_on(htp) as controller:
        ids, take = controller._opener._ids, PowerConfigIds._take

        def meanwhile(ids: PowerConfigIds, made: Ledger, ends: int, *, orphan: bool) -> bool:
            monkeypatch.undo()
            left = Ledger(power_config_id=made.power_config_id)
            ids._shared.given[made.power_config_id] = GivenId(left, ids._shared.losses)
            controller._registry.orphans[made.power_config_id] = left
            return take(ids, made, ends, orphan=orphan)

        monkeypatch.setattr(PowerConfigIds, "_take", meanwhile)
        ids.use_a_new_one(lambda _: None, alone=False)
    assert htp.power_config_ids == ()


def test_sessions_do_not_wait_for_one_that_closes_and_is_told_of_a_dead_dsp() -> None:
    """It goes on with its next call, which hangs; the others are known not to have their votes meanwhile."""
    htp = LowestFree()
    with controller_on(htp) as controller:
        closing, session = controller.session("burst"), controller.session("burst")
        closing.inference().__enter__()
        hang = htp.hang_next("destroyPowerConfigId", 1)
        # Nor is the back-off needed.
        controller._recovery.stop()
        with session.inference():
            htp.restart_subsystem(fatal=True)
            closer = threading.Thread(target=closing.close)
            closer.start()
            assert hang.begun.wait(WAIT_S)
            until(lambda: session.state is State.UNKNOWN)
            assert closer.is_alive()
            hang.let_go.set()
            closer.join(WAIT_S)
        controller._recovery.resume()
        htp.restart_subsystem()


def test_what_is_lost_of_the_process_is_known_before_the_sessions_are_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that takes the loss in at once sends its votes with the settings."""
    htp = LowestFree()
    epochs: list[int] = []
    with controller_on(htp) as controller:
        lose = ProcessSettings.lose

        def noted(settings: ProcessSettings) -> None:
            epochs.append(controller._registry.epoch)
            lose(settings)

        monkeypatch.setattr(ProcessSettings, "lose", noted)
        with controller.session("burst").inference():
            controller.link_lost(SYSTEM_COMMUNICATION)
            until(lambda: controller._registry.epoch == 1)
    assert epochs[0] == 0

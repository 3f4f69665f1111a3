"""Power config ids of which the number is given again while another call is under way that concerns it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from bench import MAX_CORNER
from hanging import WAIT_S, HangingHtp, on_a_thread, until

from htppower import SessionClosed, State, VoteController
from htppower.control.core.given_ids import GivenIds
from htppower.control.core.power_config_ids import PowerConfigIds
from htppower.control.core.process_settings import ProcessSettings
from htppower.control.core.recovery import Recovery
from htppower.control.opener import Opener
from htppower.votes.native_codes import FAILED, SYSTEM_COMMUNICATION

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower import Session, VoteRejected
    from htppower.control.core.ledger import Ledger
    from htppower.control.core.session_record import SessionRecord


def nothing() -> None:
    """Do nothing."""


def nothing_on(_power_config_id: int) -> None:
    """Do nothing with an id."""


class LowestFree(HangingHtp):
    """Gives the lowest free id, as a library may; other threads may run once before a create or a destroy returns."""

    def __init__(self) -> None:
        super().__init__()
        self.created: Callable[[], object] = nothing
        self.destroys: Callable[[], object] = nothing
        # The thread whose next create hangs.
        self.held = 0
        self.is_held, self.go_on = threading.Event(), threading.Event()

    def native_create(self, device_id: int, core_id: int) -> tuple[int, int]:
        """Create, and let others go on."""
        if self.held == threading.get_ident():
            self.is_held.set()
            self.go_on.wait(WAIT_S)
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

    def hold_thread(self) -> None:
        """Let the next create of this thread hang."""
        self.held = threading.get_ident()

    def forget(self) -> None:
        """Restart, and forget all ids; no call is told of that."""
        self.restart_subsystem(forget_ids=True)
        self._restarted = False


def controller_on(htp: LowestFree) -> VoteController:
    """Return a controller without a heartbeat."""
    return VoteController(htp, handle_sigterm=False, heartbeat_us=0)


def leave_an_orphan(controller: VoteController, htp: LowestFree) -> None:
    """Close a session whose id, the first, can't be destroyed."""
    session = controller.session("balanced")
    htp.fail_next(FAILED, function="destroyPowerConfigId")
    session.close()
    assert controller.status().orphans == (1,)


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
            htp.created = htp.hold_thread
            opening = threading.Thread(target=controller.session, args=("balanced",))
            opening.start()
            assert htp.is_held.wait(WAIT_S)
            until(lambda: session.state is State.RAISED and htp.effective().core_target == MAX_CORNER)
            assert opening.is_alive()
            htp.go_on.set()
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


def test_an_id_for_the_settings_is_destroyed_though_its_number_is_given_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is left is used again just as a session that opens is given its number, and leaves that to the back-off."""
    htp = LowestFree()
    controller = controller_on(htp)
    controller._recovery.stop()
    remains, left_on = controller._closer._remains, PowerConfigIds._left_on
    htp.fail_next(FAILED, function="destroyPowerConfigId")
    with remains._lock:
        controller._opener._ids.use_a_new_one(nothing_on, alone=True)
        assert controller.status().orphans == (1,)

        def meanwhile(ids: PowerConfigIds, core: tuple[int, int]) -> Ledger | None:
            monkeypatch.undo()
            left = left_on(ids, core)
            htp.forget()
            on_a_thread(lambda: controller.session("burst"))()
            return left

        monkeypatch.setattr(PowerConfigIds, "_left_on", meanwhile)
        controller._opener._ids.use_a_new_one(nothing_on, alone=True)
        assert controller.status().orphans == (1,)
    controller.close()
    assert htp.power_config_ids == ()


def test_a_number_is_anothers_where_the_one_before_was_given_before_the_loss() -> None:
    """The loss is told while the create that gave that one is on its way back: its number is free, and given again."""
    htp = LowestFree()
    with controller_on(htp) as controller:
        running = controller.session("burst")
        with running.inference():

            def restart() -> None:
                htp.forget()
                controller.link_lost(SYSTEM_COMMUNICATION)
                until(lambda: running.state is State.RAISED and htp.power_config_ids == (1,))

            htp.created = on_a_thread(restart)
            forgotten = controller.session("balanced")
            assert htp.power_config_ids == (1,)
            given: list[Session] = []
            htp.destroys = on_a_thread(lambda: given.append(controller.session("balanced")))
            forgotten.close()
            with given[0].inference():
                until(lambda: given[0].state is State.RAISED)


def test_a_late_call_is_noted_though_nobody_is_known_yet_to_have_its_number() -> None:
    """It puts its votes on the id of a session that just opens; nothing of them stays there."""
    htp = LowestFree()
    with controller_on(htp) as controller:
        late = controller.session("burst")
        hang = htp.hang_next("setPowerConfig", 1)
        inference = late.inference()
        thread = threading.Thread(target=inference.__enter__)
        thread.start()
        assert hang.begun.wait(WAIT_S)
        htp.forget()
        controller.link_lost(SYSTEM_COMMUNICATION)
        assert controller.session("balanced").power_config_ids == {0: 2}
        controller._closer._remains.destroy_orphans()
        assert htp.power_config_ids == (2,)

        def returns() -> None:
            hang.let_go.set()
            until(lambda: late.state is State.RAISED and late.power_config_ids not in ({}, {0: 1}))

        htp.created = returns
        controller.session("balanced")
        thread.join(WAIT_S)
        inference.__exit__(None, None, None)
        late.close()
        controller._closer._remains.destroy_orphans()
        until(lambda: htp.effective().core_target < MAX_CORNER and not controller.status().orphans)


def test_a_session_of_the_new_epoch_has_no_id_of_before_the_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    """It opens while a loss is just taken in, and is given the number of one that is being destroyed."""
    htp = LowestFree()
    with controller_on(htp) as controller:
        running, old = controller.session("burst"), controller.session("balanced")
        with running.inference():
            hang = htp.hang_next("destroyPowerConfigId", 2)
            closing = threading.Thread(target=old.close)
            closing.start()
            assert hang.begun.wait(WAIT_S)
            htp.forget()
            # Number 1 is somebody else's.
            on_a_thread(lambda: htp.native_create(0, 0))()
            opened: list[Session] = []
            link_lost, create_ids = Recovery.link_lost, Opener._create_ids
            opens, goes_on = threading.Event(), threading.Event()

            def looks_late(opener: Opener, session: SessionRecord) -> VoteRejected | None:
                opens.set()
                goes_on.wait(WAIT_S)
                return create_ids(opener, session)

            def takes_in(recovery: Recovery, error: VoteRejected, **how: Any) -> bool:
                is_news = link_lost(recovery, error, **how)
                created = threading.Event()
                htp.created = created.set
                goes_on.set()
                assert created.wait(WAIT_S)
                return is_news

            monkeypatch.setattr(Opener, "_create_ids", looks_late)
            monkeypatch.setattr(Recovery, "link_lost", takes_in)
            threading.Thread(target=lambda: opened.append(controller.session("balanced"))).start()
            assert opens.wait(WAIT_S)
            controller.link_lost(SYSTEM_COMMUNICATION)
            monkeypatch.undo()
            hang.let_go.set()
            closing.join(WAIT_S)
            until(lambda: bool(opened))
            with opened[0].inference():
                until(lambda: opened[0].state is State.RAISED)


def test_an_interrupted_destroy_reaches_no_id_of_another() -> None:
    """The number was freed, and given to a session of another controller: the back-off does not destroy that."""
    htp = LowestFree()
    with controller_on(htp) as controller, controller_on(htp) as other:
        leave_an_orphan(controller, htp)
        destroy, destroyed = controller._calls.destroy, []

        def interrupted(session: SessionRecord | None, power_config_id: int) -> None:
            destroyed.append(power_config_id)
            destroy(session, power_config_id)
            raise KeyboardInterrupt

        with mock.patch.object(type(controller._calls), "destroy", staticmethod(interrupted)):
            with pytest.raises(KeyboardInterrupt):
                controller._closer._remains.destroy_orphans()
            with other.session("burst").inference():
                assert htp.power_config_ids == (1,)
                controller._closer._remains.destroy_orphans()
                assert (htp.power_config_ids, destroyed) == ((1,), [1])
                assert controller.status().orphans == ()


def test_the_orphans_of_one_controller_are_none_once_another_is_given_their_numbers() -> None:
    """Its status does not show them any more."""
    htp = LowestFree()
    with controller_on(htp) as controller, controller_on(htp) as other:
        leave_an_orphan(controller, htp)
        htp.forget()
        other.session("balanced")
        assert controller.status().orphans == ()


def test_an_id_that_is_borrowed_meanwhile_is_not_destroyed() -> None:
    """Who destroys what is left has just looked whether it is borrowed, as the library gives its number again."""
    htp = LowestFree()
    controller = controller_on(htp)
    controller._recovery.stop()
    leave_an_orphan(controller, htp)
    (orphan,) = controller._registry.all_orphans()
    htp.forget()
    seen: list[bool] = []

    def use(power_config_id: int) -> None:
        on_a_thread(lambda: controller._opener._ids._destroy_orphan(orphan))()
        seen.append(power_config_id in htp.power_config_ids)

    controller._opener._ids.use_a_new_one(use, alone=False)
    assert seen == [True]
    controller.close()


def test_an_interrupt_while_ids_cross_leaves_nobody_without_votes(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes once a number was taken away from its owner, and before that is told."""
    htp = LowestFree()
    with controller_on(htp) as controller:
        session = controller.session("burst")
        with session.inference():
            take_away = GivenIds.take_away

            def interrupted(given: GivenIds, number: int, orphan: Ledger, orphans: dict[Ledger, None]) -> None:
                take_away(given, number, orphan, orphans)
                raise KeyboardInterrupt

            monkeypatch.setattr(GivenIds, "take_away", interrupted)
            with pytest.raises(KeyboardInterrupt):
                controller._opener._ids.crossed(1)
            monkeypatch.undo()
            until(lambda: session.state is State.RAISED and session.power_config_ids)
            assert htp.effective().core_target == MAX_CORNER


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

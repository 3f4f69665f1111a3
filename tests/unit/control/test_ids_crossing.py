"""Power config ids of which the number is given again while another call is under way that concerns it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from bench import MAX_CORNER
from hanging import WAIT_S, on_a_thread, until
from lowest_free import LowestFree, controller_on

from htppower import State, VoteController
from htppower.control.core.executor import Executor
from htppower.control.core.process_settings import ProcessSettings
from htppower.control.core.recovery import Recovery
from htppower.control.opener import Opener
from htppower.votes.native_codes import SYSTEM_COMMUNICATION

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower import Session, VoteRejected
    from htppower.control.core.session_record import SessionRecord


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
            htp.destroys, htp.fails = on_a_thread(lambda: given.append(controller.session("balanced"))), 1
            forgotten.close()
            with given[0].inference():
                until(lambda: given[0].state is State.RAISED)


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


def test_a_session_that_opens_alone_hears_of_a_loss_that_the_host_tells() -> None:
    """Its id was created, and is forgotten; nobody else has a session yet."""
    htp = LowestFree()
    with controller_on(htp) as controller:

        def restart() -> None:
            htp.forget()
            controller.link_lost(SYSTEM_COMMUNICATION)

        htp.created = on_a_thread(restart)
        with controller.session("burst").inference():
            assert htp.effective().core_target == MAX_CORNER


def loses_the_link(controller: VoteController) -> None:
    """Tell a controller of a restart."""
    controller.link_lost(SYSTEM_COMMUNICATION)


def is_interrupted(controller: VoteController) -> None:
    """Let Ctrl-C come as a native call returns."""
    controller._calls._shared.given.lost()
    controller._calls._interrupted()


@pytest.mark.parametrize("loss", [loses_the_link, is_interrupted])
def test_sessions_that_open_and_close_at_once_have_nobody_voted_again(loss: Callable[[VoteController], None]) -> None:
    """After a loss in which no id was forgotten a number may be free or not: nobody's votes are lost by that."""
    htp = LowestFree()
    with controller_on(htp) as controller:
        running, old = controller.session("burst"), [controller.session("balanced") for _ in range(3)]
        opened: list[Session] = []
        opens = on_a_thread(lambda: opened.append(controller.session("balanced")))
        with running.inference():
            loss(controller)
            until(lambda: controller._recovery.calm)
            for session in old * 2:
                htp.destroyed = opens
                session.close()
                htp.destroyed = opens
                opened.pop().close()
                controller._closer._remains.destroy_orphans()
                assert controller._registry.epoch == 1
            assert running.power_config_ids == {0: 1}


def test_no_call_is_made_up_for_a_session_whose_number_was_just_given_to_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The host is told of no failure: the session votes on another id."""
    htp = LowestFree()
    with VoteController(htp, handle_sigterm=False, heartbeat_us=0, on_error="raise") as controller:
        session = controller.session("burst")
        htp.forget()
        ids = controller._opener._ids
        told, tells, go_on = ids._ids_crossed, threading.Event(), threading.Event()

        def tell_late() -> None:
            tells.set()
            assert go_on.wait(WAIT_S)
            told()

        send = Executor._send
        opening = threading.Thread(target=controller.session, args=("balanced",))

        def send_late(executor: Executor, session: SessionRecord, *what: Any, **how: Any) -> None:
            if not tells.is_set():
                opening.start()
                assert tells.wait(WAIT_S)
            send(executor, session, *what, **how)

        monkeypatch.setattr(ids, "_ids_crossed", tell_late)
        monkeypatch.setattr(Executor, "_send", send_late)
        with session.inference():
            assert (session.state, htp.effective().core_target) == (State.RAISED, MAX_CORNER)
            go_on.set()
            opening.join(WAIT_S)


def test_the_heartbeat_makes_no_call_up_for_a_session_whose_number_was_just_given_to_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It has not failed: the session hears of it by whoever was given the number."""
    htp = LowestFree()
    with controller_on(htp) as controller:
        session, ids = controller.session("burst"), controller._opener._ids
        told, found = ids._ids_crossed, []

        def tell_late() -> None:
            assert not session.power_config_ids
            found.append(controller._opener._executor.cast_again(session._record))
            told()

        with session.inference():
            htp.forget()
            monkeypatch.setattr(ids, "_ids_crossed", tell_late)
            controller.session("balanced")
            assert found == [None]
            until(lambda: session.state is State.RAISED and htp.effective().core_target == MAX_CORNER)

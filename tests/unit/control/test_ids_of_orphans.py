"""Power config ids that no session has any more, and whose numbers are given again meanwhile."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from bench import MAX_CORNER
from hanging import WAIT_S, on_a_thread, until
from lowest_free import LowestFree, controller_on, leave_an_orphan, lose_and_free

from htppower import SessionClosed, State
from htppower.votes.native_codes import FAILED

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower import Session
    from htppower.control.core.ledger import Ledger


def nothing_on(_power_config_id: int) -> None:
    """Do nothing with an id."""


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

        htp.destroys, htp.fails = on_a_thread(meanwhile), 1
        old.close()
        assert controller.status().orphans == ()
        assert htp.power_config_ids == (1,)
        assert htp.effective().core_target == MAX_CORNER


class Meanwhile(dict[tuple[int, int], "Ledger"]):
    """What a controller has made for itself; something comes between once it was looked up and before it is used."""

    def __init__(self, left: dict[tuple[int, int], Ledger], comes: Callable[[], None]) -> None:
        super().__init__(left)
        self._comes = comes

    def get(self, core: tuple[int, int], default: Any = None) -> Any:
        """Look up."""
        found = super().get(core, default)
        self._comes()
        return found


def test_an_id_for_the_settings_is_destroyed_though_its_number_is_given_meanwhile() -> None:
    """What is left is used again just as a session that opens is given its number, and leaves that to the back-off."""
    htp = LowestFree()
    controller = controller_on(htp)
    controller._recovery.stop()
    registry, remains = controller._registry, controller._closer._remains
    htp.fail_next(FAILED, function="destroyPowerConfigId")
    with remains._lock:
        controller._opener._ids.use_a_new_one(nothing_on, alone=True)
        assert controller.status().orphans == (1,)

        def meanwhile() -> None:
            registry.left = dict(registry.left)
            htp.forget()
            on_a_thread(lambda: controller.session("burst"))()

        registry.left = Meanwhile(registry.left, meanwhile)
        controller._opener._ids.use_a_new_one(nothing_on, alone=True)
        assert controller.status().orphans == (1,)
    controller.close()
    assert htp.power_config_ids == ()


def test_an_interrupted_destroy_reaches_no_id_of_another() -> None:
    """The number was freed, and is given as it is destroyed again: a session of another controller votes on another."""
    htp = LowestFree()
    with controller_on(htp) as controller, controller_on(htp) as other:
        controller._recovery.stop()
        leave_an_orphan(controller, htp)

        def interrupted() -> None:
            raise KeyboardInterrupt

        htp.destroyed = interrupted
        with pytest.raises(KeyboardInterrupt):
            controller._closer._remains.destroy_orphans()
        assert (controller.status().orphans, htp.power_config_ids) == ((1,), ())
        given: list[Session] = []
        htp.destroys = on_a_thread(lambda: given.append(other.session("burst")))
        controller._closer._remains.destroy_orphans()
        with given[0].inference():
            assert set(given[0].power_config_ids.values()) <= set(htp.power_config_ids)
            assert htp.effective().core_target == MAX_CORNER
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


def test_an_id_that_a_closed_controller_is_given_is_tried_again_at_once() -> None:
    """It was given it while its number was another's: no back-off follows, so that it is tried a second time."""
    htp = LowestFree()
    closing, other = controller_on(htp), controller_on(htp)
    closing.session("burst")
    htp.forget()

    def meanwhile() -> None:
        closing.close()
        other.session("burst")
        # The first of that which it was given at last.
        htp.fails = 2

    htp.created = on_a_thread(meanwhile)
    with pytest.raises(SessionClosed):
        closing.session("burst")
    assert (closing.status().orphans, htp.fails) == ((), 0)
    other.close()
    assert htp.power_config_ids == ()


def test_a_destroy_that_was_carried_out_though_it_failed_reaches_no_id_of_another() -> None:
    """It is made again just as a session is given its number: that one votes on another."""
    htp = LowestFree()
    with controller_on(htp) as controller, controller_on(htp) as other:
        controller._recovery.stop()
        session = controller.session("balanced")
        htp.fails, htp.carried_out = 1, True
        session.close()
        assert (controller.status().orphans, htp.power_config_ids) == ((1,), ())
        given: list[Session] = []

        def meanwhile() -> None:
            given.append(other.session("burst"))
            given[0].inference().__enter__()

        htp.destroys = on_a_thread(meanwhile)
        controller._closer._remains.destroy_orphans()
        assert given[0].state is State.RAISED
        assert set(given[0].power_config_ids.values()) <= set(htp.power_config_ids)
        assert htp.effective().core_target == MAX_CORNER


def test_whoever_has_the_number_when_votes_are_removed_late_is_voted_again() -> None:
    """An id could not be destroyed, and the call that removes its votes instead hangs until the number is another's."""
    htp = LowestFree()
    with controller_on(htp) as controller:
        old = controller.session("balanced")
        hang = htp.hang_next("setPowerConfig", 1)
        htp.fails = 1
        closing = threading.Thread(target=old.close)
        closing.start()
        assert hang.begun.wait(WAIT_S)
        lose_and_free(htp, controller, 1)
        session = controller.session("burst")
        assert session.power_config_ids == {0: 1}
        with session.inference():
            hang.let_go.set()
            closing.join(WAIT_S)
            until(lambda: session.power_config_ids == {0: 3} and session.state is State.RAISED)
            assert htp.effective().core_target == MAX_CORNER


def test_nobody_is_voted_again_where_a_number_whose_destroy_has_failed_is_given_again() -> None:
    """Each destroy of a library fails, though it is carried out."""
    htp = LowestFree()
    with controller_on(htp) as controller:
        controller._recovery.stop()
        running = controller.session("burst")
        with running.inference():
            htp.fails, htp.carried_out = 5, True
            for _ in range(5):
                controller.session("balanced").close()
            assert not htp.fails
            assert (controller._registry.epoch, running.power_config_ids) == (0, {0: 1})


def test_settings_are_sent_where_the_number_of_their_id_is_given_to_another() -> None:
    """On which id they are sent makes no difference: the host is told of no failure."""
    htp = LowestFree()
    with controller_on(htp) as controller:
        numbers: list[int] = []

        def meanwhile() -> None:
            htp.forget()
            controller.session("balanced")

        class Left(dict[tuple[int, int], "Ledger"]):
            """What a controller has made for itself; something comes between once that is noted."""

            def __setitem__(self, core: tuple[int, int], made: Ledger) -> None:
                super().__setitem__(core, made)
                on_a_thread(meanwhile)()

        controller._registry.left = Left()
        with controller._closer._remains._lock:
            controller._opener._ids.use_a_new_one(numbers.append, alone=True)
        assert numbers == [1]

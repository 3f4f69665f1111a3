"""Power config ids that votes reach which were meant for whoever had the number before."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from bench import MAX_CORNER
from hanging import on_a_thread, until
from interrupting import interrupt_in
from lowest_free import LateVotes, LowestFree, controller_on, nobodys

from htppower import State
from htppower.control.core.given_ids import GivenIds
from htppower.control.core.power_config_ids import PowerConfigIds
from htppower.control.core.session_record import SessionRecord

if TYPE_CHECKING:
    from htppower.control.core.given_ids import Counts
    from htppower.control.core.ledger import Ledger


def test_late_votes_are_noted_though_nobody_is_known_yet_to_have_their_number() -> None:
    """They reach the id of a session that just opens; nothing of them stays there."""
    htp = LowestFree()
    with controller_on(htp) as controller:
        late = LateVotes(htp, controller)
        htp.created = late.arrive
        session = controller.session("balanced")
        assert late.number not in session.power_config_ids.values()
        late.end()
        controller._closer._remains.destroy_orphans()
        until(lambda: htp.effective().core_target < MAX_CORNER and not controller.status().orphans)


def test_a_number_that_late_votes_reach_twice_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each time it is given to the same session, which opens, and the back-off has destroyed it in between."""
    htp = LowestFree()
    with controller_on(htp) as controller:
        controller._recovery.stop()
        first, second = LateVotes(htp, controller), LateVotes(htp, controller)
        assert first.number == second.number
        opens, begin_create = threading.get_ident(), GivenIds.begin_create
        arriving = [second, first]

        def begins(given: GivenIds) -> Counts:
            if threading.get_ident() == opens and arriving:
                on_a_thread(controller._closer._remains.destroy_orphans)()
                assert first.number not in htp.power_config_ids
                htp.created = arriving.pop().arrive
            return begin_create(given)

        monkeypatch.setattr(GivenIds, "begin_create", begins)
        session = controller.session("balanced")
        assert not arriving
        (number,) = session.power_config_ids.values()
        assert not htp._clients[number].active
        for each in (first, second):
            each.end()
        controller._closer._remains.destroy_orphans()
        assert not any(client.active for client in htp._clients.values())


PLACES = [
    pytest.param(GivenIds, "take", False, id="before-it-is-taken"),
    pytest.param(GivenIds, "take", True, id="once-it-is-taken"),
    pytest.param(PowerConfigIds, "_create", True, id="once-it-is-created"),
]
BY_THE_SESSION = [
    pytest.param(SessionRecord, "take_id", False, id="before-the-session-has-it"),
    pytest.param(SessionRecord, "take_id", True, id="once-the-session-has-it"),
]


@pytest.mark.parametrize(("what", "name", "done"), [*PLACES, *BY_THE_SESSION])
def test_no_id_is_nobodys_where_an_interrupt_keeps_a_session_from_opening(
    monkeypatch: pytest.MonkeyPatch, what: type[GivenIds | PowerConfigIds | SessionRecord], name: str, done: bool
) -> None:
    """It is destroyed."""
    htp = LowestFree()
    with controller_on(htp) as controller:
        interrupt_in(monkeypatch, what, name, done=done)
        with pytest.raises(KeyboardInterrupt):
            controller.session("balanced")
        assert not list(nobodys(htp, controller))
        controller._closer._remains.destroy_orphans()
        assert htp.power_config_ids == ()


@pytest.mark.parametrize(("what", "name", "done"), PLACES)
def test_no_late_votes_stay_where_an_interrupt_keeps_a_session_from_opening(
    monkeypatch: pytest.MonkeyPatch, what: type[GivenIds | PowerConfigIds | SessionRecord], name: str, done: bool
) -> None:
    """They have reached its id, which is destroyed."""
    htp = LowestFree()
    with controller_on(htp) as controller:
        late = LateVotes(htp, controller)

        def arrive() -> None:
            late.arrive()
            assert htp._clients[late.number].active
            interrupt_in(monkeypatch, what, name, done=done)

        htp.created = arrive
        with pytest.raises(KeyboardInterrupt):
            controller.session("balanced")
        late.end()
        assert not list(nobodys(htp, controller))
        controller._closer._remains.destroy_orphans()
        assert not any(client.active for client in htp._clients.values())


def test_no_id_of_the_controllers_own_is_nobodys_where_an_interrupt_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is created for the settings of the process, and comes before these are sent."""
    htp = LowestFree()
    used: list[int] = []
    with controller_on(htp) as controller:
        interrupt_in(monkeypatch, PowerConfigIds, "_create", done=True)
        with pytest.raises(KeyboardInterrupt):
            controller._opener._ids.use_a_new_one(used.append, alone=False)
        assert (used, htp.power_config_ids, controller._registry.borrowed) == ([], (), set())


def test_an_interrupt_while_ids_cross_leaves_nobody_without_votes(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes once a number was taken away from its owner, and before that is told."""
    htp = LowestFree()
    with controller_on(htp) as controller:
        session = controller.session("burst")
        with session.inference():
            take_away = GivenIds.take_away

            def interrupted(given: GivenIds, number: int, orphans: dict[Ledger, None]) -> None:
                take_away(given, number, orphans)
                raise KeyboardInterrupt

            monkeypatch.setattr(GivenIds, "take_away", interrupted)
            with pytest.raises(KeyboardInterrupt):
                controller._opener._ids.crossed(1)
            monkeypatch.undo()
            until(lambda: session.state is State.RAISED and session.power_config_ids)
            assert htp.effective().core_target == MAX_CORNER

"""Ctrl-C as ids are created and destroyed, and their numbers given again to another controller and after a restart."""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING

import pytest
from bench import MAX_CORNER, Bench
from hanging import WAIT_S, Hang, until
from interrupting import interrupt_at, interrupt_in
from lowest_free import LowestFree, controller_on, lose_and_free
from second_controller import second_on

from htppower import State
from htppower.control.core.event_bus import EventBus
from htppower.control.core.given_ids import GivenIds
from htppower.control.core.power_config_ids import PowerConfigIds
from htppower.votes.native_codes import FAILED, SYSTEM_COMMUNICATION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from htppower import VoteController

# Of the places at which the exception may come, one of so many is tried: that takes at most two seconds an operation.
EACH = 4
LONG_US = 30_000_000
# What these profiles vote for.
TARGETS = {"burst": 160, "balanced": 112, "low_balanced": 96}


def closes(mine: VoteController, _other: VoteController, _htp: LowestFree) -> Callable[[], object]:
    """Return what closes a session in use."""
    session = mine.session("balanced")
    session.inference().__enter__()
    return session.close


def replaces_its_id(mine: VoteController, other: VoteController, htp: LowestFree) -> Callable[[], object]:
    """Return what runs an inference whose session is the first to vote after a restart."""
    session = mine.session("burst")
    other.session("low_balanced")
    htp.restart_subsystem(forget_ids=True)

    def infer() -> None:
        with session.inference():
            pass

    return infer


def is_given_a_number_in_use(mine: VoteController, _other: VoteController, htp: LowestFree) -> Callable[[], object]:
    """Return what opens a session after a restart that nobody has told of."""
    mine.session("burst").inference().__enter__()
    htp.forget()
    return lambda: mine.session("balanced")


def destroys_what_is_left(mine: VoteController, _other: VoteController, htp: LowestFree) -> Callable[[], object]:
    """Return what destroys an id again that could not be destroyed."""
    session = mine.session("balanced")
    session.inference().__enter__()
    htp.fail_next(FAILED, function="destroyPowerConfigId")
    session.close()
    return mine._closer._remains.destroy_orphans


def broken(htp: LowestFree, controllers: Iterable[VoteController]) -> list[str]:
    """Return what does not hold of the ids of all open sessions, and of the orphans."""
    owners: dict[int, str] = {}
    found = []
    for place, controller in enumerate(controllers):
        for session in controller._registry.all():
            name = f"session {session.number} of controller {place}"
            for number in session.power_config_ids.values():
                if number in owners:
                    found.append(f"{name} has {number}, which is of {owners[number]}")
                owners[number] = name
                client = htp._clients.get(number)
                target = TARGETS[session.plan.profile.name]
                if session.state is State.RAISED and (client is None or client.core[1] != target):
                    found.append(f"{name} is RAISED, and {number} is {client}")
        orphans = controller.status().orphans
        found += [f"{number} is of {owners[number]}, and an orphan" for number in orphans if number in owners]
        owners.update(dict.fromkeys(orphans, f"controller {place}"))
    return found + [f"{number} votes, and is nobody's" for number in voting(htp) - set(owners)]


def voting(htp: LowestFree) -> set[int]:
    """Return the ids with a vote for the clocks."""
    return {number for number, client in htp._clients.items() if client.active}


OPERATIONS = [closes, replaces_its_id, is_given_a_number_in_use, destroys_what_is_left]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.__name__)
def test_no_interrupt_leaves_an_id_to_two(operation: Callable[..., Callable[[], object]]) -> None:
    """Another controller opens a session, the library forgets all ids once more, and both are closed."""
    tried = 0
    for place in itertools.count(0, EACH):
        htp = LowestFree()
        bench = Bench.make(htp)
        mine, other = bench.controller, second_on(bench)
        if not interrupt_at(place, operation(mine, other, htp)):
            break
        tried += 1
        other.session("burst").inference().__enter__()
        bench.time.advance_us(LONG_US)
        found = broken(htp, (mine, other))
        htp.forget()
        for controller in (other, mine):
            controller.session("low_balanced").inference().__enter__()
        mine.link_lost(SYSTEM_COMMUNICATION)
        bench.time.advance_us(LONG_US)
        found += broken(htp, (mine, other))
        for controller in (mine, other):
            controller.close()
        bench.time.advance_us(LONG_US)
        assert (found, voting(htp)) == ([], set()), place
    assert tried > 2


@pytest.mark.parametrize("name", ["not_destroyed", "destroyed"])
@pytest.mark.parametrize("done", [False, True])
def test_a_session_whose_release_was_interrupted_shares_its_id_with_nobody(
    monkeypatch: pytest.MonkeyPatch, name: str, done: bool
) -> None:
    """It votes on it again, as another session is just given its number: nobody told of a loss."""
    htp = LowestFree()
    with controller_on(htp) as controller:
        session = controller.session("burst")
        held, opened = Hang(), []

        def open_another() -> None:
            htp.created = held
            opened.append(controller.session("balanced"))

        opening = threading.Thread(target=open_another)

        def begin_opening() -> None:
            opening.start()
            assert held.begun.wait(WAIT_S)

        with session.inference():
            htp.destroyed, htp.fails = begin_opening, int(name == "not_destroyed")
            htp.carried_out = True
            interrupt_in(monkeypatch, GivenIds, name, done=done)
            with pytest.raises(KeyboardInterrupt):
                session.hold("system_settings", reason="to give its id back")
            until(lambda: session.state is State.RAISED)
            held.let_go.set()
            opening.join(WAIT_S)
            until(lambda: session.power_config_ids and session.state is State.RAISED)
            numbers = [number for each in (session, *opened) for number in each.power_config_ids.values()]
            assert len(set(numbers)) == 1 + len(opened)
            assert set(numbers) <= set(htp.power_config_ids)
            assert htp._clients[session.power_config_ids[0]].core[1] == MAX_CORNER


@pytest.mark.parametrize(
    ("what", "name"), [(EventBus, "tell"), (PowerConfigIds, "_destroyed"), (GivenIds, "destroyed")]
)
def test_whoever_has_the_number_when_a_late_destroy_is_interrupted_is_voted_again(
    monkeypatch: pytest.MonkeyPatch, what: type, name: str
) -> None:
    """Its id is gone. The exception comes once the native call has returned, and before that is taken in."""
    htp = LowestFree()
    interrupted = []
    with controller_on(htp) as controller:
        old, hang = controller.session("balanced"), htp.hang_next("destroyPowerConfigId", 1)

        def close() -> None:
            try:
                old.close()
            except KeyboardInterrupt:
                interrupted.append(True)

        closing = threading.Thread(target=close)
        closing.start()
        assert hang.begun.wait(WAIT_S)
        lose_and_free(htp, controller, 1)
        session = controller.session("burst")
        with session.inference():
            assert (session.power_config_ids, session.state) == ({0: 1}, State.RAISED)
            htp.destroyed = lambda: interrupt_in(monkeypatch, what, name, done=False)
            hang.let_go.set()
            closing.join(WAIT_S)
            until(lambda: session.power_config_ids not in ({}, {0: 1}) and session.state is State.RAISED)
            assert (interrupted, htp.effective().core_target) == ([True], MAX_CORNER)


def test_no_interrupt_leaves_a_session_that_opens() -> None:
    """Nobody gets it, so that it is closed, and counts as opening no longer."""
    for place in itertools.count():
        bench = Bench.make(LowestFree())
        registry = bench.controller._registry
        if not interrupt_at(place, lambda: bench.controller.session("burst")):  # noqa: B023 - it is run at once
            break
        assert (registry.sessions, registry.opening) == ({}, set()), place
    assert place > 2


def test_a_forked_child_opens_no_session_of_its_parent() -> None:
    """A host that tells it of a loss is not answered with the parent's locks."""
    bench = Bench.make(LowestFree())
    registry = bench.controller._registry
    registry.opening.add(bench.controller.session("burst")._record)
    registry.disown()
    assert (registry.opening, registry.sessions) == (set(), {})

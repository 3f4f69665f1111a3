"""Ctrl-C as ids are created and destroyed, and their numbers given again to another controller and after a restart."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from bench import Bench
from interrupting import interrupt_at
from second_controller import second_on

from htppower import State
from htppower.backends import SimulatedHtp
from htppower.votes.native_codes import FAILED, SYSTEM_COMMUNICATION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from htppower import VoteController

# Of the places at which the exception may come, one of so many is tried: that takes at most two seconds an operation.
EACH = 4
LONG_US = 30_000_000
# What these profiles vote for.
TARGETS = {"burst": 160, "balanced": 112, "low_balanced": 96}


class LowestFree(SimulatedHtp):
    """Gives the lowest free number for an id, as a library may."""

    def native_create(self, device_id: int, core_id: int) -> tuple[int, int]:
        """Create an id."""
        self._next_id = next(each for each in itertools.count(1) if each not in self._clients)
        return super().native_create(device_id, core_id)

    def forget(self) -> None:
        """Restart, and forget all ids; no call is told of that."""
        self.restart_subsystem(forget_ids=True)
        self._restarted = False


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
        htp = LowestFree(arch=75)
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

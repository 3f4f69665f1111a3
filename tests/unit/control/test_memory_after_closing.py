"""A controller that was closed and dropped leaves almost nothing in memory."""

from __future__ import annotations

import gc
import itertools
import sys
import tracemalloc

import pytest
from support.hanging import until
from support.inside import call_as_forked, collectable_parts, fork_calls

from htppower import VoteController, load_profile
from htppower.backends import SimulatedHtp, forks
from htppower.testing import VirtualTime

# ``atexit`` keeps the slot of an unregistered function: 8 bytes in CPython up to 3.13.
MOST_BYTES_EACH = 64
CONTROLLERS = 30
# The interpreter's caches grow once; a leak grows in each round.
ROUNDS = 3
BURST, BALANCED = load_profile("burst"), load_profile("balanced")


def _use(controller: VoteController) -> None:
    """Use everything that might leave something behind: a subscriber, phases, an alarm, a hold, a cap."""
    controller.subscribe(repr)
    with controller, controller.session(BURST) as session:
        with session.init():
            pass
        with session.inference():
            pass
        with controller.cap(BALANCED, reason="test"), session.hold(BURST, reason="test"), session.inference():
            controller.status()


def _use_many() -> None:
    for _ in range(CONTROLLERS):
        _use(VoteController(SimulatedHtp(arch=75), time=VirtualTime(), handle_sigterm=False))
    gc.collect()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="each function keeps a frame for later")
def test_a_closed_controller_leaves_no_bytes() -> None:
    """Each of many closed controllers leaves less memory than one registration would take."""
    tracemalloc.start()
    try:
        _use_many()
        traced = [tracemalloc.get_traced_memory()[0]]
        for _ in range(ROUNDS):
            _use_many()
            traced.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    grown = [after - before for before, after in itertools.pairwise(traced)]
    assert min(grown) / CONTROLLERS < MOST_BYTES_EACH


def test_a_closed_controller_leaves_no_objects_and_no_threads() -> None:
    """In real time, all parts of a closed controller are garbage collected once its threads have ended."""
    controller = VoteController("simulated", handle_sigterm=False)
    _use(controller)
    parts = list(collectable_parts(controller))
    del controller

    def is_gone() -> bool:
        gc.collect()
        return not any(part() for part in parts)

    until(is_gone)


class _Concerned:
    def __init__(self, called: list[object]) -> None:
        self.called = called

    def note(self) -> None:
        self.called.append(self)


def test_what_is_called_in_forked_children_is_forgotten_with_its_object() -> None:
    """In a forked child the registered objects that still live are called in order; collected ones are forgotten."""
    called: list[object] = []
    before = len(fork_calls())
    first, dropped, last = (_Concerned(called) for _ in range(3))
    for each in (first, dropped, last):
        forks.call_in_forked_children(_Concerned.note, each)
    del dropped, each
    assert len(fork_calls()) == before + 2
    call_as_forked()
    assert called == [first, last]

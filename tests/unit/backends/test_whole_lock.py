"""Locks that are free again after a block, wherever an interrupt comes."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from interrupts.injector import PACKAGE, Injector, Shot
from support.inside import lock_of_3_14

from htppower.backends.whole_lock import whole_lock
from htppower.control.time.locks import is_held

MORE_THAN_THERE_ARE = 12


@pytest.mark.needs("signals")
def test_no_interrupt_leaves_it_held() -> None:
    """An exception at any instruction, before, at or in the block, leaves the lock free."""
    lock: Any = whole_lock()
    counted: list[int] = []

    def use() -> None:
        with lock:
            counted.append(1)

    injector = Injector((Path(__file__).parent, PACKAGE / "backends"))
    came = 0
    # From CPython 3.12 on, only some calls of a function are traced by instruction.
    for at in 5 * list(range(1, MORE_THAN_THERE_ARE)):
        result = injector.run(use, Shot(at))
        came += bool(result.delivered)
        held = is_held(lock)
        if held:
            lock.release()
        assert not held, f"held after an interrupt at {at}: {result.delivered}"
    assert came


def test_it_is_a_lock_of_the_interpreter() -> None:
    """It is reentrant, excludes other threads, and works with ``Condition``; before CPython 3.14 it is the C lock."""
    lock: Any = whole_lock()
    assert isinstance(lock, type(threading.RLock()))
    entered = threading.Event()

    def enter() -> None:
        with lock:
            entered.set()

    other = threading.Thread(target=enter, daemon=True)
    with lock, lock:
        other.start()
        assert not entered.wait(0.05)
    assert entered.wait(30)
    other.join()
    assert whole_lock() is not lock


def test_what_it_is_from_3_14_on_works_everywhere() -> None:
    """``with`` enters, gives True, and releases the lock, also if the block raises."""
    lock = lock_of_3_14()

    def fail() -> None:
        with lock as taken:
            assert taken
            assert is_held(lock)
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert not is_held(lock)

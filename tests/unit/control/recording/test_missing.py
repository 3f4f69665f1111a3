"""A number that is missing is lost once it is missing still when later ones have come."""

from __future__ import annotations

import random
from typing import Any

from htppower.control.recording.missing import Missing


def _ended(number: int) -> Any:
    return (number, None, 0, 1000 * number, False)


def test_a_number_that_comes_late_is_not_lost() -> None:
    """Two threads may add in another order than they drew their numbers."""
    lost, missing = Missing().after([_ended(0), _ended(2), _ended(4)])
    assert (lost, missing.next, len(missing.gaps)) == ((), 5, 2)
    lost, missing = missing.after([_ended(1), _ended(5), _ended(3)])
    assert (lost, missing) == ((), Missing(6))


def test_what_does_not_come_is_lost_in_parts() -> None:
    """Of a gap only what is missing still, with the time of what came after it."""
    lost, missing = Missing().after([_ended(9)])
    assert lost == ()
    lost, missing = missing.after([_ended(3), _ended(4), _ended(10)])
    assert [(gap.first, gap.end, gap.ended_ns) for gap in lost] == [(0, 3, 9000), (5, 9, 9000)]
    assert missing.after([]) == ((), Missing(11))


def test_each_number_comes_or_is_lost_once() -> None:
    """Whatever is dropped, and however those are mixed that come together."""
    for seed in range(200):
        chance = random.Random(seed)
        left, came, missing = list(range(60)), 0, Missing()
        lost: list[int] = []
        while left:
            taken, left = left[: chance.randint(1, 9)], left[9:]
            taken = [number for number in taken if chance.random() < 0.7]
            chance.shuffle(taken)
            came += len(taken)
            gone, missing = missing.after([_ended(number) for number in taken])
            lost += [number for gap in gone for number in range(gap.first, gap.end)]
        gone, missing = missing.after([])
        lost += [number for gap in gone for number in range(gap.first, gap.end)]
        assert (len(lost), len(set(lost)), missing.gaps) == (missing.next - came, missing.next - came, ())

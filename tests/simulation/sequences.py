"""Every short sequence of a host's operations on one session, on one thread.

Random programs seldom do many things to one session in a row. The longer a sequence, the higher its number.
"""

from __future__ import annotations

from typing import NamedTuple

from simulation.program import Op, Program

_INFER = Op("infer", us=500)


class Things(NamedTuple):
    """The profiles and operations of sequences; the session begins with one of the profiles."""

    profiles: tuple[str, ...]
    ops: tuple[Op, ...]


PLAIN = Things(
    # The first sustains, the second lowers at once, and the third relaxes twice.
    ("brisk", "balanced", "deep"),
    (
        _INFER,
        Op("init"),
        Op("deinit"),
        Op("use", name="brisk"),
        Op("use", name="balanced"),
        Op("infer", inner=(Op("use", name="brisk"),)),
        Op("hold", name="deep", how="release", inner=(_INFER,)),
        Op("cap", name="balanced", inner=(_INFER,)),
        # Times within the sustain times, and beyond all of them.
        Op("rest", us=10_000),
        Op("rest", us=700_000),
    ),
)
LEARNING = Things(
    # All are raised ahead; the second and the third learn from their gaps, and the third relaxes twice.
    ("early", "apt", "thrifty"),
    (
        _INFER,
        Op("init", us=500),
        Op("infer", us=500, inner=(Op("init", us=500), _INFER)),
        Op("infer", us=500, inner=(Op("expect", us=70_000, how="in"), Op("use", name="early"), _INFER)),
        Op("use", name="apt"),
        Op("hold", name="early", how="release", inner=(_INFER,)),
        Op("expect", us=70_000, how="in"),
        Op("expect", us=33_333, how="every"),
        Op("expect", us=1, how="none"),
        # Times within the sustain times, until a predicted begin, and beyond both.
        Op("rest", us=10_000),
        Op("rest", us=69_000),
        Op("rest", us=700_000),
    ),
)


def count_up_to(length: int, things: Things = PLAIN) -> int:
    """Return how many sequences there are up to a length."""
    count, longest = 0, 1
    for _ in range(length):
        longest *= len(things.ops)
        count += longest
    return len(things.profiles) * count


def sequence(number: int, things: Things = PLAIN) -> Program:
    """Return the sequence of a number, from 0."""
    number, start = divmod(number, len(things.profiles))
    length = 1
    while number >= len(things.ops) ** length:
        number -= len(things.ops) ** length
        length += 1
    ops: list[Op] = []
    for _ in range(length):
        number, place = divmod(number, len(things.ops))
        ops.append(things.ops[place])
    return Program(((0,),), (things.profiles[start],), (tuple(ops),), heartbeat=False)

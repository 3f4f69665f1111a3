"""Every short sequence of what a host does with one session, on one thread: what comes of what came before.

Programs that are drawn at random seldom do many things to one session in a row. Here each of a few things follows each
other, from each of a few profiles on, up to a length. They have numbers: a longer one has a higher number.
"""

from __future__ import annotations

import math

from simulation.program import Op, Program

# One that sustains, one that lowers at once, and one that relaxes twice.
_PROFILES = ("brisk", "balanced", "deep")
_INFER = Op("infer", us=500)
_OPS = (
    _INFER,
    Op("init"),
    Op("deinit"),
    Op("use", name="brisk"),
    Op("use", name="balanced"),
    Op("infer", inner=(Op("use", name="brisk"),)),
    Op("hold", name="deep", how="release", inner=(_INFER,)),
    Op("cap", name="balanced", inner=(_INFER,)),
    # Within the sustain times, beyond one and beyond the second power state's.
    Op("rest", us=10_000),
    Op("rest", us=700_000),
)


def count_up_to(length: int) -> int:
    """Return how many sequences there are up to a length."""
    return len(_PROFILES) * sum(math.prod([len(_OPS)] * each) for each in range(1, length + 1))


def sequence(number: int) -> Program:
    """Return the sequence of a number, from 0."""
    number, start = divmod(number, len(_PROFILES))
    length = 1
    while number >= len(_OPS) ** length:
        number -= len(_OPS) ** length
        length += 1
    ops: list[Op] = []
    for _ in range(length):
        number, place = divmod(number, len(_OPS))
        ops.append(_OPS[place])
    return Program(((0,),), (_PROFILES[start],), (tuple(ops),), heartbeat=False)

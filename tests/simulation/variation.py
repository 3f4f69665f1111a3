"""Makes programs more varied: by another chance than what they are drawn by, so that a seed runs as it is without.

Tickets, streams with an idle timeout, phases that are not nested, coroutines that nobody goes on with, rows of even
inferences of which only some wait, closes that are made twice and by two threads, many restarts in a row, a second
controller on the same backend, and a library that gives the numbers of ids anew.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import attrs
from simulation.overlaps import ORDERS
from simulation.program import RESTS_US, TIMES_US, Op, Share

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.program import Program

KINDS = {"ticket": 4, "idle": 3, "overlap": 3, "abandon": 2, "row": 2, "close": 2}
TICKET_ENDS = ("end", "other", "both", "drop", "timeout")
TIMEOUTS_US = (1, 500, 3_000, 20_000, 100_000)


def vary(
    program: Program, seed: str, share: Share, *, interrupts: bool = True, restarts: bool = True, learning: bool = True
) -> Program:
    """Return a program with more in it, in half of the cases or in all of them, or as it is."""
    chance = random.Random(f"varied {seed}")
    if share is Share.NEVER or (share is Share.SOME and chance.random() < 0.5):
        return program
    return _Variation(chance, program, interrupts=interrupts, learning=learning).changed(restarts=restarts)


class _Variation:
    def __init__(self, chance: random.Random, program: Program, *, interrupts: bool, learning: bool) -> None:
        self._chance = chance
        self._program = program
        self._places = len(program.cores)
        self._interrupted = 0.1 if interrupts and chance.random() < 0.3 else 0.0
        self._learning = learning
        # Few kinds at a time find more than everything at once.
        self._kinds = {kind: weight * chance.choice((0, 1, 3)) for kind, weight in KINDS.items()} | {"ticket": 1}
        self._others: frozenset[int] = frozenset()

    def changed(self, *, restarts: bool) -> Program:
        chance, program = self._chance, self._program
        if chance.random() < 0.5:
            program = self._shared(program)
        threads = [self._ops(thread) for thread in program.threads]
        if restarts and chance.random() < 0.2:
            threads.append(self._storm())
        closers, lowest_ids = chance.choice((1, 2)), chance.random() < 0.5
        if lowest_ids:
            # Where a restart forgets no id, no number is given while somebody has it.
            threads = [tuple(map(_forgetting, thread)) for thread in threads]
        return attrs.evolve(
            program,
            threads=tuple(threads),
            closers=closers,
            # What is told is compared with the calls of one controller.
            subscribed=program.subscribed and not self._others,
            lowest_ids=lowest_ids,
        )

    def _shared(self, program: Program) -> Program:
        """Add sessions of another controller."""
        before, self._places = self._places, self._places + self._chance.randint(1, 2)
        self._others = frozenset(range(before, self._places))
        return attrs.evolve(
            program,
            cores=(*program.cores, *((2 * place,) for place in sorted(self._others))),
            profiles=(*program.profiles, *(self._chance.choice(program.profiles) for _ in self._others)),
            others=self._others,
        )

    def _ops(self, ops: tuple[Op, ...]) -> tuple[Op, ...]:
        made: list[Op] = []
        for op in ops:
            place = self._place(op.place) if op.kind != "cap" else op.place
            made.append(attrs.evolve(op, place=place, inner=self._ops(op.inner) if op.inner else ()))
            if self._chance.random() < 0.3:
                made += self._drawn()
        return tuple(made)

    def _place(self, place: int) -> int:
        moves = self._others and self._chance.random() < 0.5
        return self._chance.choice(sorted(self._others)) if moves else place

    def _drawn(self) -> list[Op]:
        chance = self._chance
        (kind,) = chance.choices(list(self._kinds), list(self._kinds.values()))
        place, us = chance.randrange(self._places), chance.choice(TIMES_US)
        interrupt = chance.randint(1, chance.choice((3, 30, 100))) if chance.random() < self._interrupted else 0
        made: dict[str, Callable[[int, int, int], list[Op]]] = {
            "ticket": self._ticket,
            "idle": self._idle,
            "overlap": lambda place, us, _: [Op("overlap", place, us, how=chance.choice(ORDERS))],
            "abandon": lambda place, us, _: [Op("abandon", place, us, steps=chance.choice((1, 10, 30, 100, 300)))],
            "row": lambda place, _us, _: self._row(place),
            "close": self._close,
        }
        return made[kind](place, us, interrupt)

    def _ticket(self, place: int, us: int, interrupt: int) -> list[Op]:
        chance = self._chance
        how = chance.choice(TICKET_ENDS)
        timeout_us = chance.choice(TIMEOUTS_US) if how == "timeout" or chance.random() < 0.3 else 0
        return [Op("ticket", place, us, how=how, steps=timeout_us, interrupt=interrupt)]

    def _idle(self, place: int, us: int, _interrupt: int) -> list[Op]:
        us = self._chance.choice((us, *RESTS_US[:4]))
        how = self._chance.choice(("read", "drop"))
        return [Op("idle", place, us, how=how, steps=self._chance.choice(TIMEOUTS_US))]

    def _close(self, place: int, _us: int, interrupt: int) -> list[Op]:
        if self._others and self._chance.random() < 0.5:
            how = self._chance.choice(("once", "twice", "meanwhile"))
            return [Op("close controller", how=how, interrupt=interrupt)]
        return [Op("close", place, name=self._chance.choice(self._program.profiles), how="twice")]

    def _row(self, place: int) -> list[Op]:
        """Return inferences at an even rate, with others between them that find the votes up, and then one ahead."""
        if not self._learning:
            return []
        us = self._chance.choice((33_333, 70_000, 150_000))
        between_us = self._chance.choice((1_000, 10_000))
        pair = (Op("infer", place), Op("rest", us=between_us), Op("infer", place), Op("rest", us=us - between_us))
        return [
            Op("use", place, name="early"),
            Op("use", place, name="brisk"),
            *(pair * 10),
            Op("use", place, name="early"),
            Op("infer", place),
            Op("rest", us=2 * us),
        ]

    def _storm(self) -> tuple[Op, ...]:
        ops = [Op("rest", us=self._chance.choice(TIMES_US))]
        for _ in range(self._chance.randint(4, 8)):
            ops += [Op("restart"), Op("rest", us=self._chance.choice((10, 500, 3_000, 20_000)))]
        return tuple(ops)


def _forgetting(op: Op) -> Op:
    return attrs.evolve(op, kind="forget") if op.kind == "restart" else op

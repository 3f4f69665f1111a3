"""Makes a failing run smaller: fewer operations, fewer faults, fewer choices, as long as the same rule is broken."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

import attrs
from simulation.choices import Random, Replayed
from simulation.program import every_op

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simulation.choices import Choices, Made
    from simulation.program import Op, Program
    from simulation.simulate import Result

_Thing = TypeVar("_Thing")
# A smaller program meets other choices: it is run with the old ones, and with this many at random.
TRIES = 12


@attrs.frozen
class Failing:
    """A failing run.

    Attributes:
        program: what it does.
        made: its choices, as ``Replayed`` takes them.
        rule: which rule it breaks.
    """

    program: Program
    made: tuple[Made, ...]
    rule: str

    @property
    def size(self) -> tuple[int, int]:
        """How large it is: the program first."""
        return self.program.size, len(self.made)


def shrink(failing: Failing, run: Callable[[Program, Choices], Result], seconds: float = 30.0) -> Failing:
    """Return the smallest failing run that is found in this time."""
    end_s = time.monotonic() + seconds
    again = True
    while again and time.monotonic() < end_s:
        again = False
        for program in _smaller(failing.program):
            if time.monotonic() > end_s:
                break
            found = _fails(program, failing, run)
            if found is not None:
                failing, again = found, True
                break
    return _fewer_choices(failing, run, end_s + seconds / 4)


def _fails(program: Program, like: Failing, run: Callable[[Program, Choices], Result]) -> Failing | None:
    tries: list[Choices] = [Replayed(like.made), Replayed(())]
    tries += [Random(f"shrink {number}") for number in range(TRIES)]
    for choices in tries:
        result = run(program, choices)
        if result.violation is not None and result.violation.rule == like.rule:
            return Failing(program, result.made, like.rule)
    return None


def _smaller(program: Program) -> Iterator[Program]:
    yield from _fewer_ops(program)
    yield from _simpler(program)


def _fewer_ops(program: Program) -> Iterator[Program]:
    threads = program.threads
    for number in range(len(threads)):
        yield attrs.evolve(program, threads=threads[:number] + threads[number + 1 :])
    if program.faults:
        yield attrs.evolve(program, faults={})
        numbers = sorted(program.faults)
        for part in _parts(numbers):
            yield attrs.evolve(program, faults={number: program.faults[number] for number in part})
    for number, thread in enumerate(threads):
        for ops in _smaller_ops(thread):
            yield attrs.evolve(program, threads=(*threads[:number], ops, *threads[number + 1 :]))


def _simpler(program: Program) -> Iterator[Program]:
    places = {op.place for thread in program.threads for op in every_op(thread)}
    if len(program.cores) > 1 + max(places, default=0):
        last = len(program.cores) - 1
        yield attrs.evolve(program, cores=program.cores[:last], profiles=program.profiles[:last])
    for number, cores in enumerate(program.cores):
        if len(cores) > 1:
            yield attrs.evolve(program, cores=(*program.cores[:number], cores[:1], *program.cores[number + 1 :]))
    if program.fine:
        yield attrs.evolve(program, fine=False)
    if program.others:
        yield attrs.evolve(program, others=frozenset())
    if program.closers > 1:
        yield attrs.evolve(program, closers=1)
    if program.lowest_ids:
        yield attrs.evolve(program, lowest_ids=False)
    if program.raises:
        yield attrs.evolve(program, raises=False)


def _smaller_ops(ops: tuple[Op, ...]) -> Iterator[tuple[Op, ...]]:
    yield from (tuple(part) for part in _parts(ops))
    for place, op in enumerate(ops):
        before, after = ops[:place], ops[place + 1 :]
        if op.inner:
            yield (*before, *op.inner, *after)
            yield (*before, attrs.evolve(op, inner=()), *after)
            for inner in _smaller_ops(op.inner):
                yield (*before, attrs.evolve(op, inner=inner), *after)
        if op.interrupt:
            yield (*before, attrs.evolve(op, interrupt=0), *after)
        if op.us and op.kind != "rest":
            yield (*before, attrs.evolve(op, us=0), *after)


def _parts(things: Sequence[_Thing]) -> Iterator[list[_Thing]]:
    """Yield the things without a half of them, a quarter, ..., and without each."""
    size = len(things) // 2
    while size:
        for start in range(0, len(things), size):
            yield [*things[:start], *things[start + size :]]
        size //= 2


def _fewer_choices(failing: Failing, run: Callable[[Program, Choices], Result], end_s: float) -> Failing:
    size = max(1, len(failing.made) // 2)
    while size and time.monotonic() < end_s:
        start = 0
        while start < len(failing.made) and time.monotonic() < end_s:
            made = failing.made[:start] + failing.made[start + size :]
            result = run(failing.program, Replayed(made))
            if result.violation is not None and result.violation.rule == failing.rule:
                failing = attrs.evolve(failing, made=made)
            else:
                start += size
        size //= 2
    return failing

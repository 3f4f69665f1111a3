"""Makes a failing run smaller as long as it breaks the same rule: fewer operations, fewer faults, fewer choices."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
from simulation.choices import Random, Replayed
from simulation.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulation.choices import Choices, Made
    from simulation.program import Op, Program

_Thing = TypeVar("_Thing")
# A smaller program has other choices: it is run with the old choices, and with this many random ones.
TRIES = 12
MOST_SHOWN = 120


@attrs.frozen
class Failing:
    """A failing run: its program, its choices as ``Replayed`` takes them, and the rule that it breaks."""

    program: Program
    made: tuple[Made, ...]
    rule: str


def show(failing: Failing, *, seconds: float, small: bool = False) -> None:
    """Make a failing run smaller, and print what happens in it."""
    smaller = _shrink(failing, seconds, small=small)
    result = simulate(smaller.program, Replayed(smaller.made), small=small, traced=True)
    program = smaller.program
    print(f"sessions on cores {program.cores} with {program.profiles}; raises {program.raises}")
    print(f"device {program.device}; heartbeat {program.heartbeat}; of a second controller {sorted(program.others)}")
    for number, thread in enumerate(program.threads):
        main = "main " if number in program.mains else ""
        print(f"{main}thread {number}: {'; '.join(map(str, thread))}")
    for number, fault in sorted(program.faults.items()):
        print(f"call {number}: {fault}")
    print(f"choices {[tuple(each) for each in smaller.made]}")
    print("\n".join(result.trace[-MOST_SHOWN:]))
    print(f"BROKEN {result.violation}")


def _shrink(failing: Failing, seconds: float, *, small: bool) -> Failing:
    """Return the smallest failing run that is found in this time."""
    end_s = time.monotonic() + seconds
    found: Failing | None = failing
    while found is not None:
        failing = found
        others = (_fails(each, failing, small=small) for each in _smaller(failing.program))
        fewer = (_fails(failing.program, failing, made, small=small) for made in _parts(failing.made))
        found = next((each for each in itertools.chain(others, fewer) if each or time.monotonic() > end_s), None)
    return failing


def _fails(program: Program, like: Failing, made: Sequence[Made] = (), *, small: bool) -> Failing | None:
    """Return a run of a program that breaks the same rule; ``made``: the only choices to try."""
    choices: list[Choices] = [Replayed(made)] if made else [Replayed(like.made), Replayed(())]
    choices += [] if made else [Random(f"shrink {number}") for number in range(TRIES)]
    for each in choices:
        result = simulate(program, each, small=small)
        if result.violation is not None and result.violation.rule == like.rule:
            return Failing(program, result.made, like.rule)
    return None


def _smaller(program: Program) -> Iterator[Program]:
    threads, numbers = program.threads, sorted(program.faults)
    for number, thread in enumerate(threads):
        yield attrs.evolve(program, threads=threads[:number] + threads[number + 1 :], mains=frozenset())
        for ops in _smaller_ops(thread):
            yield attrs.evolve(program, threads=(*threads[:number], ops, *threads[number + 1 :]))
    for part in [[], *_parts(numbers)] if numbers else []:
        yield attrs.evolve(program, faults={number: program.faults[number] for number in part})
    for number, cores in enumerate(program.cores):
        if len(cores) > 1:
            yield attrs.evolve(program, cores=(*program.cores[:number], cores[:1], *program.cores[number + 1 :]))
    simpler: dict[str, Any] = {"mains": frozenset(), "others": frozenset(), "heartbeat": False, "raises": False}
    for name, value in simpler.items():
        if getattr(program, name) != value:
            yield attrs.evolve(program, **{name: value})


def _smaller_ops(ops: tuple[Op, ...]) -> Iterator[tuple[Op, ...]]:
    yield from (tuple(part) for part in _parts(ops))
    for place, op in enumerate(ops):
        before, after = ops[:place], ops[place + 1 :]
        if op.inner:
            yield (*before, *op.inner, *after)
            for inner in ((), *_smaller_ops(op.inner)):
                yield (*before, attrs.evolve(op, inner=inner), *after)
        if op.us and op.kind != "rest":
            yield (*before, attrs.evolve(op, us=0), *after)


def _parts(things: Sequence[_Thing]) -> Iterator[list[_Thing]]:
    """Yield the items without one half, without each quarter, and so on, down to each single item."""
    size = len(things) // 2
    while size:
        for start in range(0, len(things), size):
            yield [*things[:start], *things[start + size :]]
        size //= 2

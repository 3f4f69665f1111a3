"""What a run does: which sessions there are, what each thread does with them, what happens to which native call.

A program is a value, drawn from a seed, so that a failing one can be made smaller.
"""

from __future__ import annotations

import enum
import random
from typing import TYPE_CHECKING

import attrs
from simulation.backend import Fault
from simulation.expectations import ADAPTIVE, PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

KINDS = {
    "infer": 40,
    "init": 4,
    "deinit": 4,
    "stream": 5,
    "coroutine": 6,
    "use": 8,
    "hold": 8,
    "cap": 4,
    "close": 5,
    "status": 4,
    "subscribe": 2,
    "link_lost": 1,
    "rest": 10,
}
HOLD_ENDS = ("release", "timeout", "drop", "owner")
CODES = (13001, 13003, 13005, 13006, 1000, 1100)
TIMES_US = (0, 0, 10, 500, 3_000, 20_000)
HINTS_US = (1_000, 10_000, 33_333, 70_000, 150_000, 200_000, 500_000, 1_000_000)
RESTS_US = (1_000, 20_000, 50_000, 300_000, 700_000, 1_000_000, 5_000_000, 25_000_000)


@attrs.frozen
class Op:
    """Something that a thread does.

    Attributes:
        kind: what; one of ``KINDS``; ``expect``, ``beat`` and ``spite`` of sessions that learn; what is drawn in
            varied programs; ``restart``, ``die``, ``forget`` for what happens to the subsystem; or ``enter`` and
            ``leave`` for the window of a small case.
        place: with which client.
        us: how long it lasts, or lies back.
        name: a profile.
        inner: what is done in the meantime, in the same thread.
        how: of a hold or a ticket, how it ends; of a hint, what it says; of a close, whether it is made twice; of
            phases that overlap, their begins and ends.
        interrupt: KeyboardInterrupt is raised in it after this many points; 0 for never.
        steps: of a stream, after how many steps it is collected; of a coroutine, after how many us it is cancelled; of
            ``beat`` and ``spite``, how many inferences; of a ticket or a stream, the timeout in us.
    """

    kind: str
    place: int = 0
    us: int = 0
    name: str = "burst"
    inner: tuple[Op, ...] = ()
    how: str = ""
    interrupt: int = 0
    steps: int = 0

    def __str__(self) -> str:
        """Return it in a few words."""
        words = [self.kind]
        if self.kind in ("infer", "init", "deinit", "stream", "coroutine", "use", "hold", "close") or self.how:
            words.append(f"session {self.place}")
        if self.kind in ("use", "hold", "cap", "close"):
            words.append(self.name)
        words += [word for word in (self.how, f"{self.us} us" if self.us else "") if word]
        if self.steps:
            words.append(f"dropped or cancelled after {self.steps}, or so often")
        if self.interrupt:
            words.append(f"KeyboardInterrupt after {self.interrupt}")
        inner = f" ({'; '.join(map(str, self.inner))})" if self.inner else ""
        return " ".join(words) + inner


@attrs.frozen
class Program:
    """What a run does.

    Attributes:
        cores: the cores of each client.
        profiles: the profile with which each begins.
        threads: what each thread does.
        faults: what happens to calls, by number; in a small case they are counted from when its window opens.
        raises: whether the controller has ``on_error="raise"``.
        fine: whether every statement of the controller is a point.
        subscribed: whether somebody is told of every event, on a thread of its own.
        heartbeat: whether the controller has one.
        all_told: whether every call that is under way when the subsystem restarts tells of that.
        others: which clients are of a second controller on the same backend.
        closers: how many threads close each controller in the end.
        lowest_ids: whether the library gives the lowest free number for an id, and not one that nobody had.
    """

    cores: tuple[tuple[int, ...], ...]
    profiles: tuple[str, ...]
    threads: tuple[tuple[Op, ...], ...]
    faults: Mapping[int, Fault] = attrs.field(factory=dict)
    raises: bool = False
    fine: bool = False
    subscribed: bool = True
    heartbeat: bool = True
    all_told: bool = False
    others: frozenset[int] = frozenset()
    closers: int = 1
    lowest_ids: bool = False

    @property
    def size(self) -> int:
        """How much it does."""
        return sum(map(_size, (op for thread in self.threads for op in thread))) + len(self.faults)


def every_op(ops: Iterable[Op]) -> Iterator[Op]:
    """Yield ops, and those that are done within them."""
    for op in ops:
        yield op
        yield from every_op(op.inner)


def _size(op: Op) -> int:
    return 1 + sum(map(_size, op.inner)) + bool(op.interrupt)


class Share(enum.Enum):
    """In how many programs something is drawn: in none, in half of them, or in all."""

    NEVER = "never"
    SOME = "some"
    ALWAYS = "always"


def draw(seed: str, *, interrupts: bool = True, restarts: bool = True, learning: Share = Share.SOME) -> Program:
    """Return a program: up to four sessions and four threads, with or without faults, restarts and interrupts.

    With ``learning``, in half of the programs or in all of them, profiles learn, relax twice and raise ahead.
    """
    program = _draw(seed, interrupts=interrupts, restarts=restarts)
    # By another chance, so that all else stays as it is without.
    chance = random.Random(f"learning {seed}")
    if learning is Share.NEVER or (learning is Share.SOME and chance.random() < 0.5):
        return program
    return _Learning(chance).changed(program)


def _draw(seed: str, *, interrupts: bool, restarts: bool) -> Program:
    chance = random.Random(seed)
    places = chance.randint(1, 4)
    cores = tuple((2 * place, 2 * place + 1) if chance.random() < 0.25 else (2 * place,) for place in range(places))
    names = list(PLAIN)
    # Few kinds and few profiles at a time find more than everything at once.
    kinds = {kind: weight * chance.choice((0, 1, 3)) for kind, weight in KINDS.items()} | {"infer": 40}
    pool = chance.sample(names, chance.randint(1, 3))
    interrupted = interrupts and chance.random() < 0.3
    length = chance.choice((4, 8, 16, 32))
    drawn = _Drawing(chance, places, kinds, pool, 0.1 if interrupted else 0.0)
    threads = [tuple(drawn.op(0) for _ in range(chance.randint(1, length))) for _ in range(chance.randint(1, 4))]
    faulty = chance.choice((0.0, 0.0, 0.02, 0.1, 0.4))
    slow = chance.choice((0.0, 0.3, 1.0))
    faults = {}
    for number in range(1, 200):
        fault = _fault(chance, faulty, slow)
        if fault is not None:
            faults[number] = fault
    if restarts and chance.random() < 0.5:
        threads.append(_restarts(chance, length))
    return Program(
        cores,
        tuple(chance.choice(pool) for _ in range(places)),
        tuple(threads),
        faults,
        raises=chance.random() < 0.3,
        fine=chance.random() < 0.3,
        all_told=chance.random() < 0.5,
    )


class _Drawing:
    def __init__(
        self, chance: random.Random, places: int, kinds: Mapping[str, int], pool: list[str], interrupted: float
    ) -> None:
        self._chance = chance
        self._places = places
        self._kinds = list(kinds), list(kinds.values())
        self._pool = pool
        self._interrupted = interrupted

    def op(self, depth: int) -> Op:
        chance = self._chance
        (kind,) = chance.choices(*self._kinds)
        inner: tuple[Op, ...] = ()
        if kind in ("infer", "init", "deinit", "hold", "cap") and depth < 2 and chance.random() < 0.3:
            inner = tuple(self.op(depth + 1) for _ in range(chance.randint(1, 3)))
        interrupt = chance.choice((1, 3, 10, 30, 100)) if chance.random() < self._interrupted else 0
        return Op(
            kind,
            chance.randrange(self._places),
            chance.choice(RESTS_US if kind == "rest" else TIMES_US),
            chance.choice(self._pool),
            inner,
            chance.choice(HOLD_ENDS) if kind == "hold" else "",
            0 if kind in ("rest", "close", "stream", "coroutine") else interrupt and chance.randint(1, interrupt),
            chance.choice((1, 10, 100)) if kind in ("stream", "coroutine") else 0,
        )


class _Learning:
    """Makes sessions of a program learn."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._pool = chance.sample(ADAPTIVE, chance.randint(1, 2))

    def changed(self, program: Program) -> Program:
        chance = self._chance
        threads = program.threads
        if chance.random() < 0.5:
            # Who uses a session alone knows what is predicted of it.
            threads = (threads[0],)
        return attrs.evolve(
            program,
            profiles=tuple(self._name(name) for name in program.profiles),
            threads=tuple(self._ops(thread, len(program.cores)) for thread in threads),
            faults=program.faults if chance.random() < 0.5 else {},
            subscribed=True,
        )

    def _name(self, name: str) -> str:
        return self._chance.choice(self._pool) if self._chance.random() < 0.7 else name

    def _ops(self, ops: tuple[Op, ...], places: int) -> tuple[Op, ...]:
        made: list[Op] = []
        for op in ops:
            named = op.kind in ("use", "hold", "cap", "close")
            inner = self._ops(op.inner, places) if op.inner else ()
            if op.kind == "infer" and self._chance.random() < 0.1:
                inner = (*inner, self._hint(op.place, self._chance.choice(HINTS_US)))
            made.append(attrs.evolve(op, name=self._name(op.name) if named else op.name, inner=inner))
            if self._chance.random() < 0.3:
                made += self._pattern(self._chance.randrange(places))
        return tuple(made)

    def _hint(self, place: int, us: int) -> Op:
        return Op("expect", place, us, how=self._chance.choice(("in", "in", "every", "none")))

    def _pattern(self, place: int) -> list[Op]:
        chance, us = self._chance, self._chance.choice(HINTS_US)
        kind = chance.choice(("hint", "hint", "beat", "spite"))
        if kind == "hint":
            rest = Op("rest", us=chance.choice((us, us, us // 2, us + 1_000, 2 * us)))
            return [Op("infer", place), self._hint(place, us), rest, Op("infer", place)]
        return [Op(kind, place, us if kind == "beat" else 0, steps=chance.choice((4, 12, 16)))]


def _fault(chance: random.Random, faulty: float, slow: float) -> Fault | None:
    code = chance.choice(CODES) if chance.random() < faulty else 0
    before_us = after_us = 0
    if chance.random() < slow:
        before_us = chance.choice((0, 200, 2_000))
        after_us = chance.choice((0, 200, 2_000))
        if chance.random() < 0.02:
            before_us = chance.choice((100_000, 1_000_000, 4_000_000))
    if not (code or before_us or after_us):
        return None
    return Fault(code, chance.randrange(5), before_us, after_us)


def _restarts(chance: random.Random, length: int) -> tuple[Op, ...]:
    ops: list[Op] = []
    for _ in range(chance.randint(1, 1 + length // 4)):
        ops.append(Op("rest", us=chance.choice((*TIMES_US, *RESTS_US))))
        kind = chance.choice(("restart", "restart", "forget", "die"))
        ops.append(Op(kind))
        if kind == "die":
            ops.append(Op("rest", us=chance.choice(RESTS_US)))
            ops.append(Op(chance.choice(("restart", "forget"))))
    return tuple(ops)

"""The program of a run: its sessions, the operations of each thread, and the faults of native calls.

A program is a value that a seed determines, so a failing program can be made smaller.
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

# The kinds of operations, and how often each is drawn.
KINDS = {"infer": 40, "init": 4, "deinit": 4, "stream": 5, "coroutine": 6, "use": 8, "hold": 8, "cap": 4}
KINDS |= {"close": 5, "status": 4, "subscribe": 2, "link_lost": 1, "rest": 10}
# The events of the subsystem.
FATES = frozenset({"restart", "die", "spoil", "held", "come back", "refuse", "allow"})
_NAMED = ("use", "hold", "cap", "close")
HOLD_ENDS = ("release", "timeout", "drop", "owner")
CLOSE_ENDS = ("", "", "drop", "haste")
TICKET_ENDS = ("end", "other", "both", "drop", "timeout")
TIMEOUTS_US = (1, 500, 3_000, 20_000, 100_000)
CODES = (13001, 13003, 13005, 13006, 1000, 1100)
TIMES_US = (0, 0, 10, 500, 3_000, 20_000)
HINTS_US = (1_000, 10_000, 33_333, 70_000, 150_000, 200_000, 500_000, 1_000_000)
RESTS_US = (1_000, 20_000, 50_000, 300_000, 700_000, 1_000_000, 5_000_000, 25_000_000)
# The answers of FastRPC after a restart.
ANSWERS = ("reset", "reset", "gone", "crashed")


@attrs.frozen
class Op:
    """An operation of a thread.

    Attributes:
        kind: one of ``KINDS`` or ``FATES``; ``expect`` of sessions that learn; ``ticket`` and ``close controller`` in
            varied programs; ``enter`` and ``leave`` for the window of a small case.
        place: the client.
        us: how long the operation lasts; for a hint, the time until the begin.
        name: a profile.
        inner: the operations of the same thread while this one lasts.
        how: how a hold, a ticket or a session ends, what a hint says, or what FastRPC answers after a restart.
        steps: after how many steps a stream is collected, after how many us a coroutine is cancelled, or a ticket's
            timeout in us.
    """

    kind: str
    place: int = 0
    us: int = 0
    name: str = "burst"
    inner: tuple[Op, ...] = ()
    how: str = ""
    steps: int = 0

    def __str__(self) -> str:
        words = [self.kind, f"session {self.place}"]
        if self.kind in _NAMED:
            words.append(self.name)
        words += [word for word in (self.how, f"{self.us} us" if self.us else "") if word]
        if self.steps:
            words.append(f"after {self.steps}")
        inner = f" ({'; '.join(map(str, self.inner))})" if self.inner else ""
        return " ".join(words) + inner


@attrs.frozen
class Program:
    """The program of a run.

    Attributes:
        cores, profiles: the cores and the first profile of each client.
        threads: what each thread does.
        faults: the faults of native calls, by their numbers; in a small case counted from the opening of the window.
        mains: the threads that the controller takes for the main thread.
        raises: whether the controller has ``on_error="raise"``.
        subscribed: whether the events are judged.
        heartbeat: whether the controller has a heartbeat.
        device: whether the library is a device library.
        others: the clients of a second controller on the same backend.
    """

    cores: tuple[tuple[int, ...], ...]
    profiles: tuple[str, ...]
    threads: tuple[tuple[Op, ...], ...]
    faults: Mapping[int, Fault] = attrs.field(factory=dict)
    mains: frozenset[int] = frozenset()
    raises: bool = False
    subscribed: bool = True
    heartbeat: bool = True
    device: bool = True
    others: frozenset[int] = frozenset()

    @property
    def has_fates(self) -> bool:
        """Whether something happens to the subsystem."""
        return any(op.kind in FATES for thread in self.threads for op in every_op(thread))


def every_op(ops: Iterable[Op]) -> Iterator[Op]:
    """Yield ops with their inner ops."""
    for op in ops:
        yield op
        yield from every_op(op.inner)


def has(ops: tuple[Op, ...], kind: str) -> bool:
    """Return whether there is an operation of a kind among some, or inside another operation."""
    return any(op.kind == kind for op in every_op(ops))


class Share(enum.Enum):
    """Whether a feature is drawn in no program, in half of the programs, or in all programs."""

    NEVER = "never"
    SOME = "some"
    ALWAYS = "always"

    def drawn(self, chance: random.Random) -> bool:
        """Return whether the feature is drawn in this program."""
        return self is Share.ALWAYS or (self is Share.SOME and chance.random() < 0.5)


def draw(seed: str, *, restarts: bool = True, learning: Share = Share.SOME, varied: Share = Share.NEVER) -> Program:
    """Return a program with up to four sessions and four threads, or a busy one; the options are ``run.py``'s."""
    chance = random.Random(seed)
    if chance.random() < 0.05:
        return _busy(chance)
    program = _draw(chance, restarts=restarts)
    # These random numbers have a generator of their own, so that the rest of the program is the same without them.
    other = random.Random(f"learning {seed}")
    if learning.drawn(other):
        program = _learning(other, program)
    other = random.Random(f"varied {seed}")
    return _varied(other, program) if varied.drawn(other) else program


def _draw(chance: random.Random, *, restarts: bool) -> Program:
    places = chance.randint(1, 4)
    cores = tuple((2 * place, 2 * place + 1) if chance.random() < 0.25 else (2 * place,) for place in range(places))
    # Few kinds and few profiles at a time find more mistakes than all of them at once.
    kinds = {kind: weight * chance.choice((0, 1, 3)) for kind, weight in KINDS.items()} | {"infer": 40}
    pool = chance.sample(PLAIN, chance.randint(1, 3))
    length = chance.choice((4, 8, 16, 32))

    def op(depth: int) -> Op:
        (kind,) = chance.choices(list(kinds), list(kinds.values()))
        inner: tuple[Op, ...] = ()
        if kind in ("infer", "init", "deinit", "hold", "cap") and depth < 2 and chance.random() < 0.3:
            inner = tuple(op(depth + 1) for _ in range(chance.randint(1, 3)))
        place, us = chance.randrange(places), chance.choice(RESTS_US if kind == "rest" else TIMES_US)
        name, how = chance.choice(pool), chance.choice({"hold": HOLD_ENDS, "close": CLOSE_ENDS}.get(kind, ("",)))
        steps = chance.choice((1, 10, 100)) if kind in ("stream", "coroutine") else 0
        return Op(kind, place, us, name, inner, how, steps)

    threads = [tuple(op(0) for _ in range(chance.randint(1, length))) for _ in range(chance.randint(1, 4))]
    faulty = chance.choice((0.0, 0.0, 0.02, 0.1, 0.4, 0.9))
    slow = chance.choice((0.0, 0.3, 1.0))
    faults = {number: fault for number in range(1, 200) if (fault := _fault(chance, faulty, slow)) is not None}
    device = chance.random() < 0.7
    if restarts and chance.random() < 0.6:
        threads.append(_fates(chance, length, device=device))
    return Program(
        cores,
        tuple(chance.choice(pool) for _ in range(places)),
        tuple(threads),
        faults,
        frozenset(number for number in range(len(threads)) if chance.random() < 0.3),
        raises=chance.random() < 0.3,
        device=device,
    )


def _learning(chance: random.Random, program: Program) -> Program:
    """Return a program with sessions that learn."""
    pool, threads, places = chance.sample(ADAPTIVE, chance.randint(1, 2)), program.threads, len(program.cores)
    if chance.random() < 0.5:
        # A prediction is certain only if a single thread uses the session.
        threads = (threads[0],)

    def named(name: str) -> str:
        return chance.choice(pool) if chance.random() < 0.7 else name

    def pattern(place: int) -> list[Op]:
        us = chance.choice(HINTS_US)
        if chance.random() < 0.3:
            return [Op("infer", place), Op("rest", us=us)] * chance.choice((4, 12))
        hint = Op("expect", place, us, how=chance.choice(("in", "in", "every", "none")))
        rest = Op("rest", us=chance.choice((us, us, us // 2, us + 1_000, 2 * us)))
        return [Op("infer", place), hint, rest, Op("infer", place)]

    def learning(ops: tuple[Op, ...]) -> tuple[Op, ...]:
        made: list[Op] = []
        for op in ops:
            inner = learning(op.inner) if op.inner else ()
            made.append(attrs.evolve(op, name=named(op.name) if op.kind in _NAMED else op.name, inner=inner))
            if chance.random() < 0.3:
                made += pattern(chance.randrange(places))
        return tuple(made)

    return attrs.evolve(
        program,
        profiles=tuple(map(named, program.profiles)),
        threads=tuple(map(learning, threads)),
        faults=program.faults if chance.random() < 0.5 else {},
    )


def _varied(chance: random.Random, program: Program) -> Program:
    """Return a program with tickets, and in half of the cases with a second controller."""
    places, others = len(program.cores), frozenset[int]()
    pool = sorted(set(program.profiles))
    if chance.random() < 0.5:
        others = frozenset(range(places, places + chance.randint(1, 2)))
    every = places + len(others)

    def ops(thread: tuple[Op, ...]) -> tuple[Op, ...]:
        made: list[Op] = []
        for op in thread:
            made.append(attrs.evolve(op, place=chance.randrange(every)) if others and chance.random() < 0.4 else op)
            if chance.random() < 0.3:
                how, us = chance.choice(TICKET_ENDS), chance.choice(TIMES_US)
                timeout = chance.choice(TIMEOUTS_US) if how == "timeout" or chance.random() < 0.3 else 0
                made.append(Op("ticket", chance.randrange(every), us, how=how, steps=timeout))
            if others and chance.random() < 0.05:
                made.append(Op("close controller", min(others)))
        return tuple(made)

    return attrs.evolve(
        program,
        cores=(*program.cores, *((2 * place,) for place in sorted(others))),
        profiles=(*program.profiles, *(chance.choice(pool) for _ in others)),
        threads=tuple(ops(thread) for thread in program.threads),
        # The events are compared with the calls of one controller only.
        subscribed=program.subscribed and not others,
        others=others,
    )


def _busy(chance: random.Random) -> Program:
    """Return a program whose many threads wait for the line to raise, lower and change profiles with slow calls."""
    places = chance.randint(10, 14)
    names = ("balanced", "power_saver", "high")
    faults = {number: Fault(before_us=500) for number in range(1, 400)}
    if chance.random() < 0.5:
        # Each session is lowered by its own thread at one time, and raised again while others are lowered.
        threads: list[tuple[Op, ...]] = [
            (Op("infer", place, 100_000), Op("infer", place, 1_000)) for place in range(places)
        ]
    else:
        # Changes of profile are urgent, and keep the line busy while other sessions are lowered.
        uses = [tuple(Op("use", place, name=names[at % 3]) for at in range(20)) for place in range(3)]
        threads = [(Op("infer", place, inner=(Op("rest", us=50_000), *uses[place])),) for place in range(3)]
        threads += [(Op("infer", place, 60_000),) for place in range(3, places)]
    mains = frozenset(number for number in range(len(threads)) if chance.random() < 0.3)
    cores = tuple((2 * place,) for place in range(places))
    return Program(cores, ("balanced",) * places, tuple(threads), faults, mains, heartbeat=chance.random() < 0.5)


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


def _fates(chance: random.Random, length: int, *, device: bool) -> tuple[Op, ...]:
    """Return the events of the subsystem."""
    ops: list[Op] = []
    for _ in range(chance.randint(1, 1 + length // 4)):
        ops.append(Op("rest", us=chance.choice((*TIMES_US, *RESTS_US))))
        kind = chance.choice(("restart", "restart", "die", *(("spoil", "refuse", "held") if device else ())))
        ops.append(Op(kind, how=chance.choice(ANSWERS) if device else ""))
        if kind in ("die", "held", "refuse"):
            ops.append(Op("rest", us=chance.choice(RESTS_US)))
            ops.append(Op("come back" if kind != "refuse" else "allow"))
    return tuple(ops)

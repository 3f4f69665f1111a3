"""Phases of one session that are not nested: one begins within another, and ends after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.program import Op

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.demand import Client
    from simulation.phases import Phases
    from simulation.scheduler import Scheduler

# What a letter begins, in capitals, or ends.
KINDS = {"a": "infer", "b": "infer", "i": "init", "d": "deinit"}
# In which orders.
ORDERS = ("AIai", "IAia", "ADad", "DAda", "ABab", "AIDaid", "IABbia", "AIiaAa", "IDid", "DIdi", "AIBaib")


def overlap(phases: Phases, scheduler: Scheduler, client: Client, op: Op) -> None:
    """Run phases in an order of begins and ends, with some time after each."""
    session = client.session
    made: dict[str, Callable[[], Any]] = {"infer": session.inference, "init": session.init, "deinit": session.deinit}
    running: dict[str, Any] = {}
    for letter in op.how:
        name = letter.lower()
        kind = KINDS[name]
        preparing = kind != "infer"
        if name != letter:
            phase = made[kind]()
            if phases.begin(client, phase.__enter__, preparing=preparing):
                running[name] = phase
        elif name in running:
            _leave(phases, client, Op(kind, op.place), running.pop(name), preparing=preparing)
        scheduler.sleep(op.us)


def _leave(phases: Phases, client: Client, op: Op, phase: Any, *, preparing: bool) -> None:
    phases.end(client, op, lambda: phase.__exit__(None, None, None), preparing=preparing)

"""Coroutines that infer and are never gone on with: the collector closes them wherever they wait."""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any

from simulation.phases import Collected

import htppower

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from simulation.coroutines import Loop
    from simulation.demand import Client
    from simulation.phases import Phases
    from simulation.program import Op
    from simulation.scheduler import Scheduler


def abandon(phases: Phases, loop: Loop, scheduler: Scheduler, client: Client, op: Op) -> None:
    """Let a coroutine infer that is dropped after some steps, be it in its raise, its inference or its lowering."""
    client.asked += 1
    phases.vague(client)
    # Its begin may end a gap.
    client.costs.gaps += 1
    ended = Collected(phases.ends_unseen(client))
    loop.post(functools.partial(_begin, loop, scheduler, client, op, [ended]))
    del ended
    scheduler.sleep(op.us)


def _begin(loop: Loop, scheduler: Scheduler, client: Client, op: Op, ended: list[Collected]) -> None:
    coroutine = _infer(loop, scheduler, client, op)
    _go_on(loop, weakref.ref(coroutine))
    # A tuple lets go of its last element first: the coroutine is closed, then what waits for it is told.
    scheduler.collect((ended.pop(), coroutine), op.steps)


async def _infer(loop: Loop, scheduler: Scheduler, client: Client, op: Op) -> None:
    try:
        async with client.session.ainference():
            future = loop.create_future()
            scheduler.call_at(scheduler.now_us + op.us, lambda: loop.wake(future))
            await future
    except (htppower.VoteRejected, htppower.SessionClosed):
        pass


def _go_on(loop: Loop, reference: weakref.ref[Coroutine[Any, None, None]]) -> None:
    """Go on with a coroutine until it waits next, unless it is gone."""
    coroutine = reference()
    if coroutine is None:
        return
    try:
        future = coroutine.send(None)
    except StopIteration:
        return
    future._asyncio_future_blocking = False
    future.add_done_callback(lambda _: _go_on(loop, reference))

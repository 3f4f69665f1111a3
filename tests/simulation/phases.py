"""The phases of sessions as the host runs them: in a thread, in a dropped generator, by a ticket, in a coroutine."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import attrs
from simulation.demand import Ended
from simulation.tasks import Collected, SimpleQueue

import htppower

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from simulation.demand import Client
    from simulation.program import Op
    from simulation.specification import Specification
    from simulation.tasks import Task


class Phases:
    """Runs phases, and reports to the specification which sessions are in use; ``tasks`` end tickets."""

    def __init__(self, specification: Specification, run: Callable[[tuple[Op, ...]], None]) -> None:
        self._specification = specification
        self._situation = specification.situation
        self._scheduler = specification.situation.scheduler
        self._run = run
        self.tasks: list[Task] = []

    def infer(self, client: Client, op: Op) -> None:
        """Run an inference, INIT or DE-INIT."""
        session, preparing = client.session, op.kind != "infer"
        phase = session.inference() if not preparing else session.init() if op.kind == "init" else session.deinit()
        if not self.begin(client, phase.__enter__, preparing=preparing):
            return
        self._scheduler.sleep(op.us)
        self._run(op.inner)
        self.end(client, op.kind, lambda: phase.__exit__(None, None, None))

    def begin(self, client: Client, enter: Callable[[], object], *, preparing: bool = False) -> bool:
        """Begin a phase; return whether it has begun."""
        situation, scheduler = self._situation, self._scheduler
        client.begins()
        if preparing:
            # INIT and DE-INIT always need the line.
            client.open_at = -1
        asked, untroubled = client.asked, client not in self._specification.troubles
        error = self._specification.call("begin", client, enter)
        client.unsettled -= 1
        if error is not None:
            client.may_until_us = max(client.may_until_us, scheduler.now_us)
            return False
        if preparing:
            client.preparations += 1
        else:
            client.inferences += 1
        if self._specification.troubles.of(client) is None and not client.closing:
            alone = client.asked == asked + 1 and not client.unsettled and not situation.operations
            is_open = alone and not preparing and not situation.is_told and situation.must_be_up(client)
            client.open_at = client.asked if is_open else -1
        self._specification.begun(client, untroubled=untroubled)
        return True

    def end(self, client: Client, kind: str, leave: Callable[[], object]) -> None:
        """End a phase."""
        situation = self._situation
        self._end_asked(client, kind)
        if kind == "infer":
            client.inferences -= 1
        else:
            client.preparations -= 1
        asked, alone = client.asked, client.unsettled == 1 and not client.busy
        # A hold whose call has not returned may begin before or after the votes are lowered.
        before = client.possible(situation.caps)
        still_open = kind == "infer" and client.open_at == asked and not situation.operations
        error = self._specification.call("end", client, leave)
        # If no other call came meanwhile, the votes may stay up for exactly the sustain time from now on.
        alone = alone and client.asked == asked + 1 and client.unsettled == 1 and not situation.operations
        self.end_done(client, kind, alone=alone)
        if still_open and client.asked == asked + 1 and situation.must_be_up(client):
            client.open_at = client.asked
        possible = client.possible(situation.caps)
        if alone and error is None and len(possible) == 1 and possible == before:
            client.ended = Ended(kind == "deinit", client.asked, possible[0].profile.name)
            client.met = {possible[0].profile.name}

    def _end_asked(self, client: Client, kind: str) -> None:
        """Record that the end of a phase is requested: from now on the votes must stay up for the sustain time."""
        situation, now_us = self._situation, self._scheduler.now_us
        possible = client.possible(situation.caps)
        claims = (*client.holds, *situation.caps)
        steady = not situation.is_asked(client) and not client.unsettled and not client.closing
        steady = steady and all(claim.certain for claim in claims) and client not in self._specification.troubles
        if kind == "deinit" or not steady:
            client.must_until_us = 0
        elif kind == "init":
            client.must_until_us = max(client.must_until_us, now_us + min(each.after_init_us for each in possible))
        else:
            client.must_until_us = now_us + min(each.least_us for each in possible)
        client.unsettled += 1

    def end_done(self, client: Client, kind: str, *, alone: bool = False) -> None:
        """Record that a phase has ended; ``alone``: whether no other call concerned the session meanwhile."""
        client.unsettled -= 1
        client.ended = None
        kept_us, possible = 0, client.possible(self._situation.caps)
        if kind != "deinit":
            kept_us = max(each.after_init_us if kind == "init" else each.most_us for each in possible)
        until_us = self._scheduler.now_us + kept_us
        # After INIT an earlier sustain time continues. An inference and DE-INIT set a new deadline.
        client.may_until_us = until_us if alone and kind != "init" else max(client.may_until_us, until_us)
        # The specification checks at these times, even if nothing else happens then.
        self._scheduler.call_at(client.may_until_us, lambda: None)
        self._scheduler.call_at(client.must_until_us, lambda: None)

    def stream(self, client: Client, op: Op) -> None:
        """Run an inference in a generator that is dropped half-way, and collected in the task that runs then."""
        session = client.session

        def tokens() -> Iterator[int]:
            with session.inference():
                yield 1
                yield 2

        stream = tokens()
        if not self.begin(client, lambda: next(stream)):
            return
        self._scheduler.sleep(op.us)
        ended = Collected(self._loses(client))
        # A tuple releases its last element first: the generator is closed, then ``ended`` is called.
        self._scheduler.collect((ended, stream), op.steps)

    def _loses(self, client: Client) -> Callable[[], None]:
        """Record that an inference will end by itself soon; return a function to call once its end is due."""
        self._end_asked(client, "infer")
        client.must_until_us, client.ended, client.open_at = 0, None, -1
        client.inferences -= 1
        return lambda: client.endings.append(lambda: self.end_done(client, "infer"))

    def ticket(self, client: Client, op: Op) -> None:
        """Begin an inference that ends in another thread, in two threads, by its timeout, or with its ticket."""
        running, timeout_us = _Running(), op.steps or None

        def begin() -> None:
            running.ticket = client.session.begin(timeout_us=timeout_us)

        if not self.begin(client, begin):
            return
        until_us = running.ticket.until_us
        if until_us is not None:
            if until_us <= self._scheduler.now_us:
                self._expire(client, running)
            else:
                self._scheduler.call_at(until_us, lambda: self._expire(client, running))

        def end() -> None:
            self._scheduler.sleep(op.us)
            self._end_ticket(client, running)

        if op.how == "drop" and not running.ended:
            running.ended = True
            ticket, running.ticket = running.ticket, None
            ended = Collected(self._loses(client))
            self._scheduler.collect((ended, ticket), op.us % 7 + 1)
        elif op.how in ("other", "both"):
            for _ in range(1 + (op.how == "both")):
                self.tasks.append(self._scheduler.spawn(f"ends {len(self.tasks)}", end))
        elif op.how == "end":
            end()

    def _end_ticket(self, client: Client, running: _Running) -> None:
        if running.ended:
            # The documentation: "Ending it again changes nothing."
            self._specification.call("end", client, running.ticket.end)
            return
        running.ended = True
        self.end(client, "infer", running.ticket.end)
        until_us = running.ticket.until_us
        if until_us is not None and until_us <= self._scheduler.now_us:
            # The alarm may have ended the inference before, and the votes may still have to be lowered.
            client.must_until_us, client.ended = 0, None
            client.unsettled += 1
            client.endings.append(lambda: self.end_done(client, "infer"))

    def _expire(self, client: Client, running: _Running) -> None:
        if not running.ended:
            running.ended = True
            self._loses(client)()


@attrs.define
class _Running:
    """A ticket, and whether its end was requested, or has happened by itself."""

    ticket: Any = None
    ended: bool = False


class Loop:
    """An event loop on a task, with the methods that futures and tasks need. It cancels coroutines at odd moments."""

    def __init__(self, specification: Specification, phases: Phases) -> None:
        self._scheduler = specification.situation.scheduler
        self._specification = specification
        self._phases = phases
        self._due = SimpleQueue(self._scheduler)
        self._started = False
        self._as_loop = cast("asyncio.AbstractEventLoop", self)

    def infer(self, client: Client, op: Op) -> None:
        """Let a coroutine infer; it is cancelled after a while."""
        if not self._started:
            self._started = True
            self._scheduler.spawn("loop", self._work, daemon=True)
        self._due.put(lambda: self._begin(client, op))
        self._scheduler.sleep(op.us)

    def get_debug(self) -> bool:
        """Return False."""
        return False

    is_closed = get_debug

    def create_future(self) -> asyncio.Future[Any]:
        """Return a future of this loop."""
        return asyncio.Future(loop=self._as_loop)

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Any = None) -> Any:
        """Call a function on the loop's task."""
        run = callback if context is None else context.run
        arguments = args if context is None else (callback, *args)
        self._due.put(lambda: run(*arguments))

    call_soon_threadsafe = call_soon

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Raise an exception that no coroutine has handled, unless the run has ended and left its tasks."""
        if not self._scheduler.over:
            raise RuntimeError(f"the loop was told of {context}")

    def _work(self) -> None:
        while True:
            action = self._due.get()
            asyncio._set_running_loop(self._as_loop)  # noqa: SLF001 - for authors of loops, says its docstring
            try:
                action()
            finally:
                asyncio._set_running_loop(None)  # noqa: SLF001 - as above
                # A waiting task must not keep alive what it ran.
                del action

    def _begin(self, client: Client, op: Op) -> None:
        task = asyncio.Task(self._infer(client, op), loop=self._as_loop)
        self._scheduler.call_at(self._scheduler.now_us + op.steps, lambda: self._due.put(task.cancel))

    async def _infer(self, client: Client, op: Op) -> None:
        inference = client.session.ainference()
        client.begins()
        client.asked += 1
        try:
            await inference.__aenter__()
        except (asyncio.CancelledError, htppower.VoteRejected, htppower.SessionClosed):
            # A raise that is under way continues, and is lowered after it.
            client.endings.append(lambda: self._phases.end_done(client, "infer"))
            return
        client.unsettled -= 1
        client.inferences += 1
        self._specification.begun(client)
        try:
            future = self.create_future()
            self._scheduler.call_at(self._scheduler.now_us + op.us, lambda: self._due.put(lambda: _set(future)))
            await future
        except asyncio.CancelledError:
            pass
        client.must_until_us = 0
        client.unsettled += 1
        client.inferences -= 1
        client.asked += 1
        try:
            await inference.__aexit__(None, None, None)
        except (asyncio.CancelledError, htppower.VoteRejected):
            pass
        finally:
            self._phases.end_done(client, "infer")


def _set(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)

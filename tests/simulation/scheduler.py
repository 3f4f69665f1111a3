"""The scheduler: one task goes on at a time, and at every point a choice says which.

A task is a greenlet. It goes on until it comes to a *point* (a lock, a queue, an alarm, the begin or end of a native
call, and, where lines are instrumented, each statement), or until it *blocks*. Time is virtual: it moves when nobody
can go on, or by choice, which then means that whoever could go on is slow.
"""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING

from greenlet import GreenletExit, getcurrent, greenlet
from simulation.clock import Clock
from simulation.collector import Collector
from simulation.tasks import Task, Violation, end, told, who_waits
from simulation.turns import Turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simulation.choices import Choices
    from simulation.timers import Timer

# A run that makes this many steps while time stands still goes round in a circle.
MOST_STEPS_AT_ONCE = 100_000
# A task is slow no more often in a run: alarms would ring faster than what they ask for is done, for ever.
MOST_SLOW = 200
NEVER = 1 << 62


class Scheduler:
    """Runs tasks, one at a time.

    Args:
        choices: who goes on.
        fine: whether every instrumented statement is a point, too.
        coarse: whether only that is a point after which something may happen that another task's steps depend on.
            Giving back is none: the next taking is, and between the two nothing happens that others see. Neither is
            taking a lock that the task holds, or one that only orders events. Who goes on: see ``Turns``.
        traced: whether to keep a trace.

    Attributes:
        clock: the virtual time.
        steps: how many points were passed and waits begun.
        current: the task that runs.
        turns: the tasks that could go on, and who of them does.
        collecting: whether an object is being garbage collected: no lock may be taken then.
        over: whether the run has ended; whatever runs still only unwinds.
        failure: what went wrong first.
        prompt: whether nobody is slow: time moves only when nobody can go on.
        quiet: is called when nobody can go on, before time moves; it may raise ``Violation``. It returns whether the
            time that goes by then counts as idle.
        interrupts: is called with a task as KeyboardInterrupt is raised in it.
        trace: who went on and what happened, if it is kept.
    """

    def __init__(self, choices: Choices, *, fine: bool = False, coarse: bool = False, traced: bool = False) -> None:
        self.clock = Clock()
        self.turns = Turns(choices, coarse=coarse)
        self.steps = 0
        self.fine = fine
        self.coarse = coarse
        self.tasks: list[Task] = []
        self.collecting = False
        self.prompt = False
        self.over = False
        self.failure: Violation | None = None
        self.quiet: Callable[[], bool] = lambda: True
        self.interrupts: Callable[[Task], object] = lambda _task: None
        self.trace: list[str] | None = [] if traced else None
        self._choices = choices
        self._hub = getcurrent()
        self._starter = greenlet(self._start)
        self.current = self.turns.nobody
        self._collector = Collector(self)
        self._numbers = itertools.count(1)
        self._foreground = 0
        self._next_stop = min(choices.next_step, MOST_STEPS_AT_ONCE)
        self._steps_at_move = 0
        self._slow = 0

    @property
    def now_us(self) -> int:
        """The virtual time."""
        return self.clock.now_us

    def spawn(
        self,
        name: str,
        run: Callable[[], object],
        *,
        daemon: bool = False,
        queued: bool = False,
        serves: bool = False,
    ) -> Task:
        """Make a task, which is ready; the run ends when every task that is no daemon has ended.

        Args:
            name: what the trace calls it.
            run: what it does.
            daemon: whether the run does not wait for its end.
            queued: whether, with coarse steps, it begins after those that were made so before.
            serves: whether it only hands on what is in a queue of its own.
        """
        task = Task(name, next(self._numbers), daemon=daemon)
        task.greenlet = greenlet(lambda: self._run_task(task, run), parent=self._hub)
        self.tasks.append(task)
        self._foreground += not daemon
        self.turns.ready.append(task)
        if queued and self.coarse:
            task.queued = True
        task.serves = serves
        self._let_go_on(task)
        return task

    def run(self) -> None:
        """Run until every task that is no daemon has ended and nobody else can go on, or until something fails."""
        try:
            while not self.over:
                task = self._take_next()
                if task is None:
                    break
                self._enter(task)
        finally:
            self.over = True
            self.current = self.turns.nobody
            self._starter.throw(GreenletExit)
            for task in self.tasks:
                self.current = task
                end(task)

    def point(self, *, interrupts: bool = True) -> None:
        """Let the choices say who goes on; an interrupt may come here, too, unless told otherwise."""
        self.steps += 1
        task = self.current
        if interrupts and task.interrupt_in:
            self._count_down(task)
        if self.steps >= self._next_stop:
            self._decide(task)

    def block(self, on: object, timeout_us: int | None = None) -> bool:
        """Wait until the task is woken; return False where the time was over before."""
        task = self.current
        if self.over:
            raise GreenletExit
        if self.collecting:
            self.fail(Violation("nothing that the collector runs waits", f"{task} waits for {on}"))
        self.steps += 1
        if task.interrupt_in:
            self._count_down(task)
        timed_out = False
        task.waits_for = on

        def time_is_over() -> None:
            nonlocal timed_out
            timed_out = task.waits_for is on
            self.wake(task)

        timer = None if timeout_us is None else self.call_at(self.now_us + timeout_us, time_is_over)
        following = self._take_next()
        if following is None:
            self._hub.switch()
        elif following is not task:
            self._enter(following)
        if timer is not None:
            timer.clear()
        if self.over:
            raise GreenletExit
        return not timed_out

    def wake(self, task: Task) -> None:
        """Let a task that waits go on."""
        if task.waits_for is not None:
            task.waits_for = None
            self.turns.ready.append(task)
            self._let_go_on(task)

    def let_choose(self, choosing: bool) -> None:
        """Ask the choices who goes on from now on, or no longer."""
        self.turns.choosing = choosing
        self._next_stop = 0

    def sleep(self, duration_us: int) -> None:
        """Let time go by."""
        self.point()
        if duration_us > 0:
            self.block("time", duration_us)

    def call_at(self, time_us: int, action: Callable[[], None]) -> Timer:
        """Call at a time, as part of nobody's steps; ``clear`` what is returned to take it back."""
        return self.clock.call_at(time_us, next(self._numbers), action)

    def collect(self, thing: object, in_steps: int, watched: Iterable[object] = ()) -> None:
        """Drop an object that nobody else refers to in some steps, in whatever task runs then, as a collector does.

        Args:
            thing: the object.
            in_steps: in how many.
            watched: what must be gone then, at the latest when what is in cycles is collected, too.
        """
        self._collector.add(self.steps + in_steps, thing, watched)
        self._next_stop = 0

    def fail(self, violation: Violation) -> None:
        """End the run: something does not hold."""
        if self.over:
            raise GreenletExit
        self.failure = violation
        self.over = True
        if getcurrent() is self._hub:
            raise violation
        self._hub.switch()
        raise GreenletExit

    def note(self, text: str) -> None:
        """Add a line to the trace, if one is kept."""
        if self.trace is not None:
            self.trace.append(f"{self.now_us:>12,} us  step {self.steps:>7,}  {self.current.name:<22}  {text}")

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Look at the program under test without being a part of it: nothing in here is a point."""
        current, stop, fine = self.current, self._next_stop, self.fine
        self.current, self._next_stop, self.fine = self.turns.nobody, NEVER, False
        try:
            yield
        finally:
            self.current, self._next_stop, self.fine = current, min(stop, self._next_stop), fine

    def _run_task(self, task: Task, run: Callable[[], object]) -> None:
        try:
            if task.queued:
                task.queued = False
                # Another may overtake it before it does anything.
                self.point()
            run()
        except GreenletExit:
            pass
        except BaseException as error:  # noqa: BLE001 - a thread that dies is what is looked for
            if not self.over:
                self.failure = error if isinstance(error, Violation) else Violation("no thread dies", told(task, error))
                self.failure.__cause__ = None if error is self.failure else error
                self.over = True
        task.done = True
        self._foreground -= not task.daemon
        for waiter in tuple(task.waiters):
            self.wake(waiter)

    def _let_go_on(self, task: Task) -> None:
        """Let a task that serves go on at the next point, also where the choices need not be asked there."""
        if task.serves and self.coarse:
            self._next_stop = 0

    def _count_down(self, task: Task) -> None:
        task.interrupt_in -= 1
        if not task.interrupt_in and not self.collecting:
            self.note("KeyboardInterrupt")
            self.interrupts(task)
            raise KeyboardInterrupt

    def _decide(self, task: Task) -> None:
        if self.over or self.collecting or task is self.turns.nobody:
            return
        self._collector.collect(self.steps)
        if self.steps - self._steps_at_move > MOST_STEPS_AT_ONCE:
            self.fail(
                Violation("no livelock", f"{MOST_STEPS_AT_ONCE:,} steps at {self.now_us} us; {who_waits(self.tasks)}")
            )
        serves = self.coarse and task.serves
        if self.coarse and not serves:
            self._let_serve(task)
        asks = self.turns.choosing and not serves
        following = self._pick(task) if asks else task
        soon = self._choices.next_step if self.turns.choosing else NEVER
        self._next_stop = 0 if self._collector.waits else min(soon, self._steps_at_move + MOST_STEPS_AT_ONCE)
        if following is not task:
            self._enter(following)
            if self.over:
                raise GreenletExit

    def _pick(self, task: Task) -> Task:
        """Return who goes on at a point of a task that could."""
        turns = self.turns
        may_be_slow = not self.prompt and self._slow < MOST_SLOW
        following = turns.pick_at(self.steps, task, clock=bool(self.clock) and may_be_slow)
        if following is task:
            return task
        if following is not None:
            turns.ready.append(task)
            return following
        self.note("is slow")
        self._slow += 1
        self._move_on()
        if not turns.ready:
            return task
        turns.ready.append(task)
        if self.coarse:
            return self._take_next() or task
        return turns.ready.pop(-2)

    def _let_serve(self, task: Task) -> None:
        """Let the tasks go on that serve, and then the running one again."""
        serving = self.turns.take_serving()
        if serving is not None:
            self.turns.interrupted(task)
            self._enter(serving)
            if self.over:
                raise GreenletExit

    def _take_next(self) -> Task | None:
        """Choose who goes on where the one that ran can't; move time on where nobody can."""
        interrupted = self.turns.take_interrupted()
        if interrupted is not None:
            return interrupted
        while not self.turns.ready:
            if self._collector.waits:
                self._collector.collect(NEVER)
                continue
            try:
                idle = self.quiet()
            except Violation as violation:
                if not self.over:
                    self.failure, self.over = violation, True
                return None
            if not self._foreground:
                return None
            if not self.clock:
                self.failure, self.over = Violation("no deadlock", who_waits(self.tasks)), True
                return None
            since_us = self.now_us
            self._move_on()
            self.clock.nobody_was_slow(since_us, idle=idle)
        return self.turns.pick_next(self.steps)

    def _move_on(self) -> None:
        """Move time on. No alarm is a part of the task that runs, nor is what is let go of as it has rung."""
        self._steps_at_move = self.steps
        with self.watching():
            self.clock.move()

    @staticmethod
    def _start(task: greenlet) -> None:
        """Enter tasks for the first time: a greenlet counts its recursion on from the depth where that is done."""
        while True:
            task = task.switch()

    def _enter(self, task: Task) -> None:
        before = self.current
        self.current = task
        assert task.greenlet is not None
        if task.greenlet:
            task.greenlet.switch()
        else:
            self._starter.switch(task.greenlet)
        # Back in the task, or in the hub, that has left off here.
        self.current = before

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
from simulation.accesses import CLOCK, READ, WRITTEN, touch
from simulation.collector import Collector
from simulation.tasks import Task, Violation, told, who_waits
from simulation.timers import Timer, Timers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simulation.choices import Choices
    from simulation.locks import Lock

# A run that makes this many steps while time stands still goes round in a circle.
MOST_STEPS_AT_ONCE = 100_000
NEVER = 1 << 62


class Scheduler:
    """Runs tasks, one at a time.

    Args:
        choices: who goes on.
        fine: whether every instrumented statement is a point, too.
        coarse: whether only that is a point after which something may happen that another task's steps depend on.
            Giving back is none: the next taking is, and between the two nothing happens that others see. Neither is
            taking a lock that the task holds, or one that only orders events. A task that serves goes on at once, one
            that is last only where nobody else can. Who is ready stands in the order of the tasks' paths.
        traced: whether to keep a trace.

    Attributes:
        now_us: the virtual time.
        steps: how many points were passed and waits begun.
        current: the task that runs.
        ready: the tasks that could go on.
        collecting: whether an object is being garbage collected: no lock may be taken then.
        over: whether the run has ended; whatever runs still only unwinds.
        failure: what went wrong first.
        prompt: whether nobody is slow: time moves only when nobody can go on.
        choosing: whether the choices are asked; otherwise the running task goes on, or the first that is ready.
        quiet: is called when nobody can go on, before time moves; it may raise ``Violation``. It returns whether the
            time that goes by then counts as idle.
        prompt_us: the time in which nobody was slow.
        idle_us: of that, the time in which nothing was under way.
        trace: who went on and what happened, if it is kept.
    """

    def __init__(self, choices: Choices, *, fine: bool = False, coarse: bool = False, traced: bool = False) -> None:
        self.now_us = 0
        self.steps = 0
        self.fine = fine
        self.coarse = coarse
        self.ready: list[Task] = []
        self.tasks: list[Task] = []
        self.collecting = False
        self.prompt = False
        self.choosing = True
        self.over = False
        self.failure: Violation | None = None
        self.quiet: Callable[[], bool] = lambda: True
        self.prompt_us = self.idle_us = 0
        self.trace: list[str] | None = [] if traced else None
        self._choices = choices
        self._hub = getcurrent()
        self._preempted: Task | None = None
        self._nobody = Task("nobody", 0, daemon=True)
        self.current = self._nobody
        # Whose step it is: the clock, or the task that was chosen last; one that serves only goes on with it.
        self._clock = Task("clock", -1, daemon=True)
        self._author = self._nobody
        self._timers = Timers()
        self._collector = Collector(self)
        self._numbers = itertools.count(1)
        self._foreground = 0
        self._next_stop = min(choices.next_step, MOST_STEPS_AT_ONCE)
        self._steps_at_move = 0

    def spawn(self, name: str, run: Callable[[], object], *, daemon: bool = False) -> Task:
        """Make a task, which is ready; the run ends when every task that is no daemon has ended."""
        task = Task(name, next(self._numbers), daemon=daemon)
        task.path = self._author.next_path() if self.coarse else (task.number,)
        self._choices.born(task, self._author)
        task.greenlet = greenlet(lambda: self._run_task(task, run), parent=self._hub)
        self.tasks.append(task)
        self._foreground += not daemon
        self.ready.append(task)
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
            self.current = self._nobody
            for task in self.tasks:
                self._kill(task)

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
            self.ready.append(task)

    def sleep(self, duration_us: int) -> None:
        """Let time go by."""
        self.point()
        if duration_us > 0:
            self.block("time", duration_us)

    def call_at(self, time_us: int, action: Callable[[], None]) -> Timer:
        """Call at a time, as part of nobody's steps; ``clear`` what is returned to take it back."""
        touch(CLOCK, READ)
        place = self._author.next_path() if self.coarse else (next(self._numbers),)
        return self._timers.add(max(time_us, self.now_us), place, action)

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
        self.current, self._next_stop, self.fine = self._nobody, NEVER, False
        try:
            yield
        finally:
            self.current, self._next_stop, self.fine = current, stop, fine

    def _run_task(self, task: Task, run: Callable[[], object]) -> None:
        try:
            run()
        except GreenletExit:
            pass
        except BaseException as error:  # noqa: BLE001 - a thread that dies is what is looked for
            if not self.over:
                self.failure = error if isinstance(error, Violation) else Violation("no thread dies", told(task, error))
                self.failure.__cause__ = None if error is self.failure else error
                self.over = True
        task.done = True
        touch(task, WRITTEN)
        self._foreground -= not task.daemon
        for waiter in tuple(task.waiters):
            self.wake(waiter)

    def _count_down(self, task: Task) -> None:
        task.interrupt_in -= 1
        if not task.interrupt_in and not self.collecting:
            self.note("KeyboardInterrupt")
            raise KeyboardInterrupt

    def _decide(self, task: Task) -> None:
        if self.over or self.collecting or task is self._nobody:
            return
        self._collector.collect(self.steps)
        if self.steps - self._steps_at_move > MOST_STEPS_AT_ONCE:
            self.fail(
                Violation("no livelock", f"{MOST_STEPS_AT_ONCE:,} steps at {self.now_us} us; {who_waits(self.tasks)}")
            )
        if self.coarse and (task.serves or self._serve(task)):
            return
        if not self.choosing:
            return
        following = self._pick(task)
        soon = self._choices.next_step, self._steps_at_move + MOST_STEPS_AT_ONCE
        self._next_stop = 0 if self._collector.waits else min(soon)
        if following is not task:
            self._enter(following)
            if self.over:
                raise GreenletExit

    def _pick(self, task: Task) -> Task:
        """Return who goes on at a point of a task that could."""
        ready = self.choices_now()
        clock = bool(self._timers) and not self.prompt
        pick = self._choices.pick(self.steps, len(ready), clock=clock, forced=False) if ready or clock else 0
        if not pick:
            return self._goes_on(task)
        if pick > len(ready):
            self.note("is slow")
            self._move_on()
            if not self.ready:
                return self._goes_on(task)
            self.ready.append(task)
            if self.coarse:
                return self._take_next() or task
            return self.ready.pop(-2)
        following = ready[pick - 1]
        self.ready.remove(following)
        self.ready.append(task)
        return self._goes_on(following)

    def choices_now(self) -> list[Task]:
        """Return the tasks that could go on, as they are chosen from."""
        if not self.coarse:
            return self.ready
        return sorted([each for each in self.ready if not each.last] or self.ready, key=lambda each: each.path)

    def held(self) -> Iterator[Lock]:
        """Yield the locks that are held."""
        return (lock for task in self.tasks for lock in task.held)

    def _goes_on(self, task: Task) -> Task:
        if self.coarse:
            self._author = task
            if self.choosing:
                self._choices.step_begins(task)
        return task

    def _serve(self, task: Task) -> bool:
        """Let the tasks go on that serve, and then the running one again; return whether the run is over."""
        serving = next((place for place, each in enumerate(self.ready) if each.serves), None)
        if serving is not None:
            self._preempted = task
            self._enter(self.ready.pop(serving))
            if self.over:
                raise GreenletExit
        return False

    def _take_next(self) -> Task | None:
        """Choose who goes on where the one that ran can't; move time on where nobody can."""
        if self._preempted is not None and not any(task.serves for task in self.ready):
            preempted, self._preempted = self._preempted, None
            return preempted
        while not self.ready:
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
            if not self._timers:
                self.failure, self.over = Violation("no deadlock", who_waits(self.tasks)), True
                return None
            began_us = self.now_us
            self._move_on()
            self.prompt_us += self.now_us - began_us
            self.idle_us += (self.now_us - began_us) * idle
        if self.coarse:
            serving = next((place for place, task in enumerate(self.ready) if task.serves), None)
            if serving is not None:
                return self.ready.pop(serving)
        ready = self.choices_now()
        asked = self.choosing and len(ready) > 1
        pick = self._choices.pick(self.steps, len(ready), clock=False, forced=True) if asked else 0
        following = ready[min(pick, len(ready) - 1)]
        self.ready.remove(following)
        return self._goes_on(following)

    def _move_on(self) -> None:
        """Move to the next timer, and let all that are due then ring."""
        self._steps_at_move = self.steps
        self._goes_on(self._clock)
        touch(CLOCK, WRITTEN)
        self.now_us = self._timers.next_us
        self._timers.ring(self.now_us)

    def _enter(self, task: Task) -> None:
        before = self.current
        self.current = task
        assert task.greenlet is not None
        task.greenlet.switch()
        # Back in the task, or in the hub, that has left off here.
        self.current = before

    def _kill(self, task: Task) -> None:
        for _ in range(100):
            if task.greenlet is None or task.greenlet.dead:
                break
            self.current = task
            task.interrupt_in = 0
            task.greenlet.throw(GreenletExit)
        task.greenlet = None

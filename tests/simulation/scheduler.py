"""The scheduler: one task runs at a time, and at every point a choice decides which task runs next.

A task is a greenlet. It runs until it comes to a *point* (it takes a lock, or makes a native call), or until it
*blocks*. Time is virtual: it moves when no task can run, or by choice, which means that the running task is slow.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
from typing import TYPE_CHECKING

from greenlet import GreenletExit, getcurrent, greenlet
from simulation.tasks import Collector, Task, Timer, Violation, death

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simulation.choices import Choices

# After this many steps at one virtual time, the tasks run in turn.
MOST_STEPS_AT_ONCE = 20_000
# Limits how often a task is slow in a run. Otherwise alarms could forever ring faster than their work is done.
MOST_SLOW = 200
NEVER = 1 << 62


class Scheduler:
    """Runs tasks, one at a time. The choices decide which.

    Attributes:
        now_us: the virtual time; ``idle_us``: the part without a task that could run and without a native call.
        steps: how many points and waits there were.
        collecting: whether an object is being garbage collected: no lock may be taken then.
        over: whether the run has ended, so that the tasks only unwind.
        prompt: whether no task is slow, so that time moves only if no task can run.
        choosing: whether the choices decide. Otherwise the running task continues, or else the first ready task.
        quiet: called when no task can run, before time moves. It returns whether the time until then counts as idle.
    """

    def __init__(self, choices: Choices, *, traced: bool = False) -> None:
        self.now_us = self.idle_us = self.steps = 0
        self.tasks: list[Task] = []
        self.ready: list[Task] = []
        self.collecting = self.over = self.prompt = False
        self.choosing = True
        self.failure: Violation | None = None
        self.quiet: Callable[[], bool] = lambda: True
        self.trace: list[str] | None = [] if traced else None
        self.nobody = Task("nobody", 0, daemon=True)
        self.current = self.nobody
        self._choices = choices
        self._hub = getcurrent()
        self._collector = Collector(self)
        self._numbers = itertools.count(1)
        self._timers: list[tuple[int, int, Timer]] = []
        self._foreground = self._steps_at_move = self._slow = 0
        self._next_stop = min(choices.next_step, MOST_STEPS_AT_ONCE)

    def spawn(
        self, name: str, run: Callable[[], object], *, daemon: bool = False, main: bool = False, last: bool = False
    ) -> Task:
        """Make a task, which is ready."""
        task = Task(name, next(self._numbers), daemon=daemon, main=main, last=last)
        task.greenlet = greenlet(lambda: self._run_task(task, run), parent=self._hub)
        self.tasks.append(task)
        self._foreground += not daemon
        self.ready.append(task)
        return task

    def run(self) -> None:
        """Run until all tasks have ended, except for daemons, or until a rule is broken."""
        try:
            task = self._take_next()
            while task is not None and not self.over:
                self.current = task
                # A task that blocks says which task is next; a task that ends does not.
                following = task.greenlet.switch()
                task = following or (None if self.over else self._take_next())
        finally:
            self.over = True
            for each in self.tasks:
                self.current = each
                each.end()

    def point(self) -> None:
        """Let the choices say which task runs next."""
        self.steps += 1
        if self.steps >= self._next_stop:
            self._decide(self.current)

    def block(self, on: object, timeout_us: int | None = None) -> bool:
        """Wait until the task is woken; return False if the timeout is over before."""
        task = self.current
        if self.over:
            raise GreenletExit
        if self.collecting:
            self.fail(Violation("a finalizer waits for nothing", f"{task} waits for {on}"))
        timed_out = False
        task.waits_for, task.waits_since = on, self.steps

        def time_is_over() -> None:
            nonlocal timed_out
            timed_out = task.waits_for is on
            self.wake(task)

        timer = None if timeout_us is None else self.call_at(self.now_us + timeout_us, time_is_over)
        self._switch(self._take_next())
        if timer is not None:
            timer.clear()
        return not timed_out

    def wake(self, task: Task) -> None:
        """Make a waiting task ready."""
        if task.waits_for is not None:
            task.waits_for = None
            self.ready.append(task)

    def join(self, task: Task) -> None:
        """Wait for the end of a task."""
        if not task.done:
            task.waiters.append(self.current)
            self.block(f"the end of {task}")

    def let_choose(self, choosing: bool) -> None:
        """Begin, or stop, to use the choices."""
        self.choosing = choosing
        self._next_stop = 0

    def sleep(self, duration_us: int) -> None:
        """Wait for some time; return at once if that is 0."""
        if duration_us > 0:
            self.block("time", duration_us)

    def call_at(self, time_us: int, action: Callable[[], object]) -> Timer:
        """Call an action at a time, outside of every task's steps."""
        timer = Timer(action)
        heapq.heappush(self._timers, (max(time_us, self.now_us), next(self._numbers), timer))
        return timer

    def collect(self, thing: object, in_steps: int, watched: Iterable[object] = ()) -> None:
        """Drop the last reference to an object in some steps, as the garbage collector would, in the running task.

        ``watched``: objects that must be gone after that, once cycles are collected.
        """
        self._collector.add(self.steps + in_steps, thing, watched)
        self._next_stop = 0

    def fail(self, violation: Violation) -> None:
        """End the run, because a rule is broken."""
        if self.over:
            raise GreenletExit
        self.failure = violation
        self.over = True
        if getcurrent() is self._hub:
            raise violation
        self._switch(None)

    def note(self, *words: object) -> None:
        """Add a line to the trace, if a trace is kept."""
        if self.trace is not None:
            said = " ".join(map(str, words))
            self.trace.append(f"{self.now_us:>12,} us  step {self.steps:>6,}  {self.current.name:<18}  {said}")

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Read the program under test without taking part in it: this context has no points."""
        current, stop = self.current, self._next_stop
        self.current, self._next_stop = self.nobody, NEVER
        try:
            yield
        finally:
            self.current, self._next_stop = current, min(stop, self._next_stop)

    def _switch(self, following: Task | None) -> None:
        """Let another task run; None ends the run."""
        if following is not self.current:
            self._hub.switch(following)
        if self.over:
            raise GreenletExit

    def _run_task(self, task: Task, run: Callable[[], object]) -> None:
        try:
            run()
        except GreenletExit:
            pass
        except BaseException as error:  # noqa: BLE001 - a thread that dies is a finding
            if not self.over:
                self.over = True
                self.failure = error if isinstance(error, Violation) else death(task, error)
        task.done = True
        self._foreground -= not task.daemon
        for waiter in task.waiters:
            self.wake(waiter)

    def _decide(self, task: Task) -> None:
        if self.over or self.collecting or task is self.nobody:
            return
        self._collector.collect(self.steps)
        if self.steps - self._steps_at_move > MOST_STEPS_AT_ONCE:
            details = f"{MOST_STEPS_AT_ONCE:,} steps at {self.now_us} us; {self._waiting()}"
            self.fail(Violation("no livelock", details))
        following = self._pick(task) if self.choosing else task
        soon = self._choices.next_step if self.choosing else NEVER
        self._next_stop = 0 if self._collector.waits else min(soon, self._steps_at_move + MOST_STEPS_AT_ONCE)
        self._switch(following)

    def _choices_now(self) -> list[Task]:
        """Return the ready tasks, the oldest first."""
        return sorted((each for each in self.ready if not each.last), key=lambda each: each.number)

    def _pick(self, task: Task) -> Task:
        """Return the task that runs after a point of a task."""
        ready = self._choices_now()
        may_be_slow = not self.prompt and self._slow < MOST_SLOW and self._has_timers()
        asks = ready or may_be_slow
        pick = self._choices.pick(self.steps, len(ready), clock=may_be_slow, forced=False) if asks else 0
        if not pick:
            return task
        if pick <= len(ready):
            following = ready[pick - 1]
        else:
            self.note("is slow")
            self._slow += 1
            self._move_on()
            following = next(iter(self._choices_now()), task)
        if following is not task:
            self.ready.remove(following)
            self.ready.append(task)
        return following

    def _take_next(self) -> Task | None:
        """Return the task that runs after a task that can't continue; move time if no task can. None ends the run."""
        self.steps += 1
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
            if not self._has_timers():
                self.failure, self.over = Violation("no deadlock", self._waiting()), True
                return None
            since_us = self.now_us
            self._move_on()
            self.idle_us += (self.now_us - since_us) * idle
        ready = self._choices_now() or self.ready[:1]
        asks = self.choosing and len(ready) > 1
        pick = self._choices.pick(self.steps, len(ready), clock=False, forced=True) if asks else 0
        following = ready[min(pick, len(ready) - 1)]
        self.ready.remove(following)
        return following

    def _has_timers(self) -> bool:
        while self._timers and self._timers[0][2].action is None:
            heapq.heappop(self._timers)
        return bool(self._timers)

    def _move_on(self) -> None:
        """Move time to the next timer, and call all timers of that time."""
        self._steps_at_move = self.steps
        with self.watching():
            self.now_us = self._timers[0][0]
            while self._timers and self._timers[0][0] <= self.now_us:
                timer = heapq.heappop(self._timers)[2]
                if timer.action is not None:
                    timer.action()

    def _waiting(self) -> str:
        """Return what each task waits for and holds, except for idle daemons."""
        lines = []
        for task in self.tasks:
            if task.done or (task.daemon and not task.held):
                continue
            holder = getattr(task.waits_for, "owner", None)
            held = f", held by {holder}" if holder is not None else ""
            holds = f", and holds {', '.join(map(str, task.held))}" if task.held else ""
            state = "goes on" if task.waits_for is None else f"waits for {task.waits_for}{held}"
            lines.append(f"{task} {state}{holds}")
        return "; ".join(lines)

"""The scheduler: one task goes on at a time, and at every point a choice says which.

A task is a greenlet. It goes on until it comes to a *point* (a lock, the begin or the end of a native call), or until
it *blocks*. Time is virtual: it moves when no task can go on, or by choice, which means that the running task is slow.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
from typing import TYPE_CHECKING

from greenlet import GreenletExit, getcurrent, greenlet
from simulation.collector import Collector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simulation.choices import Choices

# A run that makes this many steps while time stands still goes round in a circle.
MOST_STEPS_AT_ONCE = 20_000
# A task is slow no more often in a run: otherwise alarms ring faster than their work is done, for ever.
MOST_SLOW = 200
NEVER = 1 << 62


class Violation(AssertionError):  # noqa: N818 - reads as what it is
    """A rule that does not hold.

    Args:
        rule: which, in a few words that stay the same from run to run.
        details: how it came about this time.
    """

    def __init__(self, rule: str, details: str) -> None:
        self.rule = rule
        self.details = details
        super().__init__(f"{rule}: {details}")


class Task:
    """A thread of the program under test.

    Attributes:
        name: what the trace calls it.
        number: one more than the task made before it.
        main: whether the controller takes it for the main thread.
        last: whether it goes on only if no other task can.
        waits_for: what it waits for, None while it can go on.
        held: the locks that it holds, in the order in which it took them.
        done: whether it has ended.
        waiters: the tasks that wait for its end.
    """

    __slots__ = ("daemon", "done", "greenlet", "held", "last", "main", "name", "number", "waiters", "waits_for")

    def __init__(self, name: str, number: int, *, daemon: bool = False, main: bool = False, last: bool = False) -> None:
        self.name = name
        self.number = number
        self.daemon = daemon
        self.main = main
        self.last = last
        self.greenlet: greenlet | None = None
        self.waits_for: object | None = None
        self.held: list[object] = []
        self.done = False
        self.waiters: list[Task] = []

    def __repr__(self) -> str:
        """Return its name."""
        return self.name


class Timer:
    """An action to be called once; nothing if it was taken back."""

    __slots__ = ("action",)

    def __init__(self, action: Callable[[], object] | None) -> None:
        self.action = action

    def clear(self) -> None:
        """Take it back."""
        self.action = None


class Scheduler:
    """Runs tasks, one at a time.

    Args:
        choices: says which task goes on.
        traced: whether to keep a trace.

    Attributes:
        now_us: the virtual time.
        idle_us: how much of it went by while no task could go on and no native call was under way.
        steps: how many points were passed and waits begun.
        current: the task that runs.
        collecting: whether an object is being garbage collected: no lock may be taken then.
        over: whether the run has ended; what runs still only unwinds.
        failure: the first rule that was broken.
        prompt: whether no task is slow: time moves only when no task can go on.
        choosing: whether the choices are asked; otherwise the running task goes on, or the first that is ready.
        quiet: called when no task can go on, before time moves; it may raise ``Violation``. It returns whether the time
            that goes by then counts as idle.
        trace: what happened, if it is kept.
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
        self._starter = greenlet(self._start)
        self._collector = Collector(self)
        self._numbers = itertools.count(1)
        self._timers: list[tuple[int, int, Timer]] = []
        self._foreground = self._steps_at_move = self._slow = 0
        self._next_stop = min(choices.next_step, MOST_STEPS_AT_ONCE)

    def spawn(
        self, name: str, run: Callable[[], object], *, daemon: bool = False, main: bool = False, last: bool = False
    ) -> Task:
        """Make a task, which is ready; the run ends when every task but the daemons has ended."""
        task = Task(name, next(self._numbers), daemon=daemon, main=main, last=last)
        task.greenlet = greenlet(lambda: self._run_task(task, run), parent=self._hub)
        self.tasks.append(task)
        self._foreground += not daemon
        self.ready.append(task)
        return task

    def run(self) -> None:
        """Run until every task but the daemons has ended and no other can go on, or until a rule is broken."""
        try:
            while not self.over:
                task = self._take_next()
                if task is None:
                    break
                self._enter(task)
        finally:
            self.over = True
            self.current = self.nobody
            self._starter.throw(GreenletExit)
            for task in self.tasks:
                self.current = task
                _end(task)

    def point(self) -> None:
        """Let the choices say which task goes on."""
        self.steps += 1
        if self.steps >= self._next_stop:
            self._decide(self.current)

    def block(self, on: object, timeout_us: int | None = None) -> bool:
        """Wait until the task is woken; return False if the time was over before."""
        task = self.current
        if self.over:
            raise GreenletExit
        if self.collecting:
            self.fail(Violation("a finalizer waits for nothing", f"{task} waits for {on}"))
        self.steps += 1
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

    def join(self, task: Task) -> None:
        """Wait for the end of a task."""
        if not task.done:
            task.waiters.append(self.current)
            self.block(f"the end of {task}")

    def let_choose(self, choosing: bool) -> None:
        """Ask the choices from now on, or no longer."""
        self.choosing = choosing
        self._next_stop = 0

    def sleep(self, duration_us: int) -> None:
        """Let time go by."""
        self.point()
        if duration_us > 0:
            self.block("time", duration_us)

    def call_at(self, time_us: int, action: Callable[[], object]) -> Timer:
        """Call at a time, as part of no task's steps; ``clear`` the returned timer to take it back."""
        timer = Timer(action)
        heapq.heappush(self._timers, (max(time_us, self.now_us), next(self._numbers), timer))
        return timer

    def collect(self, thing: object, in_steps: int, watched: Iterable[object] = ()) -> None:
        """Drop an object that nothing else refers to in some steps, in the task that runs then.

        ``watched``: objects that must be gone then, at the latest when cycles are collected, too.
        """
        self._collector.add(self.steps + in_steps, thing, watched)
        self._next_stop = 0

    def fail(self, violation: Violation) -> None:
        """End the run: a rule is broken."""
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
            self.trace.append(f"{self.now_us:>12,} us  step {self.steps:>6,}  {self.current.name:<18}  {text}")

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Look at the program under test without being a part of it: nothing in here is a point."""
        current, stop = self.current, self._next_stop
        self.current, self._next_stop = self.nobody, NEVER
        try:
            yield
        finally:
            self.current, self._next_stop = current, min(stop, self._next_stop)

    def _run_task(self, task: Task, run: Callable[[], object]) -> None:
        try:
            run()
        except GreenletExit:
            pass
        except BaseException as error:  # noqa: BLE001 - a thread that dies is a finding
            if not self.over:
                found = error if isinstance(error, Violation) else Violation("no thread dies", _told(task, error))
                found.__cause__ = None if found is error else error
                self.failure, self.over = found, True
        task.done = True
        self._foreground -= not task.daemon
        for waiter in tuple(task.waiters):
            self.wake(waiter)

    def _decide(self, task: Task) -> None:
        if self.over or self.collecting or task is self.nobody:
            return
        self._collector.collect(self.steps)
        if self.steps - self._steps_at_move > MOST_STEPS_AT_ONCE:
            details = f"{MOST_STEPS_AT_ONCE:,} steps at {self.now_us} us; {self._who_waits()}"
            self.fail(Violation("no livelock", details))
        following = self._pick(task) if self.choosing else task
        soon = self._choices.next_step if self.choosing else NEVER
        self._next_stop = 0 if self._collector.waits else min(soon, self._steps_at_move + MOST_STEPS_AT_ONCE)
        if following is not task:
            self._enter(following)
            if self.over:
                raise GreenletExit

    def _choices_now(self) -> list[Task]:
        """Return the tasks that could go on, in the order in which they were made."""
        return sorted((each for each in self.ready if not each.last), key=lambda each: each.number)

    def _pick(self, task: Task) -> Task:
        """Return the task that goes on at a point of a task that could."""
        ready = self._choices_now()
        may_be_slow = not self.prompt and self._slow < MOST_SLOW and self._has_timers()
        pick = (
            self._choices.pick(self.steps, len(ready), clock=may_be_slow, forced=False) if ready or may_be_slow else 0
        )
        if not pick:
            return task
        if pick <= len(ready):
            following = ready[pick - 1]
        else:
            self.note("is slow")
            self._slow += 1
            self._move_on()
            following = min(self._choices_now(), key=lambda each: each.number, default=task)
        if following is not task:
            self.ready.remove(following)
            self.ready.append(task)
        return following

    def _take_next(self) -> Task | None:
        """Choose a task if the one that ran can't go on; move time on if none can."""
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
                self.failure, self.over = Violation("no deadlock", self._who_waits()), True
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
        """Move time on to the next timer, and call all that are due then."""
        self._steps_at_move = self.steps
        with self.watching():
            self.now_us = self._timers[0][0]
            while self._timers and self._timers[0][0] <= self.now_us:
                timer = heapq.heappop(self._timers)[2]
                if timer.action is not None:
                    timer.action()

    def _who_waits(self) -> str:
        """Return which task waits for what, and which holds that."""
        lines = []
        for task in self.tasks:
            if task.done or (task.daemon and not task.held):
                continue
            holder = getattr(task.waits_for, "owner", None)
            held = f", held by {holder}" if holder is not None else ""
            holds = f", and holds {', '.join(map(str, task.held))}" if task.held else ""
            lines.append(
                f"{task} {'goes on' if task.waits_for is None else f'waits for {task.waits_for}{held}'}{holds}"
            )
        return "; ".join(lines)

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


def _end(task: Task) -> None:
    """Let a task unwind, however often it goes on meanwhile, and let go of it."""
    for _ in range(100):
        if task.greenlet is None or task.greenlet.dead:
            break
        task.greenlet.throw(GreenletExit)
    task.greenlet = None


def _told(task: Task, error: BaseException) -> str:
    """Return how a task has ended; after an endless recursion there may be no room for the error's text."""
    try:
        return f"{task}: {error!r}"
    except RecursionError:
        return f"{task}: {type(error).__name__}"

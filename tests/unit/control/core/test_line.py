"""The line: the order of its requests, the thread that runs each of them, and a thread that leaves the line."""

from __future__ import annotations

import functools
import itertools
import threading
from typing import TYPE_CHECKING

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.hanging import WAIT_S, Hang, join, started, until
from support.inside import is_free

from htppower.control.core import line as line_page
from htppower.control.core.line import MOST_OVERTAKING, Line, Request, Urgency

if TYPE_CHECKING:
    from collections.abc import Callable

RAISE, LOWER, CLOSE, HEARTBEAT = Urgency


@attrs.define
class Worker:
    """A line, and a worker that runs the actions handed to it when the test says so."""

    ran: list[str] = attrs.field(factory=list)
    handed: list[Callable[[], None]] = attrs.field(factory=list)
    line: Line = attrs.field(init=False)

    @line.default
    def _(self) -> Line:
        return Line(self.hand)

    def hand(self, action: Callable[[], None]) -> bool:
        """Take an action from the line."""
        self.handed.append(action)
        return True

    def submit(self, name: str, urgency: Urgency) -> Request:
        """Submit a request that records its name."""
        request = Request(functools.partial(self.ran.append, name), urgency)
        self.line.submit(request)
        return request

    def work(self) -> list[str]:
        """Run all actions; the line hands over one action at a time."""
        while self.handed:
            (action,) = self.handed
            self.handed.clear()
            action()
        return self.ran


def test_the_most_urgent_request_is_first_and_the_first_to_come_within_each() -> None:
    """Raises run before lowerings, lowerings before closings, heartbeats last; within a kind, the earlier is first."""
    worker = Worker()
    worker.submit("first", HEARTBEAT)
    for urgency, nth in itertools.product(reversed(Urgency), "ab"):
        worker.submit(urgency.name + nth, urgency)
    names = ["RAISEa", "RAISEb", "LOWERa", "LOWERb", "CLOSEa", "CLOSEb", "HEARTBEATa", "HEARTBEATb"]
    assert worker.work() == ["first", *names]
    assert is_free(worker.line)


@pytest.mark.parametrize("ahead", [0, 3])
def test_sixteen_later_requests_go_before_an_earlier_one_and_no_more(ahead: int) -> None:
    """Only requests that came later count towards the sixteen."""
    worker = Worker()
    worker.submit("first", RAISE)
    for nth in range(ahead):
        worker.submit(f"before {nth}", RAISE)
    worker.submit("lower", LOWER)
    for nth in range(2 * MOST_OVERTAKING):
        worker.submit(f"after {nth}", RAISE)
    assert worker.work().index("lower") == 1 + ahead + 16


@given(st.lists(st.sampled_from(Urgency) | st.none(), max_size=150))
def test_no_request_is_overtaken_by_more_than_sixteen_later_ones(comings: list[Urgency | None]) -> None:
    """At most sixteen later requests run before a request, whatever comes and whenever the line is served (None)."""
    worker = Worker()
    for nth, urgency in enumerate(comings):
        if urgency is not None:
            worker.submit(str(nth), urgency)
        elif worker.handed:
            worker.handed.pop()()
    order = [int(name) for name in worker.work()]
    assert sorted(order) == [nth for nth, urgency in enumerate(comings) if urgency is not None]
    for at, nth in enumerate(order):
        assert sum(other > nth for other in order[:at]) <= MOST_OVERTAKING


def test_a_thread_runs_its_own_step_and_a_worker_a_request() -> None:
    """A request is handed to the worker as soon as the line is free, and holds the line until it has run."""
    worker = Worker()
    assert worker.line.run(threading.get_ident, RAISE) == threading.get_ident()
    request = worker.submit("handed", LOWER)
    assert (worker.ran, request.wait(0), is_free(worker.line), worker.line.is_held) == ([], False, False, False)
    assert not request.wait(0)
    assert (worker.work(), request.wait(0), is_free(worker.line)) == (["handed"], True, True)


def test_without_a_worker_a_request_runs_at_once_or_when_the_line_is_left() -> None:
    """In virtual time a request made during a step runs after that step, in the same thread."""
    line, ran = Line(lambda action: False), list[str]()

    def step() -> None:
        line.submit(Request(functools.partial(ran.append, "asked"), LOWER))
        ran.append("step")

    line.run(step, RAISE)
    line.submit(Request(functools.partial(ran.append, "alone"), RAISE))
    assert ran == ["step", "asked", "alone"]
    assert is_free(line)


def test_a_request_keeps_what_its_step_returns_or_raises() -> None:
    """The waiting thread gets the result or the error; in both cases the callback runs, and the line is passed on."""
    line, ended = Line(lambda action: False), []
    made, failing = (Request(step, RAISE, lambda: ended.append(1)) for step in (lambda: 7, lambda: 1 // 0))
    line.submit(made)
    line.submit(failing)
    assert (made.value(), made.error, ended, is_free(line)) == (7, None, [1, 1], True)
    with pytest.raises(ZeroDivisionError):
        failing.value()


def test_a_step_that_raises_passes_the_line_on() -> None:
    """After a step that raises, the next request gets the line."""
    line = Line(lambda action: False)
    with pytest.raises(ZeroDivisionError):
        line.run(lambda: 1 // 0, RAISE)
    assert line.run(lambda: 7, RAISE) == 7


def test_no_step_overlaps_another() -> None:
    """Steps of eight threads, and requests between them, never overlap."""
    posted: list[threading.Thread] = []

    def hand(action: Callable[[], None]) -> bool:
        posted.append(threading.Thread(target=action))
        posted[-1].start()
        return True

    line, inside, most, ran = Line(hand), [0], [0], [0]

    def step() -> None:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        ran[0] += 1
        threading.Event().wait(0.0001)
        inside[0] -= 1

    def many() -> None:
        for nth in range(20):
            line.run(step, Urgency(nth % 4))
            line.submit(Request(step, LOWER))

    join(*started(*[many] * 8))
    until(lambda: is_free(line))
    assert (most, ran) == ([1], [320])


class Interrupted:
    """A lock; Ctrl-C interrupts the thread that waits for this lock."""

    def __init__(self, before: Callable[[], object]) -> None:
        self._before = before
        self._taken = False

    def acquire(self) -> bool:
        """Take the lock the first time; the second time raise KeyboardInterrupt, as in a wait."""
        if self._taken:
            self._before()
            raise KeyboardInterrupt
        self._taken = True
        return True

    def release(self) -> None:
        """Do nothing, since the waiting thread was interrupted."""


@pytest.mark.parametrize("granted", [False, True])
def test_a_thread_that_is_interrupted_as_it_waits_leaves_the_line(
    monkeypatch: pytest.MonkeyPatch, *, granted: bool
) -> None:
    """A waiting thread that Ctrl-C interrupts leaves the line. If it was its turn already, it passes the line on."""
    line, hang = Line(lambda action: False), Hang()

    def before() -> None:
        if granted:
            hang.let_go.set()
            holder.join(WAIT_S)

    holder = threading.Thread(target=line.run, args=(hang, RAISE))
    holder.start()
    assert hang.begun.wait(WAIT_S)
    monkeypatch.setattr(line_page, "allocate_lock", lambda: Interrupted(before))
    with pytest.raises(KeyboardInterrupt):
        line.run(lambda: pytest.fail("it has left"), RAISE)
    monkeypatch.undo()
    hang.let_go.set()
    holder.join(WAIT_S)
    assert is_free(line)
    ran: list[str] = []

    def step() -> None:
        for name, urgency in [("lower", LOWER), *((str(nth), RAISE) for nth in range(20))]:
            line.submit(Request(functools.partial(ran.append, name), urgency))

    line.run(step, RAISE)
    assert ran.index("lower") == MOST_OVERTAKING

"""The engine: the parts that all controllers on one backend share. It decides which thread runs a step.

It has the line, the link with its recovery, the settings of the process and one worker. Any thread but the main one
runs its steps itself, once it has the line. The main thread and coroutines hand their steps to the worker and wait:
Python runs signal handlers in the main thread only, so Ctrl-C interrupts the wait and never a step. In virtual time,
and at exit when no thread can be started, the calling thread runs the steps.
"""

from __future__ import annotations

import contextvars
import functools
import logging
import sys
import threading
import weakref
from _thread import get_ident
from pathlib import Path
from typing import TYPE_CHECKING, Any

from htppower.backends.forks import call_in_forked_children
from htppower.backends.whole_lock import whole_lock
from htppower.control.core.line import Line, Request, Urgency
from htppower.control.core.meaning import meaning_of, tells_of_a_lost_link
from htppower.control.core.recovery import Recovery
from htppower.control.ledger.process_settings import ProcessSettings
from htppower.control.own_work import in_own_work
from htppower.control.plans.plans import Missing
from htppower.control.time.workers import run_and_log
from htppower.errors import VoteRejected
from htppower.votes.native_codes import SYSTEM_COMMUNICATION, SYSTEM_COMMUNICATION_FATAL, code_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower.backends.base import Backend
    from htppower.control.core.home import Home
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.time.base import Time
    from htppower.errors import CallUnderWay

_LOGGER = logging.getLogger("htppower")
# The worker's thread ends after this time without a step, and at once when the last controller leaves.
WORKER_IDLE_S = 10.0


class Engine:
    """The parts that the controllers on one backend share.

    Args:
        backend: the backend; if it is a recorder, the backend behind it.
        path: the path of its library, or empty.
        time: clock and alarms, the same for all its controllers.

    Attributes:
        line: held during native calls.
        recovery: knows the link, and restores lost votes.
        settings: the settings of the process.
        missing: the options that calls have shown to be missing on the platform.
        homes: the controllers, oldest first. The tuple is replaced as a whole, so any thread may read it.
        users: how many controllers have entered and not left; ``Engines`` counts them.
    """

    def __init__(self, backend: object, path: str, time: Time) -> None:
        self.time = time
        self._backend = backend
        self._path = path
        self._worker = time.worker("htppower-votes")
        self.line = Line(self._hand)
        self.missing = Missing()
        self.settings = ProcessSettings(self.missing)
        self.recovery = Recovery(self, time)
        self.homes: tuple[Home, ...] = ()
        self.users = 0
        self._joined = 0
        self._warned = False

    def is_for(self, backend: object, path: str) -> bool:
        """Return whether this is the engine of the library at a path, or, without a path, of the backend."""
        return path == self._path if path else backend is self._backend

    def join(self, home: Home) -> None:
        """Add a controller, and give it its number, from 1. ``Engines`` calls this and ``leave`` under its lock."""
        self._worker.keep(WORKER_IDLE_S)
        self._joined += 1
        home.number = self._joined
        self.homes = (*self.homes, home)

    def leave(self, home: Home | None) -> None:
        """Remove a controller."""
        self.homes = tuple(each for each in self.homes if each is not home)
        if not self.homes:
            self.recovery.stop()
            self._worker.keep(0)

    def sessions(self) -> Iterator[SessionRecord]:
        """Yield the open sessions of all controllers, those with an inference in flight first."""
        every = [session for home in self.homes for session in home.registry.all()]
        return iter(sorted(every, key=lambda session: not session.gate.in_flight))

    @property
    def calls_under_way(self) -> tuple[CallUnderWay, ...]:
        """The native call of any controller that has not returned yet; empty if there is none."""
        return tuple(call for home in self.homes for call in home.calls.under_way)

    def warn_of_others(self, home: Home, library: str) -> None:
        """Log once that several controllers share the backend, and so the settings of the process."""
        others = [each for each in self.homes if each is not home]
        if others and not self._warned:
            self._warned = True
            _LOGGER.warning(
                "controller %d is made while %s open on the same backend, %s: they share the settings of the process,"
                " such as RPC polling; one controller with a session for each client is enough",
                home.number,
                " and ".join(map(str, others)) + (" is" if len(others) == 1 else " are"),
                library,
            )

    def renew_backends(self) -> None:
        """Create the device again.

        Raises:
            BackendUnavailable, VoteRejected: the device can't be created.
        """
        backends = [home.calls.backend for home in self.homes]
        for backend in {id(backend): backend for backend in backends}.values():
            backend.renew()

    @property
    def may_wait(self) -> bool:
        """Whether this thread may wait for the worker, since it holds no lock that the worker may need."""
        return not self.line.is_held and not in_own_work()

    def run(self, action: Callable[[], Any], urgency: Urgency) -> Any:
        """Run a step with the line, and return its result.

        A finalizer or a signal handler may call this while its thread has the line or a gate. Then the worker runs the
        step later, and this returns None: waiting here could deadlock.
        """
        if not self.may_wait:
            self.post(action, urgency)
            return None
        try:
            if self._hands_over():
                # The step runs in the context of this thread: a subscriber may need it, for example to find the request
                # that caused a raise.
                request = Request(functools.partial(contextvars.copy_context().run, action), urgency)
                self._join(request)
                return request.value()
            return self.line.run(action, urgency)
        finally:
            self.deliver()

    def submit(self, action: Callable[[], Any], urgency: Urgency, ended: Callable[[], object] | None = None) -> Request:
        """Let the worker run a step; return the request, which the caller can wait for.

        In virtual time it runs before this returns.
        """
        request = Request(action, urgency, ended)
        self._join(request)
        if not self.line.is_held:
            self.deliver()
        return request

    def post(self, action: Callable[[], Any], urgency: Urgency) -> None:
        """Let the worker run a step soon, and log its exception. Finalizers and signal handlers may call this."""
        step = functools.partial(run_and_log, action, _LOGGER)
        if in_own_work():
            self.time.call_soon(functools.partial(self.submit, step, urgency))
        elif self.line.is_held:
            self.line.submit(Request(step, urgency))
        else:
            error = self.submit(step, urgency).error
            # In virtual time this thread has run the step, so an exception such as Ctrl-C must be passed on to the
            # host.
            if error is not None:
                raise error

    def deliver(self) -> None:
        """Deliver events to subscribers without a thread; the line is not held."""
        for home in self.homes:
            home.events.deliver()

    def link_lost(self, code: int) -> None:
        """Record that a call of the host returned the code of a lost link; the worker then sends all votes again.

        Raises:
            ValueError: the code does not mean a lost link.
        """
        if not tells_of_a_lost_link(code):
            codes = (SYSTEM_COMMUNICATION, SYSTEM_COMMUNICATION_FATAL)
            known = " or ".join(f"{each} ({code_name(each)})" for each in codes)
            raise ValueError(f"code is {code!r}: {known}")
        error = VoteRejected(code, function="graphExecute")
        self.post(functools.partial(self._link_lost, error), Urgency.RAISE)

    def _link_lost(self, error: VoteRejected) -> None:
        if next(self.sessions(), None) is not None:
            self.recovery.link_lost(meaning_of(error), error)

    def disown(self) -> None:
        """In a forked child: forget the sessions and the worker, which exist only in the parent."""
        self.line = Line(self._hand)
        self.recovery.disown()
        self.homes = ()

    def _join(self, request: Request) -> None:
        """Put a request into the line.

        On the main thread the worker does it, since Ctrl-C may interrupt this thread at any time.
        """
        if self._hands_over():
            self._worker.post(functools.partial(self.line.submit, request))
        else:
            self.line.submit(request)

    def _hands_over(self) -> bool:
        """Return whether the worker must run the steps of this thread: it is the main thread, and a worker can run."""
        return get_ident() == threading.main_thread().ident and not self._worker.inline

    def _hand(self, action: Callable[[], None]) -> bool:
        if self._worker.inline:
            return False
        self._worker.post(action)
        return True


class Engines:
    """The engines of a process; an engine is dropped when the last controller on its backend leaves."""

    def __init__(self) -> None:
        self._lock = whole_lock()
        self._all: list[weakref.ref[Engine]] = []

    def enter(self, backend: Backend, path: str, time: Time | None, make_time: Callable[[], Time]) -> Engine:
        """Return the engine of a backend, found by the path of its library, if it has a library; ``leave`` undoes this.

        ``time`` is the clock of the new controller. If it is None, the engine keeps its clock, and a new engine gets
        one from ``make_time``.

        Raises:
            ValueError: the other controllers on the backend use another time.
        """
        # If nothing has imported the module, the backend can't be a recorder.
        recording, behind = sys.modules.get("htppower.backends.recording"), backend
        while recording is not None and isinstance(behind, recording.RecordingBackend):
            behind = behind.inner
        # A name without a folder is found by the system's loader, so it has no path to compare.
        if Path(path).is_absolute():
            path = str(Path(path).resolve())
        with self._lock:
            known = _alive(self._all)
            found = next((engine for engine in known if engine.is_for(behind, path)), None)
            if found is None:
                found = Engine(behind, path, make_time() if time is None else time)
                known.append(found)
            elif time is not None and time is not found.time:
                raise ValueError("another controller on this backend has another time: give both the same")
            self._all = [weakref.ref(engine) for engine in known]
            found.users += 1
            return found

    def join(self, engine: Engine, home: Home) -> None:
        """Add a controller to its engine, and give it its number, from 1."""
        with self._lock:
            engine.join(home)

    def leave(self, engine: Engine, home: Home | None) -> bool:
        """Remove a controller; return whether it was the last one.

        If so, the next controller on the backend gets a new engine.
        """
        with self._lock:
            engine.leave(home)
            engine.users -= 1
            is_last = engine.users == 0
            if is_last:
                self._all = _without(self._all, engine)
            return is_last

    def forked(self) -> None:
        """In a forked child: forget all engines, whose ids exist only in the parent."""
        self._lock = whole_lock()
        self._all = []


def _without(references: list[weakref.ref[Engine]], engine: Engine) -> list[weakref.ref[Engine]]:
    return [reference for reference in references if reference() not in (None, engine)]


def _alive(references: list[weakref.ref[Engine]]) -> list[Engine]:
    return [engine for reference in references if (engine := reference()) is not None]


# This is module state, since all users of a library in the process share one link.
ENGINES = Engines()
call_in_forked_children(Engines.forked, ENGINES)

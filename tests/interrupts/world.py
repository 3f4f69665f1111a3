"""A controller in virtual time, with the engine's worker on a thread, and the conditions that must hold.

With that worker the main thread hands each step over and waits, as in real time: an interrupt comes in the begin or end
of a phase, or in the wait, and never in a step.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import struct
import tempfile
from typing import TYPE_CHECKING, Any

from support.bench import MAX_CORNER, SVS
from support.hardware import SimulatedHardware
from support.inside import drain, engine_of, locks_of

from htppower import State, VoteController, load_profile
from htppower.control.gate.cpu_latency import NO_LIMIT_US
from htppower.control.time.locks import is_held
from htppower.control.time.workers import ThreadWorker
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower import Session

# The preparation of an operation and the checks after it load each profile only once.
loaded = functools.cache(load_profile)
SECOND_US = 1_000_000
# Longer than every sustain time and every back-off.
SETTLED_S = 40
LONG_S = 30
_NOTHING = functools.partial(int)
# The vendor's table: the corner and the polling time of each profile.
TARGETS = {"burst": MAX_CORNER, "high_performance": 128, "balanced": 112, "sustained_high_performance": 128}
POLLING_US = {"burst": 9999, "high_performance": 9999, "balanced": 0, "sustained_high_performance": 9999}
_NO_LIMIT = struct.pack("=i", NO_LIMIT_US)
UP = frozenset({State.RAISED, State.UNKNOWN})


class ThreadedTime(VirtualTime):
    """Virtual time with workers that have threads, as in real time."""

    def __init__(self) -> None:
        super().__init__()
        self._workers: list[ThreadWorker] = []

    def worker(self, name: str) -> ThreadWorker:
        """Return a worker with a thread of its own."""
        self._workers.append(ThreadWorker(name))
        return self._workers[-1]

    def end(self) -> None:
        """End the threads."""
        for worker in self._workers:
            worker.close()


class World:
    """A controller and its host. After an operation there must be no hold and no cap.

    Attributes:
        sessions: the sessions that the host keeps.
        running: the numbers of the sessions with an inference that runs until the end.
        finally_: actions of the host before it closes the controller; the last one runs first.
        ends_loop: ends the loop of an asynchronous operation, as ``asyncio.run`` does.
        cpus: a file in place of the device that limits the latency of the CPUs.
    """

    def __init__(self) -> None:
        self.time = ThreadedTime()
        self.htp = SimulatedHardware(arch=75, cores=2)
        self.cpus = tempfile.NamedTemporaryFile()  # noqa: SIM115 - it goes with this object
        self.controller = VoteController(self.htp, time=self.time, handle_sigterm=False)
        self.sessions: list[Session] = []
        self.running: set[int] = set()
        self.finally_: list[Callable[[], object]] = []
        self.ends_loop: Callable[[], object] = _NOTHING

    def session(self, profile: str = "burst", **options: Any) -> Session:
        """Open a session."""
        made = self.controller.session(loaded(profile), **options)
        self.sessions.append(made)
        return made

    def in_window(self, profile: str = "burst", **options: Any) -> Session:
        """Open a session that has run an inference."""
        session = self.session(profile, **options)
        with session.inference():
            pass
        return session

    def in_use(self, profile: str = "burst") -> Session:
        """Open a session that runs an inference until the end."""
        session = self.session(profile)
        stack = contextlib.ExitStack()
        stack.enter_context(session.inference())
        self.running.add(session.number)
        self.finally_ += [stack.close, functools.partial(self.running.discard, session.number)]
        return session

    def settle(self, seconds: int = SETTLED_S) -> None:
        """Let time pass, and wait for all actions that this causes."""
        for _ in range(1 + seconds // 2):
            self._drain()
            self.time.advance_us(2 * SECOND_US * bool(seconds))
        self._drain()

    def _drain(self) -> None:
        """Wait for the worker's actions, and run the posted ones."""
        for again in (True, True, False):
            if not drain(self.controller):
                raise AssertionError("the worker does not answer")
            if again:
                self.time.advance_us(0)

    def broken(self) -> Iterator[str]:
        """Yield each broken condition after an interrupted operation; close the controller."""
        yield from self._locks()
        self.ends_loop()
        gc.collect()
        self.settle()
        yield from self._rests("afterwards")
        yield from self._works()
        while self.finally_:
            self.finally_.pop()()
        self.settle()
        yield from self._rests("when all is idle")
        self.controller.close()
        self.settle(0)
        yield from self._is_closed()

    def _locks(self) -> Iterator[str]:
        if engine_of(self.controller).line.is_held:
            yield "the line is held"
        if any(map(is_held, locks_of(self.controller, self.htp))):
            yield "a lock is held"

    def _rests(self, when: str) -> Iterator[str]:
        status = self.controller.status()
        handles = {session.number for session in self.sessions}
        if self.cpus.read()[-4:] not in (b"", _NO_LIMIT):
            yield f"{when}, a limit of the CPUs is requested"
        for each in status.sessions:
            running = each.number in self.running
            if each.number not in handles:
                yield f"{when}, session {each.number} is open without a handle"
            if each.in_flight != running or each.tickets:
                yield f"{when}, {each.in_flight} inferences and {each.tickets} are shown, and {running} run"
            if each.profile != "system_settings" and (each.state in UP) != running:
                yield f"{when}, session {each.number} is {each.state}"
            if each.holds or status.caps:
                yield f"{when}, {each.holds or status.caps} stand without a handle"
        if status.orphans or status.calls_under_way:
            yield f"{when}, {status.orphans} are left, and {status.calls_under_way} are under way"
        alarms = self.time.alarms - bool(self.running)  # the calls of the heartbeat for raised sessions
        if alarms > 0:
            yield f"{when}, {alarms} alarms are armed that nobody needs"
        for core in range(2):
            yield from self._clocks(core, when)

    def _clocks(self, core: int, when: str) -> Iterator[str]:
        """Yield each vote in force that should not be, and each missing vote."""
        used = [each for each in self.sessions if each.number in self.running and each.state is not State.DESTROYED]
        clocks = self.htp.effective(0, core)
        polling_us = max((POLLING_US[each.profile.name] for each in used), default=0)
        target = max((TARGETS[each.profile.name] for each in used if core in each.core_ids), default=None)
        if clocks.rpc_polling_time_us != polling_us:
            yield f"{when}, polling is {clocks.rpc_polling_time_us} us, and not {polling_us}"
        if clocks.core_target > SVS if target is None else clocks.core_target != target:
            yield f"{when}, the votes on core {core} come to {clocks.core_target}, and not {target or 'lowered'}"

    def _works(self) -> Iterator[str]:
        """Yield each failure of an inference and a hold on each session, a cap, and a new session."""
        if "closed" in repr(self.controller):
            return
        for session in [*(each for each in self.sessions if each.state is not State.DESTROYED), self.session()]:
            with session.inference(), session.hold(loaded("balanced"), reason="works"):
                if session.state is not State.RAISED or session.profile.name != "balanced":
                    yield f"{session} does not rise, or is not held"
        with self.controller.cap(loaded("balanced"), reason="works"):
            if session.profile.name != "balanced":
                yield "a cap does nothing"
        self.sessions.pop().close()
        self.settle()
        yield from self._rests("after more use")

    def _is_closed(self) -> Iterator[str]:
        status = self.controller.status()
        if status.sessions or status.orphans or self.htp.power_config_ids:
            yield f"at the end, {status.sessions} {status.orphans} {self.htp.power_config_ids} are left"
        if self.htp.effective(0, 0).rpc_polling_time_us:
            yield "at the end, RPC polling is left on"
        if self.time.alarms:
            yield f"at the end, {self.time.alarms} alarms are armed"

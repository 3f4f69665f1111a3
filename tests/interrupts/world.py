"""A controller on the simulated HTP in virtual time, what its host has of it, and what must hold of it.

What is looked at is the simulated HTP, the status, and the counts, locks and alarms behind them.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import threading
from typing import TYPE_CHECKING, Any

import attrs
from bench import DISABLE, MAX_CORNER, SVS
from interrupts.locks_made import LOCKS

from htppower import SessionClosed, State, VoteController, load_profile
from htppower.backends import SimulatedHtp
from htppower.testing import VirtualTime
from htppower.votes.native import Option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower import Cap, Hold, Session
    from htppower.backends.base import Description
    from htppower.votes.vote_set import VoteSet

# What comes before and after an operation reads no file again; the operations themselves do.
loaded = functools.cache(load_profile)
# Longer than every sustain time and every back-off.
SETTLED_US = 40_000_000
# The highest that a power state votes.
LOWERED_CORNER = SVS
# The vendor's table: the corner and the polling time of each profile.
TARGETS = {"burst": MAX_CORNER, "high_performance": 128, "balanced": 112, "low_balanced": 96}
POLLING_US = {"burst": 9999, "high_performance": 9999, "balanced": 0, "low_balanced": 0}
UP = frozenset({State.RAISED, State.UNKNOWN})


class Htp(SimulatedHtp):
    """A simulated HTP with two cores of which a call can be parked on its thread.

    Args:
        one_call_at_a_time: whether it says so.
    """

    def __init__(self, *, one_call_at_a_time: bool = False) -> None:
        super().__init__(arch=75, cores=2)
        self._one_call_at_a_time = one_call_at_a_time
        self.parks: threading.Thread | None = None
        self.parked = threading.Event()
        self.goes_on = threading.Event()

    def describe(self) -> Description:
        """Return what is simulated."""
        return attrs.evolve(super().describe(), one_call_at_a_time=self._one_call_at_a_time)

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Apply a vote set; on the thread that is to be parked, once it may go on."""
        if self.parks is not None and threading.current_thread() is self.parks:
            self.parked.set()
            self.goes_on.wait()
        super().set_power_config(power_config_id, votes)


class World:
    """A controller and its host.

    Args:
        one_call_at_a_time: whether the backend says so.

    Attributes:
        time, htp, controller: clock, backend and controller.
        sessions: the sessions of which the host has a handle.
        running: how many phases the host keeps running, by the number of the session.
        caps, holds: those of which the host has a handle.
        kept: how many alarms are the host's own doing.
        finally_: what the host does before it closes the controller, from the last on.
        ends_loop: ends the loop of an asynchronous operation, as ``asyncio.run`` does.
        heals: brings a DSP back that the operation was to bring back.
        beside: the threads that use a session in their native call, by the number of the session.
    """

    def __init__(self, *, one_call_at_a_time: bool = False) -> None:
        LOCKS.clear()
        self.time = VirtualTime()
        self.htp = Htp(one_call_at_a_time=one_call_at_a_time)
        self.controller = VoteController(self.htp, time=self.time, handle_sigterm=False)
        self.sessions: list[Session] = []
        self.running: dict[int, int] = {}
        self.caps: list[Cap] = []
        self.holds: list[Hold] = []
        self.kept = 0
        self.finally_: list[Callable[[], object]] = []
        self.ends_loop: Callable[[], object] = _nothing
        self.heals: Callable[[], object] = _nothing
        self.beside: dict[int, threading.Thread] = {}

    def session(self, profile: str = "burst", **options: Any) -> Session:
        """Open a session."""
        made = self.controller.session(loaded(profile), **options)
        self.sessions.append(made)
        return made

    def in_use(self, profile: str = "burst") -> Session:
        """Open a session that runs an inference until the end."""
        session = self.session(profile)
        inference = session.inference()
        inference.__enter__()
        self.running[session.number] = 1

        def end() -> None:
            self.running.pop(session.number)
            with contextlib.suppress(SessionClosed):
                inference.__exit__(None, None, None)

        self.finally_.append(end)
        return session

    def broken(self) -> Iterator[str]:
        """Yield what does not hold any more, once an operation was interrupted; close the controller."""
        yield from self._locks()
        self.ends_loop()
        self.heals()
        self.htp.clear_faults()
        self.htp.goes_on.set()
        for thread in self.beside.values():
            thread.join()
        gc.collect()
        self.time.advance_us(SETTLED_US)
        yield from self._rests("afterwards")
        yield from self._works()
        while self.finally_:
            self.finally_.pop()()
        self.time.advance_us(SETTLED_US)
        if not self.controller._registry.closed:
            yield from self._rests("when all is idle")
        self.controller.close()
        yield from self._locks()
        yield from self._is_closed()

    def _locks(self) -> Iterator[str]:
        for rank, lock in LOCKS:
            if lock._is_owned():
                yield f"the lock {rank} is held"
        if self.htp._lock._is_owned():  # type: ignore[attr-defined]  # typeshed does not know it
            yield "the lock of the backend is held"

    def _rests(self, when: str) -> Iterator[str]:  # noqa: C901, PLR0912 - one list of what must hold
        registry, recovery = self.controller._registry, self.controller._recovery
        handles = {session.number for session in self.sessions}
        for number, record in registry.sessions.items():
            if number not in handles:
                yield f"{when}, a session is open without a handle"
            running = self.running.get(number, 0)
            if record.gate.in_flight != running or record.gate.tokens.preparing:
                yield f"{when}, {record.gate.in_flight} inferences are counted, and {running} run"
            votes = record.plan.raised and not record.gate.closing
            if votes and (record.state in UP) != bool(running):
                yield f"{when}, a session that runs {running} inferences is {record.state}"
            if any(claim not in [hold._claim for hold in self.holds] for claim in record.holds):
                yield f"{when}, a hold stands without a handle"
        if any(claim not in [cap._claim for cap in self.caps] for claim in registry.caps):
            yield f"{when}, a cap stands without a handle"
        if registry.orphans or registry.borrowed:
            yield f"{when}, ids are left: {registry.orphans} {registry.borrowed}"
        if recovery._lacking or recovery._queue:
            yield f"{when}, sessions wait to be settled"
        if self.controller._closer._calls.under_way:
            yield f"{when}, a call counts as under way"
        raised = {number for number, record in registry.sessions.items() if record.state is State.RAISED}
        for wish, numbers in self.controller._settings._wishes.items():
            if wish.get(Option.RPC_POLLING_TIME) and numbers - raised:
                yield f"{when}, a session that is not raised asks for polling: {wish}"
        alarms = self.time.alarms - self.kept - bool(raised)
        if alarms > 0:
            yield f"{when}, {alarms} alarms are armed that nobody needs"
        for core in range(2):
            yield from self._clocks(core, when)
        sessions = self.controller.status().sessions
        if any(len(each.tickets) > each.in_flight for each in sessions):
            yield f"{when}, the status shows a ticket that has ended"
        shown = {each.number: each.in_flight for each in sessions}
        if shown != {number: self.running.get(number, 0) for number in registry.sessions}:
            yield f"{when}, the status shows {shown} in flight"

    def _clocks(self, core: int, when: str) -> Iterator[str]:
        """Yield what is in force on a core and should not be, or the other way round."""
        used = [each for each in self.sessions if each.number in self.running and not each._record.gate.closing]
        names = [session.profile.name for session in used if core in session.core_ids]
        clocks = self.htp.effective(0, core)
        polling_us = max((POLLING_US[session.profile.name] for session in used), default=0)
        target = max((TARGETS[name] for name in names), default=None)
        if clocks.rpc_polling_time_us != polling_us:
            yield f"{when}, polling is {clocks.rpc_polling_time_us} us, and not {polling_us}"
        if clocks.core_target > LOWERED_CORNER if target is None else clocks.core_target != target:
            yield f"{when}, the votes on core {core} come to {clocks.core_target}, and not {target or 'lowered'}"

    def _works(self) -> Iterator[str]:
        """Yield what does not work: the next inference, INIT, hold, cap and profile of each session, and a new one."""
        controller = self.controller
        if controller._registry.closed:
            return
        open_ones = [session for session in self.sessions if session.state is not State.DESTROYED]
        for session in [*open_ones, self.session()]:
            yield from self._session_works(session)
        number = self.sessions[-1].number
        self.sessions.pop().close()
        if number in controller._registry.sessions:
            yield "a session does not close"

    def _session_works(self, session: Session) -> Iterator[str]:
        before, running = session.own_profile, session.number in self.running
        session.use(loaded("burst"))
        with session.inference():
            yield from self._is_up(session, "an inference")
        self.time.advance_us(SETTLED_US)
        yield from self._is_down(session, "after an inference")
        with session.hold(loaded("balanced"), reason="works"), session.init():
            if session.profile.name != "balanced" and not (self.controller.caps or session._record.holds[1:]):
                yield "a hold does nothing"
        if self.controller.caps == ():
            with self.controller.cap(loaded("balanced"), reason="works"):
                if session.profile.name != "balanced":
                    yield "a cap does nothing"
        self.time.advance_us(SETTLED_US)
        yield from self._is_down(session, "after INIT")
        if not running:
            session.use(before)

    def _is_up(self, session: Session, when: str) -> Iterator[str]:
        clocks = self.htp.effective(0, session.core_ids[0])
        free = session.profile.name == "burst"
        if session.state is not State.RAISED or (free and clocks.core_target != MAX_CORNER):
            yield f"in {when}, {session} has {clocks.core_target}"

    def _is_down(self, session: Session, when: str) -> Iterator[str]:
        if session.number not in self.running and session.state is not State.LOWERED:
            yield f"{when}, {session} is not lowered"

    def _is_closed(self) -> Iterator[str]:
        controller = self.controller
        if controller._registry.sessions or controller._registry.orphans:
            yield f"at the end, {controller._registry.sessions} {controller._registry.orphans} are left"
        for core in range(2):
            clocks = self.htp.effective(0, core)
            if clocks.core_target != DISABLE or clocks.rpc_polling_time_us:
                yield f"at the end, {clocks} is in force"
        if any(client.has_hvx_vote for client in self.htp._clients.values()):
            yield "at the end, an id has votes"
        if self.time.alarms:
            yield f"at the end, {self.time.alarms} alarms are armed"
        if not controller._ended:
            yield "at the end, the controller is not closed"


def _nothing() -> None:
    """Do nothing."""

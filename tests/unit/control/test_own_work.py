"""Finalizers, signal handlers and backends that end an object during the controller's own work.

Their thread holds locks that others wait for, so another thread does the work soon after.
"""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from support.bench import SVS, Bench
from support.hanging import WAIT_S, join, started, until
from support.inside import engine_of, gate_of, is_ended, may_hold_a_lock

from htppower import Cap, SessionClosed, State, VoteController
from htppower.backends import SimulatedHtp
from htppower.control.core.line import Urgency
from htppower.control.time.locks import is_held
from htppower.control.time.scheduler import SystemTime
from htppower.events import ProfileChanged

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.events import Event
    from htppower.votes.vote_set import VoteSet


class CollectingHtp(SimulatedHtp):
    """Collects garbage during the next vote, as any allocation may."""

    collects = False

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Collect, and vote."""
        if self.collects:
            self.collects = False
            gc.collect()
        super().set_power_config(power_config_id, votes)


class Finalized:
    """An object in a cycle, which runs an action when it is collected."""

    def __init__(self, action: Callable[[], object]) -> None:
        self._action = action
        self._self = self

    def __del__(self) -> None:
        self._action()


def test_closing_in_a_finalizer_brings_everything_down() -> None:
    """If a finalizer closes the controller during a lowering, every session is closed and all votes are lowered."""
    backend = CollectingHtp()
    controller = VoteController(backend, handle_sigterm=False)
    sessions = [controller.session("balanced") for _ in range(3)]
    gc.collect()
    gc.disable()
    try:
        Finalized(controller.close)
        backend.collects = True
        # The other thread may close the session before the inference has its votes.
        with contextlib.suppress(SessionClosed), sessions[0].inference():
            pass
    finally:
        gc.enable()
    until(lambda: is_ended(controller))
    assert (backend.power_config_ids, backend.effective().rpc_polling_time_us) == ((), 0)
    assert [session.state for session in sessions] == [State.DESTROYED] * 3


@pytest.mark.parametrize("ends", ["a cap", "a hold", "a session", "a ticket"])
def test_what_a_finalizer_ends_is_ended(ends: str) -> None:
    """A finalizer on one session's thread can end an object whose end changes the votes of other sessions."""
    backend = CollectingHtp()
    with VoteController(backend, handle_sigterm=False) as controller:
        first, second = controller.session("balanced"), controller.session("balanced")
        cap = controller.cap("power_saver", reason="hot")
        hold, ticket = second.hold("burst", reason="camera"), second.begin()
        action, ended = {
            "a cap": (cap.lift, lambda: not cap.active),
            "a hold": (hold.release, lambda: not hold.active),
            "a session": (second.close, lambda: second.state is State.DESTROYED),
            "a ticket": (ticket.end, lambda: not ticket.active),
        }[ends]
        gc.collect()
        gc.disable()
        try:
            Finalized(action)
            backend.collects = True
            join(*started(lambda: first.begin().end()))
        finally:
            gc.enable()
        until(ended)
        ticket.end()


def capped_in_the_next_call(bench: Bench) -> list[Cap]:
    """Let the backend cap all sessions during its next vote; the cap is added to the list."""
    set_power_config, caps = bench.recorder.set_power_config, list[Cap]()

    def capped(power_config_id: int, votes: VoteSet) -> None:
        if not caps:
            caps.append(bench.controller.cap("balanced", reason="hot"))
        set_power_config(power_config_id, votes)

    bench.recorder.set_power_config = capped  # type: ignore[method-assign]
    return caps


def test_a_cap_that_a_finalizer_sets_is_set(bench: Bench) -> None:
    """The cap is set right after the step that the finalizer interrupted."""
    session = bench.controller.session("burst")
    capped_in_the_next_call(bench)
    with session.inference():
        assert session.profile.name == "balanced"


def test_a_cap_that_is_lifted_before_it_is_set_is_never_set(bench: Bench) -> None:
    """If the handle is lifted before another thread sets the cap, the cap is never set."""
    session = bench.controller.session("burst")
    caps = capped_in_the_next_call(bench)
    with session.inference():
        caps[0].lift()
        bench.time.advance_us(0)
        assert (session.profile.name, bench.controller.caps, caps[0].active) == ("burst", (), False)


@pytest.mark.parametrize("ends", ["a ticket", "a stream"])
def test_a_handler_that_closes_where_a_gate_is_held_waits_for_nobody(
    ends: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal handler that closes while its thread holds a gate does not wait for a thread that needs that gate."""
    backend = SimulatedHtp()
    controller = VoteController(backend, handle_sigterm=False)
    session = controller.session("burst")
    controller.session("burst")
    closed: list[bool] = []
    kind = SystemTime
    now_us = kind.now_us

    def handler(time: SystemTime) -> int:
        if not closed and is_held(gate_of(session).lock):
            closed.append(True)
            controller.close()
        return now_us.__get__(time)  # type: ignore[no-any-return]

    monkeypatch.setattr(kind, "now_us", property(handler))

    def host() -> None:
        with contextlib.suppress(SessionClosed):
            if ends == "a ticket":
                session.begin(timeout_us=10**9).end()
            else:
                list(session.stream([1, 2], idle_timeout_us=10**9))

    join(*started(host))
    assert closed
    until(lambda: is_ended(controller))
    assert backend.power_config_ids == ()


def test_what_is_the_controllers_own_work_does_not_hang_on_how_it_was_compiled() -> None:
    """Modules are recognised by name, since a frozen application has other file names."""
    own = {f"htppower.control.{name}" for name in ("gate.gate", "core.line", "gate.tokens", "phases.tickets")}
    assert own <= set(sys.modules)
    assert all(map(may_hold_a_lock, own))
    assert not any(map(may_hold_a_lock, ("htppower.control.controller", "htppower.control.phases.streams", "host")))


def test_a_subscriber_ends_things_at_once(bench: Bench) -> None:
    """A subscriber is called without a lock, so it can close the controller."""
    session = bench.controller.session("burst")
    up: list[int] = []

    def close(_event: Event) -> None:
        if not up:
            up.append(bench.effective().core_target)
            bench.controller.close()
            up.append(bench.effective().core_target)

    with session.inference():
        bench.controller.subscribe(close, ProfileChanged)
        session.use("sustained_high_performance")
    assert (up[0] > SVS, up[1] > SVS, is_ended(bench.controller)) == (True, False, True)


def test_a_cap_in_the_middle_of_a_count_waits_for_no_other_thread(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A handler that holds a gate sets a cap while another thread has the line: neither waits for the other."""
    session = bench.controller.session("burst")
    inference = session.inference()
    inference.__enter__()
    caps: list[Cap] = []
    call_at, line = bench.time.call_at, engine_of(bench.controller).line
    taken, give_back = threading.Event(), threading.Event()

    def step() -> None:
        taken.set()
        give_back.wait(WAIT_S)

    def handler(deadline_us: int, action: Callable[[], None]) -> object:
        monkeypatch.undo()
        holding.start()
        assert taken.wait(WAIT_S)
        caps.append(bench.controller.cap("balanced", reason="hot"))
        give_back.set()
        holding.join(WAIT_S)
        return call_at(deadline_us, action)

    holding = threading.Thread(target=line.run, args=(step, Urgency.RAISE))
    # This is called under the gate's lock, where a signal may arrive.
    monkeypatch.setattr(bench.time, "call_at", handler)
    inference.__exit__(None, None, None)
    bench.time.advance_us(1)
    assert [cap.active for cap in caps] == [True]
    assert session.profile.name == "balanced"

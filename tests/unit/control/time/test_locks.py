"""The rules of the locks are enforced: what each forbids is caught, and what is allowed is not."""

from __future__ import annotations

import itertools
import re
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pytest
from bench import Bench
from helpers import hvx
from ranked_locks import MOST_BREACHES, RankedLock, Ranks, ranked_locks

from htppower import VoteController, control
from htppower.backends import SimulatedHtp
from htppower.control.core.registry import Registry
from htppower.control.time import locks
from htppower.control.time.locks import Rank, is_held, make_lock
from htppower.control.time.scheduler import SystemTime
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from htppower.backends import Description
    from htppower.control.session import Session

ALLOWED = (Rank.REMAINS, Rank.TURN, Rank.PROCESS, Rank.CALL)


class OneCall(SimulatedHtp):
    """A backend that takes one call at a time."""

    def describe(self) -> Description:
        """Say so."""
        return attrs.evolve(super().describe(), one_call_at_a_time=True)


def breach_of(ranks: Ranks) -> str:
    """Return the one breach that was noted."""
    (breach,) = ranks.breaches
    return breach


@pytest.mark.parametrize(("first", "then"), list(itertools.product(Rank, Rank)))
def test_locks_are_taken_in_the_order_of_their_ranks(first: Rank, then: Rank) -> None:
    """Under a lock only one of a higher rank may be taken: neither a lower one nor another of the same."""
    ranks = Ranks()
    with ranks.make_lock(first), ranks.make_lock(then):
        pass
    if first < then:
        ranks.check()
    else:
        assert f"{then.name} is taken under {first.name}: " in breach_of(ranks)


def test_the_same_lock_may_be_taken_again() -> None:
    """A lock that the thread holds may be taken again, also under one of a higher rank, and is held until the last."""
    ranks = Ranks()
    turn, gate = ranks.make_lock(Rank.TURN), ranks.make_lock(Rank.GATE)
    with turn:
        with gate, turn:
            pass
        assert is_held(turn)
        assert not is_held(gate)
    assert not is_held(turn)
    ranks.check()


def test_every_lock_that_is_held_counts() -> None:
    """What was taken first forbids as much as what was taken last, whichever is given back first."""
    ranks = Ranks()
    turn, gate = ranks.make_lock(Rank.TURN), ranks.make_lock(Rank.GATE)
    turn.acquire()
    gate.acquire()
    turn.release()
    with ranks.make_lock(Rank.REGISTRY):
        assert "REGISTRY is taken under GATE: " in breach_of(ranks)
    gate.release()
    with ranks.make_lock(Rank.REGISTRY):
        pass
    assert len(ranks.breaches) == 1


def test_what_another_thread_holds_does_not_count() -> None:
    """Locks are ranked thread by thread, and exclude one another as the controller's do."""
    ranks = Ranks()
    turn, gate = ranks.make_lock(Rank.TURN), ranks.make_lock(Rank.GATE)
    seen = []

    def other() -> None:
        seen.append((is_held(gate), gate.acquire(blocking=False)))
        with turn:
            seen.append((is_held(turn), is_held(gate)))

    with gate:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert seen == [(False, False), (True, False)]
    ranks.check()


def test_a_lock_that_was_not_to_be_had_is_not_held() -> None:
    """A try that fails leaves nothing held; it is a breach all the same where the order forbids it."""
    ranks = Ranks()
    turn, gate = ranks.make_lock(Rank.TURN), ranks.make_lock(Rank.GATE)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with turn:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    assert not turn.acquire(timeout=0.001)
    with gate:
        assert not turn.acquire(blocking=False)
    done.set()
    thread.join()
    assert "TURN is taken under GATE: " in breach_of(ranks)
    assert not is_held(turn)


def test_threads_that_wait_for_each_other_do_not_hang_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two threads that take two locks in both orders, the one that breaks the order gives up after a time."""
    monkeypatch.setattr("ranked_locks.LONGEST_WAIT_S", 0.01)
    ranks = Ranks()
    turn, gate = ranks.make_lock(Rank.TURN), ranks.make_lock(Rank.GATE)
    held, done = threading.Event(), threading.Event()

    def take() -> None:
        with turn:
            held.set()
            with gate:
                done.set()

    thread = threading.Thread(target=take)
    with gate:
        thread.start()
        held.wait()
        with pytest.raises(RuntimeError, match="TURN is taken out of order"):
            turn.acquire()
    assert done.wait(30)
    thread.join()
    assert not is_held(turn)


def test_a_lock_that_is_held_in_the_end_fails_the_test() -> None:
    """Whatever a test does, its thread holds nothing afterwards; the next test begins anew."""
    ranks = Ranks()
    ranks.make_lock(Rank.GATE).acquire()
    with pytest.raises(AssertionError, match="GATE] is held still"):
        ranks.check()
    ranks.check()


def test_what_breaks_a_rule_again_and_again_is_noted_some_times() -> None:
    """A rule that is broken in each of thousands of calls does not slow the tests down, nor fill the page."""
    ranks = Ranks()
    turn = ranks.make_lock(Rank.TURN)
    with ranks.make_lock(Rank.GATE):
        for _ in range(1000):
            with turn:
                pass
    assert len(ranks.breaches) == MOST_BREACHES


def test_only_one_module_makes_native_calls() -> None:
    """The rule on native calls is checked there: whatever the backend, no call is made elsewhere."""
    verbs = re.compile(r"\.(create_power_config_id|set_power_config|destroy_power_config_id)\b")
    folder = Path(control.__path__[0])
    assert [path.name for path in folder.rglob("*.py") if verbs.search(path.read_text("utf-8"))] == ["native_calls.py"]


def test_the_locks_of_a_controller_are_ranked() -> None:
    """Each lock of a controller, its sessions, its time and its workers has its rank while the locks are watched."""
    with ranked_locks() as ranks:
        time = SystemTime()
        with VoteController(OneCall(arch=75), time=time, handle_sigterm=False) as controller:
            record = controller.session("burst")._record
            held = {
                Rank.REMAINS: controller._closer._remains._lock,
                Rank.TURN: record.turn,
                Rank.PROCESS: controller._settings.turn,
                Rank.CALL: controller._settings.shared.calls.lock,
                Rank.REGISTRY: controller._registry.lock,
                Rank.SETTINGS: controller._settings._lock,
                Rank.GATE: record.gate.lock,
                Rank.EVENTS: controller._events._lock,
                Rank.TIME: time._lock,
                Rank.WORKER: time._pool._changed._lock,  # type: ignore[attr-defined]  # typeshed does not know it
            }
        time.close()
    assert {rank: repr(lock) for rank, lock in held.items()} == {rank: rank.name for rank in Rank}
    assert all(isinstance(lock, RankedLock) for lock in held.values())
    assert ranks.held == []


@pytest.mark.parametrize("rank", Rank)
@pytest.mark.parametrize("verb", ["create", "set", "destroy"])
def test_a_native_call_under_a_lock_that_forbids_it_is_caught(bench: Bench, verb: str, rank: Rank) -> None:
    """Under turn, settings and the backend's own lock calls are made; under every other they fail the test."""
    calls, session = bench.controller._opener._executor._calls, bench.controller.session("burst")
    with ranked_locks() as ranks:
        with ranks.make_lock(rank):
            if verb == "create":
                bench.simulated.destroy_power_config_id(calls.create(None, 0, 0))
            elif verb == "set":
                calls.set(None, session.power_config_ids[0], VoteSet(hvx()))
            else:
                calls.destroy(None, bench.simulated.create_power_config_id(0, 0))
        if rank in ALLOWED:
            ranks.check()
        else:
            assert breach_of(ranks).startswith(f"{verb} is called under {rank.name}: ")
        ranks.breaches.clear()
    session.close()


def test_an_event_that_is_delivered_under_a_lock_is_caught(bench: Bench) -> None:
    """A subscriber may use the controller: it is told of nothing while its thread holds a lock."""
    with ranked_locks() as ranks:
        bench.controller.session("burst").close()
        ranks.check()
        with ranks.make_lock(Rank.TURN):
            bench.controller.session("burst").close()
        assert "an event is delivered under TURN" in {breach.split(":")[0] for breach in ranks.breaches}
        ranks.breaches.clear()


def careless(session: Session) -> None:
    """Take a session's turn under its gate."""
    with session._record.gate.lock, session._record.turn:
        pass


def test_a_breach_fails_the_test() -> None:
    """What was noted, also on another thread, fails the test when it is over, and says where."""
    watch = ranked_locks()
    watch.__enter__()
    bench = Bench.make()
    thread = threading.Thread(target=careless, args=(bench.controller.session("burst"),))
    thread.start()
    thread.join()
    bench.controller.close()
    with pytest.raises(AssertionError, match=r"^TURN is taken under GATE: .*test_locks\.py:\d+ careless$"):
        watch.__exit__(None, None, None)


def test_outside_a_watched_test_locks_are_the_interpreters() -> None:
    """Watching ends with the test: what is made later has locks without ranks."""
    with ranked_locks():
        assert isinstance(Registry().lock, RankedLock)
        inside = locks.make_lock
    assert locks.make_lock != inside
    # What was there before: the locks of this test, which are watched, too.
    assert isinstance(Registry().lock, RankedLock)
    assert isinstance(make_lock(Rank.TURN), type(threading.RLock()))
